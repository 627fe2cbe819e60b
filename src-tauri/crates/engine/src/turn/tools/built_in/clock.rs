//! Tells date and time.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::clock::Clock;
use crate::base::error::ApiResult;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::tools::Tools;
use crate::turn::tools::built_in::tool::{BuiltIn, reading};

pub(super) struct ClockTool {
    clock: Clock,
}

impl ClockTool {
    pub(super) fn new(room: &Tools) -> Self {
        Self {
            clock: room.base().clock().clone(),
        }
    }
}

impl BuiltIn for ClockTool {
    fn tool(&self) -> SourceTool {
        let nothing = json!({ "type": "object", "properties": {} });
        reading(
            "get_time",
            "Returns date and time on the user's clock.",
            nothing,
        )
    }

    fn run<'a>(&'a self, _: &'a Map<String, Value>) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async { Ok(ToolOutput::text(self.clock.spoken(self.clock.now()))) })
    }
}
