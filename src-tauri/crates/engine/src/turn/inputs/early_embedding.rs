//! Embeds a new message before its turn needs the embedding, while the message is still being
//! stored. A message that was typed was embedded as a draft; others come from programs or are
//! pasted.

use context::regex_script::{Channel, ScriptContext};
use domain::chat::Chat;
use domain::regex_script::ScriptTarget;
use recall::{hints, question};
use store::EmbeddingGroup;

use crate::base::error::{ApiResult, without_content};
use crate::base::panics;
use crate::library::scripts::run::ScriptRun;
use crate::library::snapshots::macro_scope::MacroMoment;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::recall_service::handle::RecallService;
use crate::turn::inputs::Inputs;

/// A new message of the user, before any other message.
const NEWEST: ScriptContext = ScriptContext {
    placement: ScriptTarget::UserInput,
    channel: Channel::Prompt,
    depth: Some(0),
    edited: false,
};

impl Inputs {
    /// Embeds the user's message `text` in the background, if its turn will search for it. The turn
    /// waits for this embedding if it asks for the same words, and makes its own for other words.
    pub(crate) fn embed_early(&self, snapshot: &ChatSnapshot, text: &str) {
        let reading = self.recall_service().reading();
        let Some(encoder) = reading.encoder() else {
            return;
        };
        let words = || self.early_words(snapshot, text);
        let Some(words) = panics::or_plain("the words of a new message", words, || None) else {
            return;
        };
        if reading.lately().of(&words, encoder.model()).is_some() {
            return;
        }
        let recall = self.recall_service().clone();
        let chat = snapshot.chat.clone();
        let at_work = self.base().idle().at_work();
        tokio::spawn(async move {
            if let Err(error) = embed(&recall, &chat, &words).await {
                tracing::info!(
                    error = without_content(&error),
                    "a new message was not embedded before its turn"
                );
            }
            drop(recall);
            drop(at_work);
        });
    }

    /// The words that recall will embed for `text`. `None` if it will embed nothing, or if the
    /// words also depend on the speaker or on the message before.
    fn early_words(&self, snapshot: &ChatSnapshot, text: &str) -> Option<String> {
        if snapshot.group.is_scene() {
            return None;
        }
        let names = snapshot.macro_names();
        let mut state = snapshot.variables.clone();
        let scripts = self.library().scripts.scripts_in(snapshot, &state);
        let sent = ScriptRun::new(&scripts, &names, MacroMoment::default())
            .apply(text, NEWEST, &mut state)
            .text;
        let near = self.recall_service().reading().near();
        let is_embedded = question::asks(&sent) || near.knows_some(&[EmbeddingGroup::Memories]);
        let user = snapshot.persona.name.as_str();
        let character = [snapshot.card.name(), snapshot.card.display_name()];
        (is_embedded && !hints::leans_back(&sent, user, character))
            .then(|| hints::plain(&[sent.as_str()], user, character))
    }
}

async fn embed(recall: &RecallService, chat: &Chat, words: &str) -> ApiResult<()> {
    let Some(encoder) = recall.reading().encoder() else {
        return Ok(());
    };
    let settings = recall
        .config()
        .setting_layers
        .resolved(chat, None, None)
        .await?;
    if settings.values.memory {
        let _asking = recall.reading().ask();
        recall.understand(&encoder, words).await?;
    }
    Ok(())
}
