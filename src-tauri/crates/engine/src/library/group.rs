//! Group scenes: several characters and a narrator in one chat. One of them speaks at a time.
//!
//! The head contains all members, so that it does not change with the speaker; the context block names the speaker.
//! All names are stop strings, including the persona's, so that no reply speaks for somebody else.

use std::collections::HashMap;
use std::sync::Arc;

use context::frame::{HistoryMessage, RewrittenText};
use context::prompt_template::Given;
use domain::card::Card;
use domain::chat::{Chat, Message, Role, Speaker, SwipeState};
use domain::{CharacterId, ChatId, MessageId, SwipeId};
use store::{NewMessage, NewSwipe, WindowMessage};
use uuid::Uuid;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input};
use crate::library::handle::Library;

/// The default template of a group scene.
pub(crate) const TEMPLATE: &str = "group-scene";

/// Name of the narrator, who is not a character.
const NARRATOR: &str = "Narrator";

/// Maximum number of characters besides the chat's own.
pub(crate) const MAX_MEMBERS: usize = 20;

/// Number of messages in which the last speaker is searched.
pub(crate) const LOOK_BACK: u32 = 20;

/// The members of a chat, and the speakers of its messages.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// The chat's own character is first. Empty unless the chat is a group scene.
    members: Vec<Member>,
    speakers: HashMap<MessageId, Speaker>,
}

#[derive(Debug, Clone)]
struct Member {
    id: CharacterId,
    card: Arc<Card>,
}

/// The speaker of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextSpeaker {
    pub(crate) role: Role,
    /// `None` for the chat's own character.
    pub(crate) speaker: Option<Speaker>,
}

impl NextSpeaker {
    const OWN: Self = Self { role: Role::Character, speaker: None };

    /// The speaker's name. `own` is the name of the chat's own character.
    pub(crate) fn name<'n>(&'n self, own: &'n str) -> &'n str {
        self.speaker.as_ref().map_or(own, |speaker| &speaker.name)
    }

    fn narrator() -> Self {
        Self { role: Role::Narrator, speaker: Some(Speaker { character: None, name: NARRATOR.to_owned() }) }
    }
}

/// The parts of a message that decide who is next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpokenLine<'m> {
    pub(crate) id: MessageId,
    pub(crate) role: Role,
    pub(crate) text: &'m str,
}

impl<'m> From<&'m Message> for SpokenLine<'m> {
    fn from(message: &'m Message) -> Self {
        Self { id: message.id, role: message.role, text: message.text() }
    }
}

impl<'m> From<&'m WindowMessage> for SpokenLine<'m> {
    fn from(message: &'m WindowMessage) -> Self {
        Self { id: message.id, role: message.role, text: &message.text }
    }
}

impl Scene {
    /// Whether the chat has members besides its own character.
    pub(crate) fn is_scene(&self) -> bool {
        !self.members.is_empty()
    }

    pub(crate) fn speakers(&self) -> &HashMap<MessageId, Speaker> {
        &self.speakers
    }

