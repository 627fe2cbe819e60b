//! The tools that a model may call in a turn.

use std::collections::HashSet;
use std::sync::Arc;

use context::lore::GenerationKind;
use context::tools::{CallSyntax, FrameTools, ToolForm, plain_name};
use domain::ToolDefinition;
use domain::card::Card;
use domain::prompt::ToolChoice;
use serde_json::{Value, json};

use crate::api::client::ClientOptions;
use crate::base::error::{ApiResult, bad_input};
use crate::base::tool_source::{SourceTool, ToolSource};
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::{self, BuiltIns};
use crate::turn::tools::turn_tools::{OfferedTool, SHOW_MORE, TurnTools};

/// Maximum number of tools in one prompt. Some endpoints reject more.
const MAX_TOOLS: usize = 128;

impl Tools {
    /// The tools that the settings switch on and that the card does not rule out, as the model gets
    /// them.
    pub(crate) async fn offer_tools(
        &self,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
    ) -> ApiResult<TurnTools> {
        let mut tools = TurnTools::default();
        tools.frame.rounds.clone_from(&turn.inputs.open_rounds);
        let client = turn.inputs.client.as_deref();
        let form = match client {
            // A program runs its own tools.
            Some(client) if !client.tools.is_empty() => {
                Some(form_for_client(client, model_handle, &mut tools.frame)?)
            }
            // Only a stored reply runs those of the app.
            Some(client) if !client.runs_tools => None,
            _ => self.offer_own(turn, model_handle, &mut tools).await?,
        };
        // Without definitions endpoints reject the fields for calls and results.
        tools.frame.form = form
            .filter(|_| !tools.frame.definitions.is_empty())
            .unwrap_or(ToolForm::Text);
        tools.syntax = syntax(&tools.frame, model_handle);
        // A task or a continued text must be answered with text. The definitions stay, so that the
        // prefix does too.
        if turn.task.is_some() || turn.inputs.kind == GenerationKind::Continue {
            tools.frame.choice = ToolChoice::Never;
        }
        Ok(tools)
    }

    async fn offer_own(
        &self,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
        tools: &mut TurnTools,
    ) -> ApiResult<Option<ToolForm>> {
        let Some(form) = form(model_handle) else {
            return Ok(None);
        };
        let built_ins: Arc<dyn ToolSource> =
            Arc::new(BuiltIns::new(self, turn, tools.mood.clone()).await?);
        let sources = std::iter::once(built_ins).chain(self.base().tools().list());
        let sources = sources.chain(self.config().tool_servers.server_sources().await?);
        tools.offered = offered(sources, declared(turn.inputs.voice().0)).await;
        tools.frame.definitions = tools.offered.iter().map(definition).collect();
        Ok(Some(form))
    }
}

/// Adds the tools of a program to `frame`. It asked for tools, so a model that knows none gets them
/// as text.
///
/// # Errors
/// `BadInput` if a call is demanded of a model that writes calls as text and takes no grammar.
pub(crate) fn form_for_client(
    client: &ClientOptions,
    model_handle: &ModelHandle,
    frame: &mut FrameTools,
) -> ApiResult<ToolForm> {
    let form = form(model_handle).unwrap_or(ToolForm::Text);
    if client.tool_choice.is_forced() && form != ToolForm::Request && !model_handle.is_local() {
        let message = "This model cannot be made to call a tool.";
        return Err(bad_input(
            message,
            "Set `tool_choice` to `auto`, or name another model.",
        ));
    }
    frame.definitions.clone_from(&client.tools);
    (frame.choice, frame.single_call) = (client.tool_choice.clone(), client.single_call);
    frame.form = form;
    Ok(form)
}

/// The syntax of calls in the model's text; `None` if there are none.
pub(crate) fn syntax(frame: &FrameTools, model_handle: &ModelHandle) -> Option<CallSyntax> {
    match frame.form {
        _ if frame.definitions.is_empty() => None,
        ToolForm::Request => None,
        ToolForm::Template => model_handle
            .template
            .as_ref()
            .and_then(|template| template.tool_syntax().cloned()),
        ToolForm::Text => Some(CallSyntax::text()),
    }
}

