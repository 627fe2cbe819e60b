//! The story tree: chats of one origin, joined where their messages are the same. A straight run of
//! messages is one edge; only forks, checkpoints and ends are nodes.

use std::collections::HashMap;

use domain::plain::plain_line;
use domain::{ChatId, MessageId};
use store::{ReadTransaction, StoreError, StoryKey, StoryStep};

use crate::api::{StoryEnd, StoryMessage, StoryNode, StoryTree};
use crate::base::error::{ApiResult, not_found};
use crate::library::chats::Chats;
use crate::library::chats::chat::said;

/// Maximum length of the text of a node, in characters.
const EXCERPT: usize = 240;

/// A chat with its messages, for the tree.
struct StoryPath {
    chat: ChatId,
    steps: Vec<StoryStep>,
    checkpoints: HashMap<MessageId, String>,
}

/// A message that one or more chats have.
struct TrieNode {
    parent: usize,
    children: Vec<usize>,
    chat: ChatId,
    message: Option<MessageId>,
    number: u32,
    checkpoints: Vec<String>,
    ends: Vec<ChatId>,
    is_current: bool,
}

impl TrieNode {
    fn new(parent: usize, chat: ChatId, message: Option<MessageId>, number: u32) -> Self {
        let children = Vec::new();
        let checkpoints = Vec::new();
        let ends = Vec::new();
        Self {
            parent,
            children,
            chat,
            message,
            number,
            checkpoints,
            ends,
            is_current: false,
        }
    }

    /// Nodes of straight runs are not shown.
    fn is_shown(&self) -> bool {
        self.parent == 0
            || self.children.len() != 1
            || !self.checkpoints.is_empty()
            || !self.ends.is_empty()
    }
}

/// All chats of a story, message by message. The node 0 comes before every message.
struct Trie {
    nodes: Vec<TrieNode>,
}

impl Trie {
    /// The paths in order; the first one is the asked chat. Takes time in proportion to the number
    /// of messages.
    fn of(paths: &[StoryPath]) -> Self {
        let asked = paths
            .first()
            .map_or(ChatId(uuid::Uuid::nil()), |path| path.chat);
        let mut trie = Self {
            nodes: vec![TrieNode::new(0, asked, None, 0)],
        };
        let mut known: HashMap<(usize, &StoryKey), usize> = HashMap::new();
        for (index, path) in paths.iter().enumerate() {
            let mut at = 0;
            for step in &path.steps {
                let next = *known
                    .entry((at, &step.key))
                    .or_insert_with(|| trie.add(at, path.chat, step.message));
                at = next;
                let node = &mut trie.nodes[at];
                node.is_current |= index == 0;
                if let Some(name) = path.checkpoints.get(&step.message)
                    && !node.checkpoints.contains(name)
                {
                    node.checkpoints.push(name.clone());
                }
            }
            if at != 0 {
                trie.nodes[at].ends.push(path.chat);
            }
        }
        trie
    }

    fn add(&mut self, parent: usize, chat: ChatId, message: MessageId) -> usize {
        let new = self.nodes.len();
        let number = self.nodes[parent].number + 1;
        self.nodes
            .push(TrieNode::new(parent, chat, Some(message), number));
        self.nodes[parent].children.push(new);
        new
    }

    /// The shown nodes in depth-first order, each with the place of its parent in the result. Chats
    /// that differ from their first message on get a common start.
    fn shown(&self) -> Vec<(&TrieNode, Option<u32>)> {
        let mut shown = Vec::new();
        let common = self.nodes[0].children.len() > 1;
        if common {
            shown.push((&self.nodes[0], None));
        }
        let mut waiting: Vec<(usize, Option<u32>)> = Vec::new();
        let start = common.then_some(0);
        waiting.extend(
            self.nodes[0]
                .children
                .iter()
                .rev()
                .map(|child| (*child, start)),
        );
        while let Some((mut at, parent)) = waiting.pop() {
            while !self.nodes[at].is_shown() {
                at = self.nodes[at].children[0];
            }
            let place = shown.len() as u32;
            shown.push((&self.nodes[at], parent));
            waiting.extend(
                self.nodes[at]
                    .children
                    .iter()
                    .rev()
                    .map(|child| (*child, Some(place))),
            );
        }
        shown
    }
}

impl Chats {
    /// The chats of one origin as a tree.
    pub(crate) async fn story_tree(&self, chat: ChatId) -> ApiResult<StoryTree> {
        let chat = self.chat_lookup.chat(chat).await?.id;
        Ok(self
            .base()
            .store()
            .read(move |store| read_tree(store, chat))
            .await?)
    }