    /// The next speaker after `lines`, newest first. The order of precedence: the speaker that an
    /// event calls upon, the speaker of a continued reply, the member that the user names, the
    /// member after the last speaker.
    pub(crate) fn next<'m>(&self, lines: impl IntoIterator<Item = SpokenLine<'m>>) -> NextSpeaker {
        if !self.is_scene() {
            return NextSpeaker::OWN;
        }
        let mut lines = lines.into_iter().take(LOOK_BACK as usize);
        let Some(newest) = lines.next() else { return NextSpeaker::OWN };
        match newest.role {
            Role::Character | Role::Narrator => return self.who_said(newest.id, newest.role),
            Role::Event if self.speakers.contains_key(&newest.id) => return self.called(newest.id),
            _ => {}
        }
        if let Some(named) = self.named_in(newest.text).filter(|_| newest.role == Role::User) {
            return named;
        }
        match lines.find(|line| line.role == Role::Character) {
            Some(last) => self.behind(self.speakers.get(&last.id).and_then(|speaker| speaker.character)),
            None => NextSpeaker::OWN,
        }
    }

    /// The speaker of a message.
    pub(crate) fn who_said(&self, message: MessageId, role: Role) -> NextSpeaker {
        NextSpeaker { role, speaker: self.speakers.get(&message).cloned() }
    }

    /// The speaker that an event calls upon.
    fn called(&self, event: MessageId) -> NextSpeaker {
        match self.speakers.get(&event) {
            Some(Speaker { character: Some(id), .. }) => self.turn_of(*id).unwrap_or(NextSpeaker::OWN),
            _ => NextSpeaker::narrator(),
        }
    }

    fn turn_of(&self, id: CharacterId) -> Option<NextSpeaker> {
        let at = self.members.iter().position(|member| member.id == id)?;
        let member = &self.members[at];
        let speaker = Speaker { character: Some(id), name: member.card.display_name().to_owned() };
        Some(NextSpeaker { role: Role::Character, speaker: (at > 0).then_some(speaker) })
    }

    /// The member after `last`. After an unknown speaker, it is the member after the chat's own character.
    fn behind(&self, last: Option<CharacterId>) -> NextSpeaker {
        let at = last.and_then(|id| self.members.iter().position(|member| member.id == id)).unwrap_or(0);
        self.turn_of(self.members[(at + 1) % self.members.len()].id).unwrap_or(NextSpeaker::OWN)
    }

    /// The member or narrator whom `text` names first.
    fn named_in(&self, text: &str) -> Option<NextSpeaker> {
        let text = text.to_lowercase();
        let members = self.members.iter().map(|member| (member.card.display_name(), self.turn_of(member.id)));
        let all = members.chain([(NARRATOR, Some(NextSpeaker::narrator()))]);
        all.filter_map(|(name, turn)| Some((place_of(name, &text)?, turn?)))
            .min_by_key(|(at, _)| *at)
            .map(|(_, turn)| turn)
    }

    /// Names of all members; none unless the chat is a group scene.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.card.display_name())
    }

    /// Stop strings besides those of the template: the start of a line by any other speaker.
    pub(crate) fn stops(&self, persona: &str) -> Vec<String> {
        let others = [NARRATOR, persona].into_iter().filter(|name| self.is_scene() && !name.is_empty());
        self.names().chain(others).map(|name| format!("\n{name}:")).collect()
    }

    /// Replaces the card's template variables by those of all members.
    pub(crate) fn tell(&self, given: Given, next: &str) -> Given {
        if !self.is_scene() {
            return given;
        }
        let joined = |of: fn(&Member) -> String, between: &str| {
            let texts: Vec<_> = self.members.iter().map(of).filter(|text| !text.is_empty()).collect();
            texts.join(between)
        };
        given
            .list("group.members", self.names().map(str::to_owned))
            .text("group.next", next)
            .text("character.description", joined(Member::description, "\n\n"))
            .text("character.personality", "")
            .text("character.examplesRaw", joined(Member::examples, "\n<START>\n"))
    }

    /// Prefixes `message` with its speaker's name, so that a model can tell the voices apart.
    pub(crate) fn labelled(&self, message: &HistoryMessage) -> HistoryMessage {
        let mut message = message.clone();
        if self.is_scene() && matches!(message.role, Role::Character | Role::Narrator) {
            let label = |text: &str| format!("{}: {text}", message.speaker);
            message.anew = message.anew.take().map(|anew| RewrittenText { text: label(&anew.text), ..anew });
            message.text = label(&message.text);
        }
        message
    }
}

impl Member {
    fn description(&self) -> String {
        let (card, name) = (&self.card, self.card.display_name());
        let personality = match card.personality().trim() {
            "" => String::new(),
            text => format!("Personality: {text}"),
        };
        let lines = [name, card.description().trim(), personality.as_str()];
        let lines = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        named(&lines, name)
    }

    fn examples(&self) -> String {
        named(self.card.mes_example().trim(), self.card.display_name())
    }
}

/// Replaces the macros for the character's name in the text of one card by that character's name.
fn named(text: &str, name: &str) -> String {
    ["{{char}}", "<bot>", "<char>"].into_iter().fold(text.to_owned(), |text, mark| replaced(&text, mark, name))
}

/// Replaces `mark`, which is ASCII, in upper or lower case.
fn replaced(text: &str, mark: &str, name: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(mark) {
        result.push_str(&text[from..at]);
        result.push_str(name);
        from = at + mark.len();
    }
    result.push_str(&text[from..]);
    result
}