/// Form in which the model gets tools; `None` if it knows none and the user has not switched on the
/// description in the prompt.
pub(crate) fn form(model_handle: &ModelHandle) -> Option<ToolForm> {
    let as_text = model_handle.values.tools_as_text;
    match &model_handle.template {
        Some(template) if template.tool_syntax().is_some() => Some(ToolForm::Template),
        None if !as_text => Some(ToolForm::Request),
        _ => as_text.then_some(ToolForm::Text),
    }
}

/// The tools that a card allows (`extensions.inglenook.tools`); `None` if it does not say. It can
/// only rule tools out.
fn declared(card: &Card) -> Option<HashSet<String>> {
    let tools = card
        .extensions()?
        .get("inglenook")?
        .get("tools")?
        .as_array()?;
    Some(
        tools
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    )
}

async fn offered(
    sources: impl Iterator<Item = Arc<dyn ToolSource>>,
    declared: Option<HashSet<String>>,
) -> Vec<OfferedTool> {
    let mut all = Vec::new();
    let mut taken = HashSet::from([SHOW_MORE.to_owned()]);
    for source in sources {
        let mut tools = source.tools().await;
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        for tool in tools {
            let wanted = tool
                .model_name
                .clone()
                .unwrap_or_else(|| full_name(source.name(), &tool.name));
            let name = unique(&wanted, &mut taken);
            if all.len() < MAX_TOOLS
                && declared
                    .as_ref()
                    .is_none_or(|declared| declared.contains(&name))
            {
                all.push(OfferedTool {
                    name,
                    tool,
                    source: Some(Arc::clone(&source)),
                });
            }
        }
    }
    let can_be_long =
        |offered: &OfferedTool| !offered.is_harmless() || built_in::can_be_long(&offered.tool.name);
    if all.iter().any(can_be_long) {
        all.push(OfferedTool {
            name: SHOW_MORE.to_owned(),
            tool: show_more(),
            source: None,
        });
    }
    all
}

/// `server__tool`, or the name alone for the app's own tools.
fn full_name(source: &str, tool: &str) -> String {
    if source.is_empty() {
        plain_name(tool)
    } else {
        plain_name(&format!("{}__{}", plain_name(source), plain_name(tool)))
    }
}

/// The name, with a number if another tool has it.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let numbered = |number: usize| match number {
        0 => name.to_owned(),
        number => format!("{}_{number}", &name[..name.len().min(60)]),
    };
    let free = (0..)
        .map(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or_default();
    taken.insert(free.clone());
    free
}

fn definition(offered: &OfferedTool) -> ToolDefinition {
    let parameters = match &offered.tool.parameters {
        Value::Object(schema) => Value::Object(schema.clone()),
        _ => json!({ "type": "object", "properties": {} }),
    };
    ToolDefinition {
        name: offered.name.clone(),
        description: offered.tool.description.clone(),
        parameters,
    }
}

fn show_more() -> SourceTool {
    SourceTool {
        name: SHOW_MORE.to_owned(),
        model_name: None,
        description:
            "Reads on in a result that was cut. The note at its end names call and position."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "call": { "type": "string" }, "from": { "type": "integer" } },
            "required": ["call", "from"],
        }),
        reads_only: true,
        harmless: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_unique() {
        let mut taken = HashSet::new();
        assert_eq!(unique(&full_name("", "roll_dice"), &mut taken), "roll_dice");
        assert_eq!(
            unique(&full_name("my files", "read"), &mut taken),
            "my_files__read"
        );
        assert_eq!(
            unique(&full_name("my.files", "read"), &mut taken),
            "my_files__read_1"
        );
        let long = full_name(&"s".repeat(50), &"t".repeat(50));
        assert_eq!(
            (
                long.len(),
                unique(&long, &mut taken).len(),
                unique(&long, &mut taken).len()
            ),
            (64, 64, 62)
        );
    }

    #[test]
    fn a_card_only_rules_tools_out() {
        let card = |extensions: Value| {
            let json = json!({ "spec": "chara_card_v2", "spec_version": "2.0",
                "data": { "name": "Mira", "extensions": extensions } });
            Card::from_json(json.to_string().as_bytes()).unwrap().0
        };
        assert_eq!(declared(&card(json!({}))), None);
        assert_eq!(
            declared(&card(json!({ "inglenook": { "tools": "all" } }))),
            None
        );
        let some = declared(&card(json!({ "inglenook": { "tools": ["roll_dice", 7] } }))).unwrap();
        assert_eq!(some.into_iter().collect::<Vec<_>>(), ["roll_dice"]);
    }
}
