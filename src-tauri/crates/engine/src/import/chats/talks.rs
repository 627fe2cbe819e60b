//! Imports chats of RisuAI and other apps, and text transcripts. These do not state their
//! character, so it comes from the caller, the file name or the speakers.

use domain::CharacterId;
use domain::card::Card;
use domain::chat_file::{
    ChatFile, ChatFileAuthor, Greeting, Losses, OtherChats, RisuChat, Transcript,
};
use domain::lorebook::{Binding, Book};
use serde_json::json;
use store::Character;

use crate::api::{ImportReport, Imported, Refused, SettingOwner, Skipped};
use crate::base::error::ApiResult;
use crate::import::chats::ChatImports;
use crate::import::chats::chat::EMPTY;
use crate::import::chats::losses::differences;
use crate::import::chats::new_chat::NewChat;
use crate::import::chats::titles::title;
use crate::library::characters::cards::card_of;

/// Names that people use for themselves in transcripts.
const OURSELVES: [&str; 3] = ["You", "User", "Me"];

impl ChatImports {
    pub(crate) async fn import_risuai_chats(
        &self,
        file: String,
        (chats, unread): (Vec<RisuChat>, usize),
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let Some(character) = self.with_or_named_by(with, &file).await? else {
            let reason = "RisuAI chats do not name their character: start the file name with the character's name, or \
                          import it from one of the character's chats";
            report.refused.push(Refused {
                file,
                kind: "noCharacter".into(),
                reason: reason.into(),
            });
            return Ok(());
        };
        let card = card_of(&character)?;
        let user = self.library().personas.persona_of(None).await?.name;
        let first = report.imported.len();
        let mut titles = Titles::default();
        for chat in chats {
            let title = titles.free(&chat.title, &file);
            self.import_risuai_chat(&file, (&character, &card, &user), title, chat, report)
                .await?;
        }
        if let Some(row) = report.imported.get_mut(first).filter(|_| unread > 0) {
            row.warnings.push(left_out(unread));
        }
        if titles.0.is_empty() {
            let reason = "the file contains no chat with messages".to_owned();
            report.refused.push(Refused {
                file,
                kind: "malformed".into(),
                reason,
            });
        }
        Ok(())
    }

    async fn import_risuai_chat(
        &self,
        file: &str,
        (character, card, user): (&Character, &Card, &str),
        title: String,
        chat: RisuChat,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if self.skips_chat(file, character.id, &title, report).await? {
            return Ok(());
        }
        let greeting = match chat.greeting {
            Greeting::First => card.first_mes(),
            Greeting::Alternate(at) => card
                .alternate_greetings()
                .get(at)
                .copied()
                .unwrap_or_default(),
        }
        .to_owned();
        let note = chat.note.trim().to_owned();
        let lore = chat.lore.clone();
        let chat = chat.into_chat(&greeting, card.display_name(), user);
        let mut warnings = differences(&chat, &Losses::default());
        let id = self
            .keep_chat(NewChat {
                title: title.clone(),
                ..NewChat::of(chat, character.id, None)
            })
            .await?;
        let owner = SettingOwner::Chat { id };
        if !note.is_empty()
            && let Err(error) = self
                .config()
                .setting_edits
                .set_setting_in_words(owner, "author_note".into(), note)
                .await
        {
            warnings.push(format!("the author's note is left out: {error}"));
        }
        report.imported.push(Imported {
            kind: "chat".into(),
            id: id.to_string(),
            name: title.clone(),
            file: file.to_owned(),
            warnings,
        });
        if !lore.is_empty()
            && let Ok((book, _)) =
                Book::from_value(json!({ "type": "risu", "ver": 1, "data": lore }))
        {
            let json = book.to_value().to_string();
            let row = self
                .library()
                .lorebooks
                .add_lorebook(title, json, None, vec![Binding::Chat(id)])
                .await?;
            let kind = "lorebook".to_owned();
            let id = row.id.to_string();
            report.imported.push(Imported {
                kind,
                id,
                name: row.name,
                file: file.to_owned(),
                warnings: Vec::new(),
            });
        }
        Ok(())
    }

