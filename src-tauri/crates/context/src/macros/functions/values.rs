//! Macros that read one value: names, card texts, the chat, the model, the templates.

use std::borrow::Cow;

use crate::macros::function::{Function, ReadOptional, ReadText, ReadValue};
use crate::macros::run::MacroRun;
use crate::macros::scope::MacroScope;

/// Maximum number of blanks or newlines from one macro.
const MAX_REPEATED: usize = 1_000;

pub(crate) const VALUES: &[(&str, ReadValue)] = &[
    ("user", |scope| scope.user.into()),
    ("char", |scope| scope.char.into()),
    ("bot", |scope| scope.char.into()),
    ("group", |scope| scope.group()),
    ("charifnotgroup", |scope| scope.group()),
    ("groupnotmuted", |scope| scope.group_not_muted()),
    ("notchar", |scope| scope.not_char()),
    ("charversion", |scope| scope.card.version.into()),
    ("char_version", |scope| scope.card.version.into()),
    ("version", |scope| scope.card.version.into()),
    ("lastmessage", |scope| scope.chat.last_message.into()),
    ("lastchatmessage", |scope| scope.chat.last_message.into()),
    ("lastusermessage", |scope| {
        scope.chat.last_user_message.into()
    }),
    ("lastcharmessage", |scope| {
        scope.chat.last_char_message.into()
    }),
    ("lastmessageid", |scope| number(scope.chat.last_message_id)),
    ("allchatrange", |scope| {
        scope
            .chat
            .last_message_id
            .map_or("".into(), |last| format!("0-{last}").into())
    }),
    ("model", |scope| scope.model.name.into()),
    ("maxcontext", |scope| number(scope.model.context)),
    ("maxcontexttokens", |scope| number(scope.model.context)),
    ("maxresponse", |scope| number(scope.model.response)),
    ("maxresponsetokens", |scope| number(scope.model.response)),
    ("maxprompt", max_prompt),
    ("maxprompttokens", max_prompt),
    ("ismobile", |_| "false".into()),
    ("input", |scope| scope.input.into()),
];

pub(crate) const OPTIONAL: &[(&str, ReadOptional)] = &[
    ("firstincludedmessageid", |scope| {
        id(scope.chat.first_included_message_id)
    }),
    ("lastswipeid", |scope| id(scope.chat.last_swipe_id)),
    ("currentswipeid", |scope| id(scope.chat.current_swipe_id)),
    ("lastgenerationtype", |scope| {
        scope.chat.last_generation_type.map(Cow::Borrowed)
    }),
];

pub(crate) const TEXTS: &[(&str, ReadText)] = &[
    ("description", |scope| scope.card.description),
    ("chardescription", |scope| scope.card.description),
    ("personality", |scope| scope.card.personality),
    ("charpersonality", |scope| scope.card.personality),
    ("scenario", |scope| scope.card.scenario),
    ("charscenario", |scope| scope.card.scenario),
    ("persona", |scope| scope.card.persona),
    ("charprompt", |scope| scope.card.system_prompt),
    ("charinstruction", |scope| {
        scope.card.post_history_instructions
    }),
    ("charjailbreak", |scope| {
        scope.card.post_history_instructions
    }),
    ("chardepthprompt", |scope| scope.card.depth_prompt),
    ("charcreatornotes", |scope| scope.card.creator_notes),
    ("creatornotes", |scope| scope.card.creator_notes),
    ("mesexamples", |scope| {
        scope.card.examples.unwrap_or(scope.card.examples_raw)
    }),
    ("mesexamplesraw", |scope| scope.card.examples_raw),
    ("exampledialogue", |scope| scope.card.examples_raw),
];

pub(crate) const FUNCTIONS: &[Function] = &[
    ("original", 0, 0, |run, _| Some(run.original())),
    ("greeting", 0, 1, greeting),
    ("charfirstmessage", 0, 1, greeting),
    ("outlet", 1, 1, |run, args| {
        Some(
            run.scope
                .outlets
                .and_then(|outlets| outlets.get(&args[0]))
                .cloned()
                .unwrap_or_default(),
        )
    }),
    ("hasextension", 1, 1, |_, _| Some("false".into())),
    ("newline", 0, 1, |_, args| repeated("\n", args)),
    ("space", 0, 1, |_, args| repeated(" ", args)),
    ("reverse", 1, 1, |_, args| {
        Some(args[0].chars().rev().collect())
    }),
    ("hidden_key", 1, 1, hide),
    ("hiddenkey", 1, 1, hide),
    ("banned", 1, 1, ban),
];

