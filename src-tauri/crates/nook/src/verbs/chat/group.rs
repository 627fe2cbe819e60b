//! `group`: chats with several characters.

use domain::{CharacterId, ChatId};
use engine::api::{Chat, Group, GroupOptions, MemberState};
use engine::{Engine, TurnOptions};

use crate::cli::{GroupMemberArgs, GroupVerb};
use crate::failure::CommandError;
use crate::find;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::chat::turn::{Talk, Whom};
use crate::verbs::tools::question::StdinLines;

pub(crate) async fn group(
    engine: &Engine,
    verb: GroupVerb,
    out: &Output,
) -> Result<(), CommandError> {
    let chat = match verb {
        GroupVerb::Create { characters, title } => create(engine, characters, title).await?,
        GroupVerb::Show { chat } => find::chat(engine, &chat).await?.id,
        GroupVerb::Add(args) => change(engine, args, |members, id| members.push(id)).await?,
        GroupVerb::Remove(args) => {
            change(engine, args, |members, id| {
                members.retain(|member| *member != id)
            })
            .await?
        }
        GroupVerb::Mute(args) => set(engine, args, |state| state.muted = true).await?,
        GroupVerb::Unmute(args) => set(engine, args, |state| state.muted = false).await?,
        GroupVerb::Away(args) => set(engine, args, |state| state.away = true).await?,
        GroupVerb::Back(args) => set(engine, args, |state| state.away = false).await?,
        GroupVerb::Tell(args) => {
            let (chat, member) = ids(engine, &args).await?;
            engine.let_member_know(chat, member).await?;
            chat
        }
        GroupVerb::Order {
            chat,
            order,
            several,
            self_responses,
        } => {
            let chat = find::chat(engine, &chat).await?.id;
            let known = group_of(engine, chat).await?.options;
            let options = GroupOptions {
                order: order.into(),
                several_replies: several.unwrap_or(known.several_replies),
                self_responses: self_responses.unwrap_or(known.self_responses),
                ..known
            };
            engine.set_group(chat, options).await?;
            chat
        }
        GroupVerb::Speak {
            chat,
            character,
            narrator,
        } => {
            let chat = find::chat(engine, &chat).await?.id;
            let whom = match character {
                Some(name) => Whom::Member(find::character(engine, &name).await?.id),
                None if narrator => Whom::Narrator,
                None => Whom::Next,
            };
            return speak(engine, chat, whom, out).await;
        }
    };
    out.answer(&engine.open_chat(chat).await?, text)
}

async fn speak(
    engine: &Engine,
    chat: ChatId,
    whom: Whom,
    out: &Output,
) -> Result<(), CommandError> {
    let options = TurnOptions::default();
    let interrupts = Interrupts::listen()?;
    let mut talk = Talk {
        engine,
        out,
        chat,
        options,
        interrupts,
        lines: StdinLines::default(),
    };
    talk.speak(whom).await?.into_result()
}

async fn create(
    engine: &Engine,
    names: Vec<String>,
    title: Option<String>,
) -> Result<ChatId, CommandError> {
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        ids.push(find::character(engine, &name).await?.id);
    }
    Ok(engine.new_group(title.unwrap_or_default(), ids).await?.id)
}

/// The ids of the chat and the character.
async fn ids(
    engine: &Engine,
    args: &GroupMemberArgs,
) -> Result<(ChatId, CharacterId), CommandError> {
    Ok((
        find::chat(engine, &args.chat).await?.id,
        find::character(engine, &args.character).await?.id,
    ))
}

/// Changes the list of the characters besides the chat's own.
async fn change(
    engine: &Engine,
    args: GroupMemberArgs,
    change: impl FnOnce(&mut Vec<CharacterId>, CharacterId),
) -> Result<ChatId, CommandError> {
    let (chat, character) = ids(engine, &args).await?;
    let known = engine.open_chat(chat).await?.members;
    let mut members: Vec<CharacterId> = known.into_iter().map(|member| member.id).collect();
    change(&mut members, character);
    engine.set_members(chat, members).await?;
    Ok(chat)
}

async fn set(
    engine: &Engine,
    args: GroupMemberArgs,
    change: impl FnOnce(&mut MemberState),
) -> Result<ChatId, CommandError> {
    let (chat, character) = ids(engine, &args).await?;
    let known = group_of(engine, chat)
        .await?
        .members
        .into_iter()
        .find(|member| member.id == character);
    let mut state = known
        .ok_or_else(|| CommandError::because("badInput", "this character does not take part"))?;
    change(&mut state);
    engine
        .set_member(chat, state.id, state.muted, state.away)
        .await?;
    Ok(chat)
}

async fn group_of(engine: &Engine, chat: ChatId) -> Result<Group, CommandError> {
    let group = engine.open_chat(chat).await?.group;
    group.ok_or_else(|| {
        CommandError::because(
            "badInput",
            "only one character takes part; add others first",
        )
    })
}

fn text(chat: &Chat) -> String {
    let names = std::iter::once((&chat.character, &chat.character_name));
    let names = names.chain(chat.members.iter().map(|member| (&member.id, &member.name)));
    let states = chat
        .group
        .as_ref()
        .map(|group| group.members.as_slice())
        .unwrap_or_default();
    let line = |(id, name): (&CharacterId, &String)| {
        let state = states.iter().find(|state| state.id == *id);
        let told = [
            (state.is_some_and(|state| state.muted), "muted"),
            (state.is_some_and(|state| state.away), "away"),
        ];
        let told: Vec<&str> = told
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, word)| word)
            .collect();
        let missed = state.map_or(0, |state| state.missed);
        let missed = if missed > 0 {
            format!(" (does not know {missed} messages)")
        } else {
            String::new()
        };
        format!(
            "  {name}{}{}{missed}",
            if told.is_empty() { "" } else { ": " },
            told.join(", ")
        )
    };
    let order = chat.group.as_ref().map(|group| {
        let several = if group.options.several_replies {
            ", several replies"
        } else {
            ""
        };
        format!(
            "  turns: {}{several}",
            format!("{:?}", group.options.order).to_lowercase()
        )
    });
    let head = std::iter::once(format!("{}  {}", chat.id, chat.title));
    head.chain(names.map(line))
        .chain(order)
        .collect::<Vec<_>>()
        .join("\n")
}