    /// Imports chats of another app. The character's name comes from the chat or the file.
    pub(crate) async fn import_other_chats(
        &self,
        file: String,
        OtherChats { app, chats, unread }: OtherChats,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let named = chats
            .iter()
            .map(|(_, chat)| chat.character.clone())
            .find(|name| !name.is_empty());
        let of_name = match named {
            Some(name) if with.is_none() => self.with_or_speaking(None, &[name]).await?,
            _ => None,
        };
        let character = match of_name {
            Some(character) => Some(character),
            None => self.with_or_named_by(with, &file).await?,
        };
        let Some(character) = character else {
            let reason = format!(
                "this chat of {app} does not name its character: start the file name with the \
                 character's name, or import it from one of the character's chats"
            );
            report.refused.push(Refused {
                file,
                kind: "noCharacter".into(),
                reason,
            });
            return Ok(());
        };
        let mut titles = Titles::default();
        for (wanted, chat) in chats {
            let title = titles.free(&wanted, &file);
            if self.skips_chat(&file, character.id, &title, report).await? {
                continue;
            }
            let mut warnings = differences(&chat, &Losses::default());
            if unread > 0 && titles.0.len() == 1 {
                warnings.push(left_out(unread));
            }
            let persona = self.persona_named(&chat.user, &mut warnings).await?;
            let new = NewChat {
                title: title.clone(),
                ..NewChat::of(chat, character.id, persona)
            };
            let id = self.keep_chat(new).await?.to_string();
            report.imported.push(Imported {
                kind: "chat".into(),
                id,
                name: title,
                file: file.clone(),
                warnings,
            });
        }
        if titles.0.is_empty() {
            let reason = format!("this chat of {app} has no messages");
            report.refused.push(Refused {
                file,
                kind: EMPTY.into(),
                reason,
            });
        }
        Ok(())
    }