/// Macros of the templates in use. They are known even if the template lacks the part; they are
/// empty then.
const TEMPLATE_VALUES: [&str; 25] = [
    "systemprompt",
    "defaultsystemprompt",
    "chatseparator",
    "chatstart",
    "authorsnote",
    "charauthorsnote",
    "defaultauthorsnote",
    "summary",
    "instructstorystringprefix",
    "instructstorystringsuffix",
    "instructuserprefix",
    "instructusersuffix",
    "instructassistantprefix",
    "instructassistantsuffix",
    "instructsystemprefix",
    "instructsystemsuffix",
    "instructfirstassistantprefix",
    "instructlastassistantprefix",
    "instructfirstuserprefix",
    "instructlastuserprefix",
    "instructstop",
    "instructuserfiller",
    "instructsysteminstructionprefix",
    "lorebook",
    "history",
];

/// The value of a template macro, or of another macro named by the caller.
pub(crate) fn named<'s>(name: &str, scope: &'s MacroScope<'_>) -> Option<&'s str> {
    given(name, scope).or_else(|| TEMPLATE_VALUES.contains(&plain(name)).then_some(""))
}

/// True for a template macro without a value.
pub(crate) fn lacks(name: &str, scope: &MacroScope<'_>) -> bool {
    TEMPLATE_VALUES.contains(&plain(name)) && given(name, scope).is_none()
}

fn given<'s>(name: &str, scope: &'s MacroScope<'_>) -> Option<&'s str> {
    scope.named?.get(plain(name)).map(String::as_str)
}

/// Maps aliases to the canonical name.
fn plain(name: &str) -> &str {
    match name {
        "exampleseparator" => "chatseparator",
        "instructinput" => "instructuserprefix",
        "instructoutput" => "instructassistantprefix",
        "instructseparator" => "instructassistantsuffix",
        "instructfirstoutputprefix" => "instructfirstassistantprefix",
        "instructlastoutputprefix" => "instructlastassistantprefix",
        "instructfirstinput" => "instructfirstuserprefix",
        "instructlastinput" => "instructlastuserprefix",
        "instructsystem" | "instructsystemprompt" => "defaultsystemprompt",
        "instructsystempromptprefix" => "instructstorystringprefix",
        "instructsystempromptsuffix" => "instructstorystringsuffix",
        name => name,
    }
}

fn number(value: Option<impl ToString>) -> Cow<'static, str> {
    value.map_or("".into(), |value| value.to_string().into())
}

fn id(value: Option<u64>) -> Option<Cow<'static, str>> {
    value.map(|value| value.to_string().into())
}

fn max_prompt<'s>(scope: &'s MacroScope<'_>) -> Cow<'s, str> {
    number(
        scope
            .model
            .context
            .map(|context| context.saturating_sub(scope.model.response.unwrap_or(0))),
    )
}

/// The first message, or an alternate greeting by its number.
fn greeting(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let index: usize = args.first().map_or(Ok(0), |index| index.parse()).ok()?;
    let text = run
        .scope
        .card
        .greetings
        .get(index)
        .copied()
        .unwrap_or_default();
    Some(run.card_text(text))
}

fn repeated(text: &str, args: &[String]) -> Option<String> {
    let count: usize = args.first().map_or(Ok(1), |count| count.parse()).ok()?;
    Some(text.repeat(count.min(MAX_REPEATED)))
}

fn hide(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    run.found.hidden_keys.push(args[0].clone());
    Some(String::new())
}

fn ban(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let text = args[0].as_str();
    let text = text.strip_prefix('"').unwrap_or(text);
    let text = text.strip_suffix('"').unwrap_or(text);
    if !text.is_empty() {
        run.found.banned.push(text.to_owned());
    }
    Some(String::new())
}
