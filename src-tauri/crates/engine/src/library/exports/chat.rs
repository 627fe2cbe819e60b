//! Exports chats as SillyTavern JSONL, and as documents for people.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::ChatId;
use domain::chat::{Chat, Message, MessageSource, Role, Swipe};
use domain::chat_file::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};
use domain::document::DocumentOwner;
use domain::readable_chat::{EmbeddedPicture, ReadableChat};
use serde_json::Map;

use crate::api::{ChatFileFormat, ReadableFormat, ReadableOptions, RenderedChat};
use crate::base::clock::rfc3339;
use crate::base::error::ApiResult;
use crate::base::records::convert::{Speakers, is_reply};
use crate::library::characters::cards::{Exported, file_name};
use crate::library::chats::bookmarks::Bookmarks;
use crate::library::chats::exported_rounds;
use crate::library::chats::foreign_chat::KeptChat;
use crate::library::exports::Exports;
use crate::library::snapshots::chat_macros::StoredMacroState;

/// Field of a message's line in a chat file: how the message reached the chat, unless it was typed.
const SOURCE: &str = "inglenook_source";

/// Maximum size of the pictures in a document, in bytes.
const MAX_PICTURES: usize = 64 << 20;

/// A chat as a file, with what the file lacks.
struct ExportedChat {
    file: ChatFile,
    messages: Vec<Message>,
    /// Number of replies with parts that no format keeps.
    left_out: usize,
    /// Number of attached documents.
    documents: usize,
}

impl Exports {
    pub(crate) async fn export_chat(
        &self,
        id: ChatId,
        format: ChatFileFormat,
    ) -> ApiResult<Exported> {
        self.export_chat_with(id, format, ReadableOptions::default())
            .await
    }

    /// Exports a chat for other apps or for reading; `options` applies to documents for people.
    /// Documents, tool calls and hidden reply parts other than thoughts are left out, with a
    /// warning, and so are pictures except in HTML.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn export_chat_with(
        &self,
        id: ChatId,
        format: ChatFileFormat,
        options: ReadableOptions,
    ) -> ApiResult<Exported> {
        let chat = self.chat_lookup.chat(id).await?;
        if format == ChatFileFormat::Group {
            return self.export_group(&chat).await;
        }
        let named = |ending| file_name(&chat.title, ending);
        let Some(readable) = format.readable() else {
            let found = self.exported_chat(&chat).await?;
            let bytes = found.file.to_jsonl().into_bytes();
            let warnings = found.warnings(found.pictures(), 0);
            return Ok(Exported {
                file_name: named("jsonl"),
                mime: "application/jsonl",
                bytes,
                warnings,
            });
        };
        let (ending, mime) = match readable {
            ReadableFormat::Html => ("html", "text/html"),
            ReadableFormat::Markdown => ("md", "text/markdown"),
            ReadableFormat::Text => ("txt", "text/plain"),
        };
        let RenderedChat { text, warnings, .. } =
            self.render_chat(id, readable, options, None).await?;
        Ok(Exported {
            file_name: named(ending),
            mime,
            bytes: text.into_bytes(),
            warnings,
        })
    }

    /// A chat as a document for people. With `last`, only so many messages from its end.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn render_chat(
        &self,
        chat: ChatId,
        format: ReadableFormat,
        options: ReadableOptions,
        last: Option<u32>,
    ) -> ApiResult<RenderedChat> {
        let chat = self.chat_lookup.chat(chat).await?;
        let mut found = self.exported_chat(&chat).await?;
        let title = if chat.title.trim().is_empty() {
            &found.file.character
        } else {
            &chat.title
        };
        let mut document = ReadableChat::of(&found.file, title);
        let hidden = document
            .messages
            .iter()
            .filter(|said| said.hidden && !options.hidden)
            .count();
        if let Some(last) = last {
            let first = document.messages.len().saturating_sub(last as usize);
            document.messages.drain(..first);
            found.messages.drain(..first);
        }
        for (message, said) in found
            .messages
            .iter()
            .zip(&mut document.messages)
            .filter(|(message, _)| !message.undated)
        {
            said.time = self.base().clock().minute(message.created) + source_note(message.source);
        }
        let missing = found.pictures();
        let (text, missing) = match format {
            ReadableFormat::Html => {
                let missing = self
                    .embed_pictures(&found.messages, &mut document, options)
                    .await;
                (document.to_html(options), missing)
            }
            ReadableFormat::Markdown => (document.to_markdown(options), missing),
            ReadableFormat::Text => (document.to_text(options), missing),
        };
        let messages = document.shown(options).count() as u32;
        Ok(RenderedChat {
            text,
            messages,
            warnings: found.warnings(missing, hidden),
        })
    }

    async fn exported_chat(&self, chat: &Chat) -> ApiResult<ExportedChat> {
        let speakers = self.groups.speakers(chat).await?;
        let of = chat.id;
        let read = self.base().store().read(move |store| {
            let documents = store.documents().of(DocumentOwner::Chat(of))?.len();
            let links = Bookmarks::read(store, of)?;
            Ok((
                store.messages().page(of, None, u32::MAX)?,
                documents,
                KeptChat::read(store, of)?,
                links,
            ))
        });
        let (messages, documents, kept, links) = read.await?;
        let mut left_out = 0;
        let mut file = ChatFile {
            user: speakers.persona.clone(),
            character: speakers.character.clone(),
            created: rfc3339(chat.created),
            header: Map::new(),
            messages: messages
                .iter()
                .map(|message| said(message, &speakers, &mut left_out))
                .collect(),
        };
        for (message, said) in messages.iter().zip(&mut file.messages) {
            kept.complete_message(message.id, said);
            for (swipe, version) in message.swipes.iter().zip(&mut said.versions) {
                kept.complete_version(swipe.id, version, message.undated, self.base().clock());
                exported_rounds::write(&swipe.tool_rounds, version);
            }
            links.complete_message(message.id, said);
            if message.source != MessageSource::Typed {
                said.unused_fields
                    .insert(SOURCE.to_owned(), message.source.as_str().into());
            }
        }
        self.name_speakers(chat, &messages, &mut file).await?;
        kept.complete_chat(
            &mut file,
            &StoredMacroState::of(chat).variables,
            self.base().clock(),
        );
        links.complete_chat(&mut file);
        Ok(ExportedChat {
            file,
            messages,
            left_out,
            documents,
        })
    }

    /// Puts the pictures of the shown messages into the document, and returns the number of those
    /// that are missing or exceed the limit.
    async fn embed_pictures(
        &self,
        messages: &[Message],
        document: &mut ReadableChat,
        options: ReadableOptions,
    ) -> usize {
        let mut missing = 0;
        let mut room = MAX_PICTURES;
        let shown = messages
            .iter()
            .zip(&mut document.messages)
            .filter(|(_, said)| options.hidden || !said.hidden);
        for (message, said) in shown {
            for picture in &message.pictures {
                let asset = self.assets.asset(picture.hash.clone()).await.ok();
                let fits = asset
                    .filter(|asset| asset.mime.starts_with("image/") && asset.bytes.len() <= room);
                let Some(asset) = fits else {
                    missing += 1;
                    continue;
                };
                room -= asset.bytes.len();
                let base64 = BASE64_STANDARD.encode(asset.bytes);
                said.pictures.push(EmbeddedPicture {
                    name: picture.name.clone(),
                    mime: asset.mime,
                    base64,
                });
            }
        }
        missing
    }
}