/// Position of `name` as a whole word in `text`, which is in lower case.
fn place_of(name: &str, text: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let alone = |at: &usize| apart(text[..*at].chars().next_back()) && apart(text[at + name.len()..].chars().next());
    text.match_indices(&name).map(|(at, _)| at).filter(|_| !name.is_empty()).find(alone)
}

impl Library {
    /// Loads the members and speakers of `chat`.
    pub(crate) async fn group(&self, chat: &Chat) -> ApiResult<Scene> {
        let (id, own) = (chat.id, chat.character);
        let read = self.base().store().read(move |store| {
            let members = store.groups().members(id)?;
            let own = Some(own).filter(|_| !members.is_empty());
            let rows = own.into_iter().chain(members).map(|id| store.characters().get(id));
            Ok((rows.collect::<Result<Vec<_>, _>>()?, store.groups().speakers(id)?))
        });
        let (rows, speakers) = read.await?;
        let mut members = Vec::with_capacity(rows.len());
        for row in rows.iter().flatten() {
            let card = if row.id == chat.character { self.chat_card(chat).await?.card } else { self.card(row)?.0 };
            members.push(Member { id: row.id, card });
        }
        if members.len() < 2 {
            members.clear();
        }
        Ok(Scene { members, speakers })
    }

    /// The next speaker in `chat`.
    pub(crate) async fn next_turn(&self, chat: &Chat) -> ApiResult<NextSpeaker> {
        let group = self.group(chat).await?;
        if !group.is_scene() {
            return Ok(NextSpeaker::OWN);
        }
        let id = chat.id;
        let messages = self.base().store().read(move |store| store.messages().page(id, None, LOOK_BACK)).await?;
        Ok(group.next(messages.iter().rev().filter(|message| !message.hidden).map(SpokenLine::from)))
    }

    /// Sets the members besides the chat's own character, in the order of their turns.
    pub(crate) async fn set_members(&self, chat: String, characters: Vec<String>) -> ApiResult<()> {
        let chat = self.chat(chat.parse()?).await?;
        let members = characters.iter().map(|id| id.parse::<CharacterId>()).collect::<Result<Vec<_>, _>>()?;
        let twice = |at: usize, id: &CharacterId| *id == chat.character || members[..at].contains(id);
        if members.iter().enumerate().any(|(at, id)| twice(at, id)) {
            return Err(bad_input("A character can take part only once.", "Choose another character."));
        }
        if members.len() > MAX_MEMBERS {
            return Err(bad_input("There are too many participants.", format!("Choose at most {MAX_MEMBERS}.")));
        }
        for id in &members {
            self.character(*id).await?;
        }
        let _place = self.base().running().begin(chat.id)?;
        self.base().store().write(move |store| store.groups_mut().set_members(chat.id, &members)).await?;
        self.base().events().changed(Changed::Messages, Some(chat.id.to_string()));
        Ok(())
    }

    /// The turn of `speaker`, or of the narrator if it is `None`.
    ///
    /// # Errors
    /// `BadInput` if the character does not take part, or if the chat is not a group scene.
    pub(crate) async fn turn_named(&self, chat: &Chat, speaker: Option<&str>) -> ApiResult<NextSpeaker> {
        let group = self.group(chat).await?;
        if !group.is_scene() {
            return Err(bad_input("Only one character takes part.", "Add others in the chat's settings."));
        }
        let Some(speaker) = speaker else { return Ok(NextSpeaker::narrator()) };
        let turn = group.turn_of(speaker.parse()?);
        turn.ok_or_else(|| bad_input("This character does not take part.", "Add it in the chat's settings."))
    }

