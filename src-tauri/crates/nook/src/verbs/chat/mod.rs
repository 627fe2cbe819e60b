//! `chat`: one turn, or a conversation line by line.

pub(super) mod group;
mod slash;
mod turn;

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use domain::{CharacterId, ChatId};
use engine::api::{Chat, Picture};
use engine::{Engine, MAX_PICTURE_BYTES, TurnOptions};

use crate::cli::ChatArgs;
use crate::failure::CommandError;
use crate::find;
use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::verbs::chat::turn::{Talk, TurnOutcome};
use crate::verbs::keys;
use crate::verbs::library::shown;
use crate::verbs::tools::question::StdinLines;

pub(crate) async fn chat(
    engine: &Engine,
    args: ChatArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let options = options(engine, &args).await?;
    let chat = open(engine, &args).await?;
    let files: Vec<_> = args.key_from.iter().cloned().collect();
    keys::give(
        engine,
        &files,
        options.model.clone().or_else(|| chat.model.clone()),
    )
    .await?;
    let interrupts = Interrupts::listen()?;
    let mut talk = Talk {
        engine,
        out,
        chat: chat.id,
        options,
        interrupts,
        lines: StdinLines::default(),
    };
    match args.message {
        Some(text) => talk.turn(text).await?.into_result(),
        None => converse(&mut talk, &chat).await,
    }
}

async fn options(engine: &Engine, args: &ChatArgs) -> Result<TurnOptions, CommandError> {
    let mut options = find::options(engine, &args.answering).await?;
    options.sampler.seed = args.seed;
    options.sampler.temperature = args.temperature;
    options.sampler.max_tokens = args.max_tokens;
    for file in &args.images {
        options.pictures.push(picture(engine, file).await?);
    }
    Ok(options)
}

async fn picture(engine: &Engine, file: &Path) -> Result<Picture, CommandError> {
    // One byte above the limit is enough for the engine to refuse a larger file.
    let limit = MAX_PICTURE_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        .map_err(|error| {
            CommandError::because(
                "badInput",
                format!("cannot read {}: {error}", file.display()),
            )
        })?;
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(engine.add_picture_bytes(name, bytes).await?)
}

async fn open(engine: &Engine, args: &ChatArgs) -> Result<Chat, CommandError> {
    // Looked up first, so that a wrong name does not leave an empty chat.
    let persona = match &args.persona {
        Some(name) => Some(find::persona(engine, name).await?.id),
        None => None,
    };
    let character = match &args.character {
        Some(name) => Some(find::character_or_card(engine, name).await?),
        None => None,
    };
    let chat = match (&args.chat, character) {
        (Some(chat), Some(character)) => {
            engine
                .open_chat(with(engine, chat, character).await?)
                .await?
        }
        (Some(chat), None) => engine.open_chat(find::chat(engine, chat).await?.id).await?,
        (None, Some(character)) => engine.new_chat(character).await?,
        (None, None) => {
            return Err(CommandError::because(
                "usage",
                "specify --chat or --character",
            ));
        }
    };
    if let Some(persona) = persona {
        engine.set_chat_persona(chat.id, persona).await?;
    }
    Ok(chat)
}

/// Returns the id of the chat if it is with this character.
pub(crate) async fn with(
    engine: &Engine,
    chat: &str,
    character: CharacterId,
) -> Result<ChatId, CommandError> {
    let found = find::chat(engine, chat).await?;
    if found.character != character {
        let message = format!(
            "the chat \"{}\" is with {}, not with the given character",
            found.title, found.character_name
        );
        return Err(CommandError::because("badInput", message));
    }
    Ok(found.id)
}

/// Sends every line of stdin until it ends, or until Ctrl-C between replies.
async fn converse(talk: &mut Talk<'_>, chat: &Chat) -> Result<(), CommandError> {
    let on_terminal = std::io::stdin().is_terminal();
    if let (true, Some(last)) = (on_terminal, chat.page.messages.last()) {
        talk.out
            .print(&format!("{}: {}\n", last.name, shown(last)))?;
    }
    loop {
        if on_terminal {
            talk.out.progress("> ");
        }
        let line = tokio::select! {
            line = talk.lines.next() => line,
            _ = talk.interrupts.next() => return Ok(()),
        };
        let Some(line) = line.transpose()? else {
            return Ok(());
        };
        if line.trim().is_empty() {
            continue;
        }
        match talk.turn(line).await {
            Ok(TurnOutcome::Quit) => return Ok(()),
            Ok(TurnOutcome::Finished | TurnOutcome::Stopped) => {}
            Ok(TurnOutcome::Failed(reason)) | Err(CommandError::Because(reason)) if on_terminal => {
                talk.out.print_error(&reason)
            }
            Ok(ended) => ended.into_result()?,
            Err(failure) => return Err(failure),
        }
    }
}