    /// Imports a text transcript. Speakers other than the character and the user become speakers of
    /// a scene.
    pub(crate) async fn import_transcript(
        &self,
        file: String,
        talk: Transcript,
        with: Option<CharacterId>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let speakers: Vec<String> = talk.speakers().into_iter().map(str::to_owned).collect();
        let Some(character) = self.with_or_speaking(with, &speakers).await? else {
            let reason = format!(
                "the speakers ({}) match no character of the library, or several; import it from one of the \
                 character's chats",
                speakers
                    .iter()
                    .take(5)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            report.refused.push(Refused {
                file,
                kind: "noCharacter".into(),
                reason,
            });
            return Ok(());
        };
        let card = card_of(&character)?;
        let title = title(&file);
        if self.skips_chat(&file, character.id, &title, report).await? {
            return Ok(());
        }
        let personas: Vec<_> = self
            .base()
            .store()
            .read(|store| store.personas().list())
            .await?;
        let own =
            |name: &&String| name.as_str() == card.name() || Some(name.as_str()) == card.nickname();
        let others: Vec<&String> = speakers.iter().filter(|name| !own(name)).collect();
        let persona = personas
            .iter()
            .find(|persona| others.iter().any(|name| **name == persona.name));
        let ourselves = others
            .iter()
            .find(|name| OURSELVES.contains(&name.as_str()));
        let user = persona
            .map(|persona| persona.name.clone())
            .or(ourselves.map(|name| (*name).clone()));
        // If there are two speakers, the one who is not the character is the user.
        let user = user.or_else(|| {
            others
                .first()
                .filter(|_| speakers.len() == 2)
                .map(|name| (*name).clone())
        });
        let persona = persona.map(|persona| persona.id);
        let mut warnings = vec!["the file contains no dates".to_owned()];
        if user.is_none() {
            warnings.push("no speaker is you: all of them are characters here".to_owned());
        }
        let mut chat: ChatFile =
            talk.into_chat(card.display_name(), user.as_deref().unwrap_or_default());
        chat.messages
            .iter_mut()
            .filter(|said| own(&&said.name))
            .for_each(|said| said.name.clear());
        if OURSELVES.contains(&chat.user.as_str()) {
            chat.messages
                .iter_mut()
                .filter(|said| said.by == ChatFileAuthor::User)
                .for_each(|said| said.name.clear());
            chat.user.clear();
        }
        let new = NewChat {
            title: title.clone(),
            ..NewChat::of(chat, character.id, persona)
        };
        let id = self.keep_chat(new).await?.to_string();
        report.imported.push(Imported {
            kind: "chat".into(),
            id,
            name: title,
            file,
            warnings,
        });
        Ok(())
    }

    /// Whether the character already has a chat with this title. If so, adds it to the report as
    /// skipped.
    pub(crate) async fn skips_chat(
        &self,
        file: &str,
        character: CharacterId,
        title: &str,
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        let known = self
            .base()
            .store()
            .read(|store| store.chats().list())
            .await?;
        let Some(known) = known
            .into_iter()
            .find(|known| known.character == character && known.title == title)
        else {
            return Ok(false);
        };
        let reason = format!("{} already has a chat of that name", known.character_name);
        report.skipped.push(Skipped {
            id: known.id.to_string(),
            file: file.to_owned(),
            reason,
        });
        Ok(true)
    }

    /// RisuAI starts such file names with the character's name. The longest match wins, unless
    /// several characters share it.
    async fn with_or_named_by(
        &self,
        with: Option<CharacterId>,
        file: &str,
    ) -> ApiResult<Option<Character>> {
        let begins = |name: &str| {
            let rest = file.strip_prefix(name);
            !name.is_empty() && rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        self.with_or(
            with,
            |one| if begins(&one.name) { one.name.len() } else { 0 },
        )
        .await
    }

    async fn with_or_speaking(
        &self,
        with: Option<CharacterId>,
        speakers: &[String],
    ) -> ApiResult<Option<Character>> {
        self.with_or(with, |one| usize::from(speakers.contains(&one.name)))
            .await
    }

    /// The character with the best match, unless several are equal.
    async fn with_or(
        &self,
        with: Option<CharacterId>,
        fit: impl Fn(&Character) -> usize,
    ) -> ApiResult<Option<Character>> {
        if let Some(id) = with {
            return self.library().characters.character(id).await.map(Some);
        }
        let listed = self
            .base()
            .store()
            .read(|store| store.characters().list())
            .await?;
        let mut fitting: Vec<(usize, Character)> = listed
            .into_iter()
            .map(|listed| (fit(&listed.character), listed.character))
            .filter(|(fit, _)| *fit > 0)
            .collect();
        fitting.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        let tied = matches!(&fitting[..], [(best, _), (next, _), ..] if best == next);
        Ok(fitting
            .into_iter()
            .next()
            .filter(|_| !tied)
            .map(|(_, one)| one))
    }
}

/// The warning about chats of a file without messages.
fn left_out(count: usize) -> String {
    match count {
        1 => "1 chat of the file contains no messages and is left out".to_owned(),
        _ => format!("{count} chats of the file contain no messages and are left out"),
    }
}

/// Titles already in use by chats of a file.
#[derive(Default)]
pub(crate) struct Titles(Vec<String>);

impl Titles {
    /// Returns the wanted title, or else the file's. Adds a number if another chat of the file uses
    /// it.
    pub(crate) fn free(&mut self, wanted: &str, file: &str) -> String {
        let wanted = if wanted.trim().is_empty() {
            title(file)
        } else {
            wanted.trim().to_owned()
        };
        let mut names = std::iter::once(wanted.clone())
            .chain((2..).map(|number: u32| format!("{wanted} {number}")));
        let free = names.find(|name| !self.0.contains(name)).unwrap_or(wanted);
        self.0.push(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_counts_chats_without_messages() {
        assert_eq!(
            left_out(1),
            "1 chat of the file contains no messages and is left out"
        );
        assert_eq!(
            left_out(2),
            "2 chats of the file contain no messages and are left out"
        );
    }
}
