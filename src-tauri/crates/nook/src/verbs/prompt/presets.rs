//! Lists, shows and exports presets: sampler presets, chat formats, modes, regex scripts and quick
//! replies.

use engine::{Engine, Exported};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

/// A preset of any kind.
#[derive(Serialize)]
struct NamedPreset {
    id: String,
    name: String,
    kind: &'static str,
    built_in: bool,
    #[serde(skip)]
    whole: Value,
}

pub(crate) async fn list(engine: &Engine, out: &Output) -> Result<(), CommandError> {
    lines(
        ItemList {
            items: all(engine).await?,
        },
        out,
        |one| format!("{}  {} ({})", one.id, one.name, one.kind),
    )
}

pub(crate) async fn show(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let found = pick(all(engine).await?, name)?;
    out.answer(&found.whole, |whole| {
        serde_json::to_string_pretty(whole).unwrap_or_default()
    })
}

pub(crate) async fn export(engine: &Engine, name: &str) -> Result<Exported, CommandError> {
    let json = engine
        .export_sampler_preset(id(engine, "samplerPreset", name).await?)
        .await?;
    let file_name = "preset.json".to_owned();
    let bytes = json.into_bytes();
    Ok(Exported {
        file_name,
        mime: "application/json",
        bytes,
        warnings: Vec::new(),
    })
}

/// The id of the preset of that kind and name.
pub(crate) async fn id(engine: &Engine, kind: &str, name: &str) -> Result<String, CommandError> {
    let of_kind = all(engine)
        .await?
        .into_iter()
        .filter(|one| one.kind == kind)
        .collect();
    Ok(pick(of_kind, name)?.id)
}

fn pick(items: Vec<NamedPreset>, name: &str) -> Result<NamedPreset, CommandError> {
    find::pick("preset", items, name, |one| {
        (one.id.clone(), vec![one.name.as_str()])
    })
}

async fn all(engine: &Engine) -> Result<Vec<NamedPreset>, CommandError> {
    let mut all = Vec::new();
    for preset in engine.list_sampler_presets().await? {
        let whole = json!(&preset);
        all.push(NamedPreset {
            id: preset.id,
            name: preset.name,
            kind: "samplerPreset",
            built_in: preset.built_in,
            whole,
        });
    }
    for format in engine.list_chat_formats().await? {
        let whole = json!(&format);
        all.push(NamedPreset {
            id: format.id,
            name: format.name,
            kind: "chatFormat",
            built_in: format.built_in,
            whole,
        });
    }
    for mode in engine.list_modes().await? {
        let whole = json!(&mode);
        all.push(NamedPreset {
            id: mode.name.clone(),
            name: mode.name,
            kind: "mode",
            built_in: mode.built_in,
            whole,
        });
    }
    for script in engine.list_regex_scripts().await? {
        let whole = json!(&script);
        all.push(NamedPreset {
            id: script.id,
            name: script.name,
            kind: "regexScript",
            built_in: false,
            whole,
        });
    }
    for set in engine.list_quick_replies().await? {
        all.push(NamedPreset {
            id: set.id,
            name: set.name,
            kind: "quickReplies",
            built_in: false,
            whole: set.set,
        });
    }
    Ok(all)
}
