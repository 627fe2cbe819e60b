//! Texts that are typed: regex scripts and macros, before they are stored.

use context::macros::MacroState;
use context::regex_script::ScriptContext;
use domain::ChatId;
use domain::chat::{Chat, Message};
use domain::regex_script::ScriptTarget;

use crate::base::error::ApiResult;
use crate::library::scripts::on_messages::SAID;
use crate::library::scripts::run::ScriptRun;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::turn::inputs::Inputs;

/// Whether the macros of a text are expanded.
#[derive(Debug, Clone, Copy)]
enum Expansion {
    Macros,
    None,
}

impl Inputs {
    /// Converts `text` to what is stored: applies the regex scripts for `placement`, then expands
    /// the macros. Unknown macros stay as text.
    pub(crate) async fn resolve(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        placement: ScriptTarget,
        state: &mut MacroState,
    ) -> ApiResult<String> {
        self.rewritten(snapshot, text, (placement, Expansion::Macros), state)
            .await
    }

    /// Works like [`Self::resolve`] for a user's message, but macros stay as text.
    pub(crate) async fn scripted(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        state: &mut MacroState,
    ) -> ApiResult<String> {
        self.rewritten(
            snapshot,
            text,
            (ScriptTarget::UserInput, Expansion::None),
            state,
        )
        .await
    }

    async fn rewritten(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        (placement, expansion): (ScriptTarget, Expansion),
        state: &mut MacroState,
    ) -> ApiResult<String> {
        let chat = &snapshot.chat;
        let words = snapshot.macro_names();
        let end = self.chat_end(chat).await?;
        let moment = end.moment(chat, self.base().clock(), self.base().now());
        let scripts = self.library().scripts.scripts_in(snapshot, state);
        let typed = ScriptContext { placement, ..SAID };
        let text = ScriptRun::new(&scripts, &words, moment)
            .apply(&text, typed, state)
            .text;
        Ok(match expansion {
            Expansion::Macros => words.expand(&text, &moment, state).text,
            Expansion::None => text,
        })
    }

    /// Loads the chat and its last message, unless that is hidden. Reads in the writer thread,
    /// after all pending writes.
    pub(crate) async fn chat_and_last(&self, id: ChatId) -> ApiResult<(Chat, Option<Message>)> {
        let last = self
            .base()
            .store()
            .checkpoint(move |store| store.messages().last(id))
            .await?;
        // The model cannot see a hidden message, so it must not answer or rewrite it.
        Ok((
            self.library().chat_lookup.chat(id).await?,
            last.filter(|last| !last.hidden),
        ))
    }
}
