//! Rolls dice.

use domain::dice::DiceFormula;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::base::error::ApiResult;
use crate::base::random::random_below;
use crate::base::tool_source::{SourceTool, ToolOutput};
use crate::turn::tools::built_in::tool::{BuiltIn, object, reading, text};

pub(super) struct Dice;

impl BuiltIn for Dice {
    fn tool(&self) -> SourceTool {
        let dice = json!({ "dice": { "type": "string", "description": "A formula such as 2d6+1, d20 or 4d6kh3." } });
        reading(
            "roll_dice",
            "Rolls dice and returns the result.",
            object(dice),
        )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, ApiResult<ToolOutput>> {
        Box::pin(async {
            let formula = text(arguments, "dice");
            Ok(match DiceFormula::parse(formula) {
                Some(dice) => ToolOutput::text(format!("{formula} = {}", dice.roll(random_below))),
                None => ToolOutput::error(
                    "That is no dice formula. Write one such as 2d6+1, d20 or 4d6kh3.",
                ),
            })
        })
    }
}
