//! Collects a turn: its inputs, the lorebook entries they activate and the memories they recall.

use std::collections::HashSet;
use std::future;
use std::time::Instant;

use domain::ToolRound;
use domain::chat::Chat;
use domain::document::DocumentOwner;
use store::WindowMessage;

use crate::api::TurnOptions;
use crate::base::clock::millis;
use crate::base::error::ApiResult;
use crate::base::step::TurnStep;
use crate::library::groups::presence::Knowledge;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::recall_service::facts::StandingFacts;
use crate::recall_service::recall::StartedRead;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::Assembly;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::inputs::gather::{Gathered, ReadMessages};
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::tools::turn_tools::TurnTools;

impl Assembly {
    /// Everything that the frame of a turn is built from.
    ///
    /// # Errors
    /// `NotFound` if the chat's character is gone; `BadInput` if a template of the turn's options
    /// is wrong.
    pub(crate) async fn collect(
        &self,
        chat: Chat,
        reply_to: ReplyTo,
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<ActivatedTurn> {
        let snapshot = self.library().snapshots.snapshot(chat).await?;
        self.collect_from(snapshot, reply_to, (model_handle, options))
            .await
    }

    /// [`Self::collect`] for a chat that is already read.
    pub(crate) async fn collect_from(
        &self,
        snapshot: ChatSnapshot,
        reply_to: ReplyTo,
        (model_handle, options): (&ModelHandle, &TurnOptions),
    ) -> ApiResult<ActivatedTurn> {
        let gathered = self
            .inputs
            .inputs(snapshot, reply_to, model_handle, options)
            .await?;
        self.activate(gathered, model_handle, options).await
    }

    /// [`Self::collect`] for a chat that is not stored: its snapshot, its greeting and the user's
    /// first message.
    pub(crate) async fn collect_first(
        &self,
        (snapshot, greeting, text): (ChatSnapshot, Option<WindowMessage>, String),
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<ActivatedTurn> {
        let past = future::ready(Ok(ReadMessages::only(greeting)));
        let known = Knowledge::alone(&snapshot.chat, HashSet::new(), false);
        let gathered = self
            .inputs
            .inputs_with(
                (snapshot, known),
                ReplyTo::Draft(text),
                (model_handle, options),
                Box::pin(past),
            )
            .await?;
        self.activate(gathered, model_handle, options).await
    }

    /// [`Self::collect`] for a conversation that is not stored, `past`, with the character of
    /// `chat`. `open` are the tool rounds of the reply that is being written.
    pub(crate) async fn collect_given(
        &self,
        chat: Chat,
        (past, open): (ReadMessages, Vec<ToolRound>),
        (model_handle, options): (&ModelHandle, &TurnOptions),
    ) -> ApiResult<ActivatedTurn> {
        let snapshot = self.library().snapshots.snapshot(chat).await?;
        let known = self
            .inputs
            .knowledge(&snapshot, &ReplyTo::Last, options)
            .await?;
        let read = Box::pin(future::ready(Ok(past)));
        let mut gathered = self
            .inputs
            .inputs_with(
                (snapshot, known),
                ReplyTo::Last,
                (model_handle, options),
                read,
            )
            .await?;
        gathered.0.open_rounds.extend(open);
        self.activate(gathered, model_handle, options).await
    }

    async fn activate(
        &self,
        (inputs, ahead): Gathered<
            impl StartedRead<StandingFacts>,
            impl StartedRead<Vec<DocumentOwner>>,
        >,
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<ActivatedTurn> {
        let id = inputs.snapshot.chat.id;
        TurnStep::Collect.done(id);
        let started = Instant::now();
        let head_at = inputs
            .snapshot
            .head_at()
            .unwrap_or_else(|| inputs.answered_at(self.base().now()));
        let query = inputs.recall_query();
        let (memory, lore) = tokio::join!(
            self.recall_service().recall(&query, ahead),
            self.lore_activation.lore(&inputs, model_handle, head_at)
        );
        let lore = lore?;
        let mut turn = ActivatedTurn {
            inputs,
            lore,
            memory,
            task: None,
            tools: TurnTools::default(),
            activate_ms: millis(started),
        };
        TurnStep::Activate.done(id);
        if let Some(ask) = options.ask {
            turn.task = self.task(ask, &turn, model_handle).await?;
        } else if let Some(hint) = &options.hint {
            turn.task = Some(self.hint(hint, &turn, model_handle));
        }
        turn.tools = self.tools.offer_tools(&turn, model_handle).await?;
        Ok(turn)
    }
}