impl ExportedChat {
    fn pictures(&self) -> usize {
        self.messages
            .iter()
            .map(|message| message.pictures.len())
            .sum()
    }

    fn warnings(&self, pictures: usize, hidden: usize) -> Vec<String> {
        let told = |count: usize, what: &str| {
            (count > 0).then(|| format!("{count} {what} not in the file"))
        };
        let warnings = [
            told(
                self.left_out,
                "replies have hidden figures, summaries or tool calls, which are",
            ),
            told(
                pictures,
                if pictures == 1 {
                    "picture is"
                } else {
                    "pictures are"
                },
            ),
            told(
                hidden,
                if hidden == 1 {
                    "hidden message is"
                } else {
                    "hidden messages are"
                },
            ),
            told(
                self.documents,
                if self.documents == 1 {
                    "document is"
                } else {
                    "documents are"
                },
            ),
        ];
        warnings.into_iter().flatten().collect()
    }
}

impl Exports {
    /// In a group, names the card files of the speakers, by which SillyTavern tells them apart.
    async fn name_speakers(
        &self,
        chat: &Chat,
        messages: &[Message],
        file: &mut ChatFile,
    ) -> ApiResult<()> {
        let scene = self.groups.group(chat).await?;
        if !scene.is_scene() {
            return Ok(());
        }
        let files = self.groups.member_files(&scene).await?;
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

/// The source of a message in a document for people, after its time.
fn source_note(source: MessageSource) -> &'static str {
    match source {
        MessageSource::Typed => "",
        MessageSource::Voice => ", spoken",
        MessageSource::Api => ", from another program",
        MessageSource::Tool => ", from a tool",
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
        note: message.role == Role::Tool,
        event: message.role == Role::Event,
        versions: message
            .swipes
            .iter()
            .map(|swipe| version(message.role, swipe, left_out))
            .collect(),
        selected: message.selected as usize,
        ..ChatFileMessage::default()
    }
}

/// Only replies of a model are split into shown text and thoughts.
fn version(role: Role, swipe: &Swipe, left_out: &mut usize) -> MessageVersion {
    let display = context::display::display(&swipe.text).filter(|_| is_reply(role));
    let hidden = display
        .as_ref()
        .is_some_and(|display| display.has_metrics || display.has_keyframe);
    *left_out += usize::from(hidden || !swipe.tool_calls.is_empty());
    let (text, thoughts) = match display {
        Some(display) => (display.text, display.thoughts),
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
