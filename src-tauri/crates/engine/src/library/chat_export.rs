//! Exports chats as SillyTavern JSONL, plain text or Markdown.

use domain::chat::{Chat, Message, Role, Swipe};
use domain::chat_file::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};
use domain::document::DocumentOwner;
use serde_json::Map;

use crate::api::ChatFileFormat;
use crate::base::clock::rfc3339;
use crate::base::convert::{Speakers, is_reply};
use crate::base::error::ApiResult;
use crate::library::characters::{Exported, file_name};
use crate::library::chat_macros::StoredMacroState;
use crate::library::foreign_chat::KeptChat;
use crate::library::handle::Library;

impl Library {
    /// Exports a chat for other apps or for reading. Pictures, documents, tool calls and hidden reply parts other
    /// than thoughts are left out, with a warning.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn export_chat(&self, id: String, format: ChatFileFormat) -> ApiResult<Exported> {
        let chat = self.chat(id.parse()?).await?;
        let speakers = self.speakers(&chat).await?;
        let of = chat.id;
        let read = self.base().store().read(move |store| {
            let documents = store.documents().of(DocumentOwner::Chat(of))?.len();
            Ok((store.messages().page(of, None, u32::MAX)?, documents, KeptChat::read(store, of)?))
        });
        let (messages, documents, kept) = read.await?;
        let mut left_out = 0;
        let mut file = ChatFile {
            user: speakers.persona.clone(),
            character: speakers.character.clone(),
            created: rfc3339(chat.created),
            header: Map::new(),
            messages: messages.iter().map(|message| said(message, &speakers, &mut left_out)).collect(),
        };
        for (message, said) in messages.iter().zip(&mut file.messages) {
            kept.complete_message(message.id, said);
            for (swipe, version) in message.swipes.iter().zip(&mut said.versions) {
                kept.complete_version(swipe.id, version, message.undated, self);
            }
        }
        self.name_speakers(&chat, &messages, &mut file).await?;
        kept.complete_chat(&mut file, &StoredMacroState::of(&chat).variables, self);
        let read_by_people = format != ChatFileFormat::Jsonl;
        let hidden = file.messages.iter().filter(|said| read_by_people && said.hidden).count();
        let (text, ending, mime) = match format {
            ChatFileFormat::Jsonl => (file.to_jsonl(), "jsonl", "application/jsonl"),
            ChatFileFormat::Text => (file.to_text(), "txt", "text/plain"),
            ChatFileFormat::Markdown => (file.to_markdown(&chat.title), "md", "text/markdown"),
            ChatFileFormat::Group => return self.export_group(&chat).await,
        };
        let told = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what} not in the file"));
        let pictures = messages.iter().map(|message| message.pictures.len()).sum();
        let warnings = [
            told(left_out, "replies have hidden figures, summaries or tool calls, which are"),
            told(pictures, "pictures are"),
            told(hidden, "hidden messages are"),
            told(documents, if documents == 1 { "document is" } else { "documents are" }),
        ];
        let warnings = warnings.into_iter().flatten().collect();
        Ok(Exported { file_name: file_name(&chat.title, ending), mime, bytes: text.into_bytes(), warnings })
    }
}

impl Library {
    /// In a group, names the card files of the speakers, by which SillyTavern tells them apart.
    async fn name_speakers(&self, chat: &Chat, messages: &[Message], file: &mut ChatFile) -> ApiResult<()> {
        let scene = self.group(chat).await?;
        if !scene.is_scene() {
            return Ok(());
        }
        let files = self.member_files(&scene).await?;
        for (message, said) in messages.iter().zip(&mut file.messages) {
            let speaker = scene.who_said(message.id, message.role);
            if message.role == Role::Character
                && said.avatar.is_empty()
                && let Some(member) = scene.member(&speaker)
                && let Some((_, file)) = files.iter().find(|(id, _)| *id == member.id)
            {
                said.avatar = file.clone();
            }
        }
        Ok(())
    }
}

fn said(message: &Message, speakers: &Speakers, left_out: &mut usize) -> ChatFileMessage {
    ChatFileMessage {
        name: speakers.of(message.id, message.role).to_owned(),
        by: match message.role {
            Role::User => ChatFileAuthor::User,
            Role::Character => ChatFileAuthor::Character,
            Role::Narrator | Role::Tool | Role::Event => ChatFileAuthor::Narrator,
        },
        hidden: message.hidden,
        note: matches!(message.role, Role::Tool | Role::Event),
        versions: message.swipes.iter().map(|swipe| version(message.role, swipe, left_out)).collect(),
        selected: message.selected as usize,
        ..ChatFileMessage::default()
    }
}

/// Only replies of a model are split into shown text and thoughts.
fn version(role: Role, swipe: &Swipe, left_out: &mut usize) -> MessageVersion {
    let display = context::display::display(&swipe.text).filter(|_| is_reply(role));
    let hidden = display.as_ref().is_some_and(|display| display.has_metrics || display.has_keyframe);
    *left_out += usize::from(hidden || !swipe.tool_calls.is_empty());
    let (text, thoughts) = match display {
        Some(display) => (display.shown, display.thoughts),
        None => (swipe.text.clone(), String::new()),
    };
    MessageVersion {
        text,
        thoughts,
        date: rfc3339(swipe.created),
        model: swipe.model.clone().unwrap_or_default(),
        unused_fields: Map::new(),
    }
}
