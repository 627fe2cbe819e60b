//! A conversation as a tree: its shown path becomes a chat, replies that were written again become
//! versions, and every other path becomes a branch.

use std::collections::{HashMap, HashSet};

use super::versions::MAX_VERSIONS;
use crate::chat_file::model::{ChatFile, ChatFileAuthor, ChatFileMessage};

/// Maximum number of branches per conversation. A file can have one for each message.
const MAX_BRANCHES: usize = 100;

/// A message with the one that it follows.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// `None` for messages that are no part of the conversation.
    pub(super) message: Option<ChatFileMessage>,
}

/// A conversation with an assistant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Talk {
    pub title: String,
    pub main: ChatFile,
    pub branches: Vec<TalkBranch>,
    /// Number of branches above the limit, which are not read.
    pub unread_branches: usize,
}

/// Another path of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct TalkBranch {
    pub chat: ChatFile,
    /// Number of messages that it has in common with the main path.
    pub common: usize,
}

/// Reads a tree. `current` is the end of the shown path, or else the newest one is.
pub(super) fn talk(
    title: String,
    created: String,
    nodes: Vec<Node>,
    current: Option<&str>,
) -> Option<Talk> {
    let tree = Tree::of(&nodes);
    let leaves: Vec<usize> = (0..nodes.len())
        .filter(|at| tree.children[*at].is_empty())
        .collect();
    let end = current
        .and_then(|id| tree.places.get(id).copied())
        .map(|at| tree.last_below(at));
    let end = end.or_else(|| leaves.last().copied())?;
    let shown = tree.path(end);
    let mut done: HashSet<usize> = HashSet::from([end]);
    let main = tree.messages(&shown, &mut done);
    if main.is_empty() {
        return None;
    }
    let mut branches: Vec<TalkBranch> = Vec::new();
    let mut unread_branches = 0;
    for leaf in leaves {
        if done.contains(&leaf) {
            continue;
        }
        if branches.len() >= MAX_BRANCHES {
            unread_branches += 1;
            continue;
        }
        let path = tree.path(leaf);
        let messages = tree.messages(&path, &mut done);
        let common = common_messages(&nodes, &path, &shown);
        if messages.len() > common {
            branches.push(TalkBranch {
                chat: chat(&created, messages),
                common,
            });
        }
    }
    Some(Talk {
        title,
        main: chat(&created, main),
        branches,
        unread_branches,
    })
}

/// The number of messages that a branch shares with the main path.
fn common_messages(nodes: &[Node], path: &[usize], main: &[usize]) -> usize {
    let shared = path
        .iter()
        .zip(main)
        .take_while(|(own, main)| own == main)
        .map(|(at, _)| at);
    merged(shared.filter_map(|at| nodes[*at].message.clone())).len()
}

fn chat(created: &str, messages: Vec<ChatFileMessage>) -> ChatFile {
    ChatFile {
        created: created.to_owned(),
        messages,
        ..ChatFile::default()
    }
}

struct Tree<'n> {
    nodes: &'n [Node],
    places: HashMap<&'n str, usize>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

impl<'n> Tree<'n> {
    fn of(nodes: &'n [Node]) -> Self {
        let places: HashMap<&str, usize> = nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.id.as_str(), at))
            .collect();
        let parents: Vec<Option<usize>> = nodes
            .iter()
            .map(|node| places.get(node.parent.as_deref()?).copied())
            .collect();
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|parent| *parent != at) {
                children[parent].push(at);
            }
        }
        Self {
            nodes,
            places,
            parents,
            children,
        }
    }

    /// The nodes from the first to `leaf`. A damaged file can have a ring.
    fn path(&self, leaf: usize) -> Vec<usize> {
        let mut path = vec![leaf];
        let mut seen = HashSet::from([leaf]);
        while let Some(parent) = path.last().and_then(|at| self.parents[*at]) {
            if !seen.insert(parent) {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The newest leaf below a node.
    fn last_below(&self, mut at: usize) -> usize {
        let mut seen = HashSet::from([at]);
        while let Some(child) = self.children[at]
            .last()
            .copied()
            .filter(|child| seen.insert(*child))
        {
            at = child;
        }
        at
    }

    /// The messages of a path. Replies beside one of the path that have no continuation become its
    /// versions, and are then done.
    fn messages(&self, path: &[usize], done: &mut HashSet<usize>) -> Vec<ChatFileMessage> {
        let mut all = Vec::new();
        for at in path {
            let Some(message) = &self.nodes[*at].message else {
                continue;
            };
            all.push(self.with_versions(*at, message, done));
        }
        merged(all.into_iter())
    }

    fn with_versions(
        &self,
        at: usize,
        message: &ChatFileMessage,
        done: &mut HashSet<usize>,
    ) -> ChatFileMessage {
        let mut message = message.clone();
        let Some(parent) = self.parents[at].filter(|_| message.by == ChatFileAuthor::Character)
        else {
            return message;
        };
        let is_version =
            |one: &usize| *one == at || (self.children[*one].is_empty() && !done.contains(one));
        let others: Vec<usize> = self.children[parent]
            .iter()
            .copied()
            .filter(is_version)
            .collect();
        let shown = message.versions.clone();
        let mut versions = Vec::new();
        for one in others {
            // The others above the limit become branches.
            if one != at && versions.len() + 1 >= MAX_VERSIONS {
                continue;
            }
            if one == at {
                message.selected = versions.len();
                versions.extend(shown.iter().take(1).cloned());
            } else if let Some(other) = self.nodes[one]
                .message
                .as_ref()
                .filter(|other| other.by == message.by && other.pictures.is_empty())
            {
                versions.extend(other.versions.iter().take(1).cloned());
                done.insert(one);
            }
        }
        if versions.len() > 1 {
            message.versions = versions;
        } else {
            message.selected = 0;
        }
        done.insert(at);
        message
    }
}

/// Joins replies in a row, which the assistant wrote before and after it used a tool.
fn merged(messages: impl Iterator<Item = ChatFileMessage>) -> Vec<ChatFileMessage> {
    let mut all: Vec<ChatFileMessage> = Vec::new();
    for mut message in messages {
        let joins = |last: &&mut ChatFileMessage| {
            last.by == ChatFileAuthor::Character
                && message.by == last.by
                && last.versions.len() == 1
        };
        match all.last_mut().filter(joins) {
            Some(last) if message.versions.len() == 1 => {
                let own = &mut last.versions[0];
                let more = message.versions.remove(0);
                append(&mut own.text, &more.text);
                append(&mut own.thoughts, &more.thoughts);
                if own.model.is_empty() {
                    own.model = more.model;
                }
                last.pictures.append(&mut message.pictures);
            }
            _ => all.push(message),
        }
    }
    all
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