    /// Appends an event that calls upon a speaker.
    pub(crate) async fn call_upon(&self, chat: &Chat, turn: &NextSpeaker) -> ApiResult<Message> {
        let (card, _) = self.card(&self.character(chat.character).await?)?;
        let own = || Speaker { character: Some(chat.character), name: card.display_name().to_owned() };
        let speaker = turn.speaker.clone().unwrap_or_else(own);
        let text = match turn.role {
            Role::Narrator => "(The narrator goes on.)".to_owned(),
            _ => format!("({}'s turn.)", speaker.name),
        };
        let now = self.base().now();
        let swipe =
            NewSwipe { id: SwipeId(Uuid::now_v7()), text, state: SwipeState::Finished, created: now, model: None };
        let event = NewMessage {
            id: MessageId(Uuid::now_v7()),
            chat: chat.id,
            role: Role::Event,
            created: now,
            swipes: vec![swipe],
            selected: 0,
            context_block: None,
        };
        let write = self.base().store().write(move |store| {
            let message = store.messages_mut().append(&event)?;
            store.groups_mut().set_speaker(message.id, &speaker)?;
            Ok(message)
        });
        Ok(write.await?)
    }

    /// The members for the API, without the chat's own character.
    pub(crate) async fn shown_members(&self, chat: ChatId) -> ApiResult<Vec<api::GroupMember>> {
        let read = self.base().store().read(move |store| {
            let rows = store.groups().members(chat)?.into_iter().map(|id| store.characters().get(id));
            rows.collect::<Result<Vec<_>, _>>()
        });
        let shown = |character: store::Character| api::GroupMember {
            id: character.id.to_string(),
            name: character.name,
            picture: character.picture.map(|hash| hash.to_string()),
        };
        Ok(read.await?.into_iter().flatten().map(shown).collect())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> MessageId {
        MessageId(Uuid::from_u128(number))
    }

    /// Ada's chat with Bo and Mary Ann. Bo is the speaker of message 2.
    fn group() -> Scene {
        let member = |(number, name)| Member {
            id: CharacterId(Uuid::from_u128(number)),
            card: Arc::new(Card::new(name).unwrap()),
        };
        let members: Vec<Member> = [(1, "Ada"), (2, "Bo"), (3, "Mary Ann")].map(member).into();
        let bo = Speaker { character: Some(members[1].id), name: "Bo".into() };
        let gone = Speaker { character: None, name: "Zed".into() };
        Scene { members, speakers: [(id(2), bo.clone()), (id(9), gone), (id(7), bo)].into() }
    }

    /// The next speaker after `lines`, newest first.
    fn next(lines: &[(u128, Role, &str)]) -> String {
        let lines = lines.iter().map(|(number, role, text)| SpokenLine { id: id(*number), role: *role, text });
        group().next(lines).speaker.map_or_else(|| "Ada".to_owned(), |speaker| speaker.name)
    }

    #[test]
    fn members_take_turns_unless_named_or_called() {
        assert_eq!(next(&[]), "Ada");
        assert_eq!(next(&[(3, Role::User, "Good evening.")]), "Ada");
        assert_eq!(next(&[(3, Role::User, "Hm."), (1, Role::Character, "")]), "Bo");
        assert_eq!(next(&[(3, Role::User, "Hm."), (2, Role::Character, "")]), "Mary Ann");
        assert_eq!(next(&[(3, Role::User, "Hm."), (9, Role::Character, "")]), "Bo", "deleted speaker counts as first");
        assert_eq!(next(&[(3, Role::User, "What say you, mary ann? Or Bo?"), (2, Role::Character, "")]), "Mary Ann");
        assert_eq!(
            next(&[(3, Role::User, "Boats, Adam!"), (1, Role::Character, "")]),
            "Bo",
            "only whole words are names"
        );
        assert_eq!(next(&[(3, Role::User, "Narrator, what do I see?")]), NARRATOR);
        assert_eq!(next(&[(2, Role::Character, "Once upon")]), "Bo", "a continued reply keeps its speaker");
        assert_eq!(next(&[(7, Role::Event, "")]), "Bo");
        assert_eq!(next(&[(9, Role::Event, "")]), NARRATOR);
    }

    #[test]
    fn each_card_names_its_own_character() {
        assert_eq!(
            named("{{Char}} sails. <BOT> sings to {{user}}. İ{{CHAR}}", "Bo"),
            "Bo sails. Bo sings to {{user}}. İBo"
        );
    }

    #[test]
    fn every_other_name_is_a_stop_string() {
        assert_eq!(group().stops("Tom"), ["\nAda:", "\nBo:", "\nMary Ann:", "\nNarrator:", "\nTom:"]);
        assert!(Scene::default().stops("Tom").is_empty());
    }
}
