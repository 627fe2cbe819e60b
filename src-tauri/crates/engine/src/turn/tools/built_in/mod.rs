//! The app's own tools. Each has a switch in the settings and reads only what belongs to its chat.

mod chat_search;
mod clock;
mod dice;
mod documents;
mod lore;
mod memory;
mod mood;
mod scene;
mod table;
mod tool;

use domain::settings::Values;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput, ToolSource};
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::chat_search::ChatSearch;
use crate::turn::tools::built_in::clock::ClockTool;
use crate::turn::tools::built_in::dice::Dice;
use crate::turn::tools::built_in::documents::Documents;
use crate::turn::tools::built_in::lore::LoreTool;
use crate::turn::tools::built_in::memory::MemoryTool;
use crate::turn::tools::built_in::mood::MoodTool;
use crate::turn::tools::built_in::scene::SceneTool;
use crate::turn::tools::built_in::table::Tables;
use crate::turn::tools::built_in::tool::BuiltIn;
use crate::turn::tools::turn_tools::Mood;

/// The tools of the app that are switched on in a chat.
pub(crate) struct BuiltIns {
    tools: Vec<Box<dyn BuiltIn>>,
}

impl BuiltIns {
    pub(crate) async fn new(room: &Tools, turn: &ActivatedTurn, mood: Mood) -> ApiResult<Self> {
        let inputs = &turn.inputs;
        let values: &Values = &inputs.values;
        let mut tools: Vec<Box<dyn BuiltIn>> = Vec::new();
        if values.tool_dice {
            tools.push(Box::new(Dice));
        }
        if values.tool_clock {
            tools.push(Box::new(ClockTool::new(room)));
        }
        if values.tool_memory && values.memory {
            tools.push(Box::new(MemoryTool::new(room, inputs)));
        }
        if values.tool_chat_search {
            tools.push(Box::new(ChatSearch::new(room, inputs)));
        }
        if values.tool_lore {
            tools.extend(
                LoreTool::new(room, inputs)
                    .await?
                    .map(|tool| Box::new(tool) as Box<dyn BuiltIn>),
            );
        }
        if values.tool_documents {
            tools.extend(
                Documents::new(room, inputs)
                    .await?
                    .map(|tool| Box::new(tool) as Box<dyn BuiltIn>),
            );
        }
        if values.tool_table {
            tools.push(Box::new(Tables::new(&values.random_tables)));
        }
        if values.tool_mood {
            tools.push(Box::new(MoodTool::new(&values.emotion_labels, mood)));
        }
        if values.tool_scene {
            tools.extend(
                SceneTool::new(room, inputs)
                    .await?
                    .map(|tool| Box::new(tool) as Box<dyn BuiltIn>),
            );
        }
        Ok(Self { tools })
    }
}

impl ToolSource for BuiltIns {
    fn name(&self) -> &'static str {
        ""
    }

    fn tools(&self) -> BoxFuture<'_, Vec<SourceTool>> {
        Box::pin(async { self.tools.iter().map(|tool| tool.tool()).collect() })
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        _cancel: CancellationToken,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let Some(found) = self.tools.iter().find(|known| known.tool().name == tool) else {
                return ToolOutput::error("This tool is switched off.");
            };
            found
                .run(&arguments)
                .await
                .unwrap_or_else(|error| ToolOutput::error(error.to_string()))
        })
    }
}

/// Whether the results of a tool can be long.
pub(crate) fn can_be_long(tool: &str) -> bool {
    [chat_search::NAME, documents::NAME, lore::NAME, memory::NAME].contains(&tool)
}
