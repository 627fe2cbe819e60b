//! `prompt` and `tokens`: previews a prompt and counts tokens.

pub(crate) mod presets;
pub(crate) mod templates;

use std::io::Read as _;
use std::path::PathBuf;

use domain::{CharacterId, ChatId};
use engine::api::{
    Change, ChangedText, Counted, ModelRef, Placement, PromptStage, StageComparison,
};
use engine::{Engine, TurnOptions};
use serde_json::json;

use crate::cli::{PlacementArg, PromptArgs, StageArg};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

/// Maximum bytes of text to count.
const COUNTED: u64 = 64 * 1024 * 1024;

pub(crate) async fn prompt(
    engine: &Engine,
    args: PromptArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let of = subject(engine, &args).await?;
    let placement = args.placement.map(|placing| match placing {
        PlacementArg::CacheFirst => Placement::CacheFirst,
        PlacementArg::Classic => Placement::Classic,
    });
    let asked = find::options(engine, &args.answering).await?;
    let options = TurnOptions {
        context: args.limit,
        placement,
        ask: args.ask.map(Into::into),
        regenerate: args.regenerate,
        ..asked
    };
    let report = match of {
        Subject::Chat(chat) => engine.preview_with(chat, args.message, options).await?,
        Subject::NewChat(_) if args.regenerate || args.ask.is_some() => {
            return Err(CommandError::not_found(
                "there is no chat with this character yet; start one with `nook chat`",
            ));
        }
        Subject::NewChat(character) => {
            engine
                .preview_first(character, args.message, options)
                .await?
        }
    };
    match args.stage {
        Some(stage) => out.answer(&report.stage(stage.into()), marked)?,
        None => out.answer(&report, |report| report.text.clone())?,
    }
    let tokens = report.tokens;
    let about = if tokens.exact { "" } else { "about " };
    let counted = tokens
        .counted
        .filter(|_| !tokens.exact)
        .map(counted)
        .unwrap_or_default();
    let total = tokens.total;
    let limit = tokens.limit;
    let reserve = tokens.reserve;
    out.print_note(&format!(
        "{about}{total} of {limit} tokens{counted}, {reserve} reserved for the reply"
    ));
    Ok(())
}

impl From<StageArg> for PromptStage {
    fn from(stage: StageArg) -> Self {
        match stage {
            StageArg::Sources => Self::Sources,
            StageArg::Filled => Self::Filled,
            StageArg::Budget => Self::Budget,
            StageArg::Sent => Self::Sent,
        }
    }
}

/// Formats a comparison line by line, each with a mark for its kind of change.
fn marked(comparison: &StageComparison) -> String {
    let lines = |part: &ChangedText| {
        let mark = match part.change {
            Change::Same => ' ',
            Change::Added => '+',
            Change::Removed => '-',
        };
        part.text
            .lines()
            .map(|line| format!("{mark} {line}"))
            .collect::<Vec<_>>()
    };
    comparison
        .parts
        .iter()
        .flat_map(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

fn counted(how: Counted) -> String {
    let error = how
        .mean_error
        .map(|error| format!(", off by {:.1} % on average", error * 100.0));
    format!(
        " (counted with {}{}; {} held back as a safety margin)",
        how.with,
        error.unwrap_or_default(),
        how.margin
    )
}

/// The subject of a prompt.
enum Subject {
    /// A chat, by id.
    Chat(ChatId),
    /// The first turn with a character, by id.
    NewChat(CharacterId),
}

async fn subject(engine: &Engine, args: &PromptArgs) -> Result<Subject, CommandError> {
    let character = match &args.character {
        Some(name) => Some(find::character(engine, name).await?),
        None => None,
    };
    match (&args.chat, character) {
        (Some(chat), None) => Ok(Subject::Chat(find::chat(engine, chat).await?.id)),
        (Some(chat), Some(character)) => Ok(Subject::Chat(
            crate::verbs::chat::with(engine, chat, character.id).await?,
        )),
        (None, Some(character)) => {
            let chats = engine
                .list_chats()
                .await?
                .into_iter()
                .filter(|chat| chat.character == character.id);
            let newest = chats.max_by(|one, other| one.updated.cmp(&other.updated));
            Ok(newest.map_or(Subject::NewChat(character.id), |chat| {
                Subject::Chat(chat.id)
            }))
        }
        (None, None) => Err(CommandError::because(
            "usage",
            "specify --chat or --character",
        )),
    }
}

pub(crate) async fn tokens(
    engine: &Engine,
    model: Option<String>,
    ids: bool,
    file: Option<PathBuf>,
    out: &Output,
) -> Result<(), CommandError> {
    let model = match model {
        Some(name) => Some(ModelRef::Local {
            id: find::model(engine, &name).await?.id,
        }),
        None => None,
    };
    let count = engine.count_tokens(model, text(file)?, ids).await?;
    let mut answer = json!({ "tokens": count.tokens, "model": count.model, "exact": count.exact });
    if let Some(ids) = &count.ids {
        answer["ids"] = json!(ids);
    }
    out.answer(&answer, |_| match &count.ids {
        Some(ids) => format!(
            "{}\n{}",
            count.tokens,
            ids.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        ),
        None => count.tokens.to_string(),
    })
}

/// Reads the text of `file`, or of stdin.
fn text(file: Option<PathBuf>) -> Result<String, CommandError> {
    let name = file
        .as_ref()
        .map_or("stdin".into(), |file| file.display().to_string());
    let unreadable = |error: std::io::Error| {
        CommandError::because("badInput", format!("cannot read {name}: {error}"))
    };
    let mut bytes = Vec::new();
    match &file {
        Some(file) => std::fs::File::open(file)
            .map_err(unreadable)?
            .take(COUNTED + 1)
            .read_to_end(&mut bytes),
        None => std::io::stdin()
            .lock()
            .take(COUNTED + 1)
            .read_to_end(&mut bytes),
    }
    .map_err(unreadable)?;
    if bytes.len() as u64 > COUNTED {
        return Err(CommandError::because(
            "badInput",
            format!("{name} is longer than 64 MiB; count it in parts"),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandError::because("badInput", format!("{name} is not UTF-8 text")))
}