    /// The messages of a chat from its first one through the message `through`, without hidden
    /// ones.
    pub(crate) async fn read_path(
        &self,
        chat: ChatId,
        through: MessageId,
    ) -> ApiResult<Vec<StoryMessage>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let last = self.chat_lookup.message(through).await?;
        if last.chat != chat.id {
            return Err(not_found("message"));
        }
        let id = chat.id;
        let before = last.position.saturating_add(1);
        let messages = self
            .base()
            .store()
            .read(move |store| store.messages().page(id, Some(before), u32::MAX))
            .await?;
        let speakers = self.groups.speakers(&chat).await?;
        let shown = messages
            .into_iter()
            .filter(|message| !message.hidden)
            .map(|message| StoryMessage {
                message: message.id,
                role: message.role,
                name: speakers.of(message.id, message.role).to_owned(),
                text: said(message.role, message.text().to_owned()),
            });
        Ok(shown.collect())
    }
}

fn read_tree(store: &ReadTransaction<'_>, asked: ChatId) -> Result<StoryTree, StoreError> {
    let others = store
        .branch_links()
        .story(asked)?
        .into_iter()
        .filter(|chat| *chat != asked);
    let mut paths = Vec::new();
    for chat in std::iter::once(asked).chain(others) {
        let marks = store
            .checkpoints()
            .of(chat)?
            .into_iter()
            .map(|mark| (mark.message, mark.name));
        paths.push(StoryPath {
            chat,
            steps: store.branch_links().steps(chat)?,
            checkpoints: marks.collect(),
        });
    }
    let trie = Trie::of(&paths);
    let nodes = trie
        .shown()
        .into_iter()
        .map(|(node, parent)| story_node(store, node, parent));
    Ok(StoryTree {
        nodes: nodes.collect::<Result<_, _>>()?,
        chats: paths.len() as u32,
    })
}

fn story_node(
    store: &ReadTransaction<'_>,
    node: &TrieNode,
    parent: Option<u32>,
) -> Result<StoryNode, StoreError> {
    let message = node
        .message
        .map(|id| store.messages().get(id))
        .transpose()?
        .flatten();
    let title = |chat: &ChatId| -> Result<StoryEnd, StoreError> {
        let title = store
            .chats()
            .get(*chat)?
            .map(|chat| chat.title)
            .unwrap_or_default();
        Ok(StoryEnd { chat: *chat, title })
    };
    let words = message
        .as_ref()
        .map(|message| said(message.role, message.text().to_owned()))
        .unwrap_or_default();
    Ok(StoryNode {
        parent,
        chat: node.chat,
        message: node.message.map(|id| id.to_string()).unwrap_or_default(),
        number: node.number,
        text: plain_line(&words, EXCERPT),
        role: message.map_or(domain::chat::Role::Narrator, |message| message.role),
        checkpoints: node.checkpoints.clone(),
        ends: node.ends.iter().map(title).collect::<Result<_, _>>()?,
        is_current: node.is_current || node.message.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// A chat whose messages have these keys.
    fn path(chat: u128, keys: &[i64]) -> StoryPath {
        let step = |key: &i64| StoryStep {
            message: MessageId(Uuid::from_u128(chat * 1_000 + key.unsigned_abs() as u128)),
            key: StoryKey::new("user", 0, *key),
        };
        StoryPath {
            chat: ChatId(Uuid::from_u128(chat)),
            steps: keys.iter().map(step).collect(),
            checkpoints: HashMap::new(),
        }
    }

    fn shape(trie: &Trie) -> Vec<(u32, Option<u32>)> {
        trie.shown()
            .into_iter()
            .map(|(node, parent)| (node.number, parent))
            .collect()
    }

    #[test]
    fn only_forks_checkpoints_and_ends_are_nodes() {
        let mut paths = [
            path(1, &[1, 2, 3, 4, 5, 6]),
            path(2, &[1, 2, 3, 7, 8]),
            path(3, &[1, 2]),
        ];
        assert_eq!(shape(&Trie::of(&paths[..1])), [(1, None), (6, Some(0))]);
        let all = [
            (1, None),
            (2, Some(0)),
            (3, Some(1)),
            (6, Some(2)),
            (5, Some(2)),
        ];
        assert_eq!(shape(&Trie::of(&paths)), all);
        paths[0]
            .checkpoints
            .insert(paths[0].steps[4].message, "Door".into());
        let trie = Trie::of(&paths);
        let marked = trie
            .shown()
            .into_iter()
            .find(|(node, _)| !node.checkpoints.is_empty());
        assert_eq!(
            marked.map(|(node, parent)| (node.number, parent)),
            Some((5, Some(2)))
        );
    }

    #[test]
    fn current_path_is_that_of_the_asked_chat() {
        let trie = Trie::of(&[path(1, &[1, 2, 3]), path(2, &[1, 2, 4])]);
        let current: Vec<bool> = trie
            .shown()
            .iter()
            .map(|(node, _)| node.is_current)
            .collect();
        assert_eq!(current, [true, true, true, false]);
    }

    #[test]
    fn different_beginnings_get_a_common_start() {
        let trie = Trie::of(&[path(1, &[1, 2]), path(2, &[3])]);
        assert_eq!(
            shape(&trie),
            [(0, None), (1, Some(0)), (2, Some(1)), (1, Some(0))]
        );
    }

    #[test]
    fn empty_chat_has_no_nodes() {
        assert_eq!(shape(&Trie::of(&[path(1, &[])])), []);
    }
}
