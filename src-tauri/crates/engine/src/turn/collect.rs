//! Collects a turn: its inputs, the lorebook entries they activate and the memories they recall.

use std::time::Instant;

use domain::chat::Chat;

use crate::api::TurnOptions;
use crate::base::clock::millis;
use crate::base::error::ApiResult;
use crate::base::step::TurnStep;
use crate::settings::model_handle::ModelHandle;
use crate::turn::activated::ActivatedTurn;
use crate::turn::handle::Turns;
use crate::turn::inputs::Aim;

impl Turns {
    /// Everything that the frame of a turn is built from.
    ///
    /// # Errors
    /// `NotFound` if the chat's character is gone; `BadInput` if a template of the turn's options is wrong.
    pub(crate) async fn collect(
        &self,
        chat: Chat,
        aim: Aim,
        answerer: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<ActivatedTurn> {
        let id = chat.id;
        let (inputs, ahead) = self.inputs(chat, aim, answerer, options).await?;
        TurnStep::Collect.done(id);
        let started = Instant::now();
        let head_at = inputs.snapshot.head_at().unwrap_or_else(|| inputs.answered_at(self.base().now()));
        let query = inputs.recall_query();
        let (memory, lore) =
            tokio::join!(self.recall_service().recall(&query, ahead), self.lore(&inputs, answerer, head_at));
        let lore = lore?;
        let mut turn = ActivatedTurn { inputs, lore, memory, task: None, activate_ms: millis(started) };
        TurnStep::Activate.done(id);
        if let Some(ask) = options.ask {
            turn.task = self.task(ask, &turn, answerer).await?;
        }
        Ok(turn)
    }
}
