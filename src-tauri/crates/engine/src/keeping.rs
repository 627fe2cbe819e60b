//! What a reply leaves on the disk: its text while it grows and when it has ended, what was asked of tools, the plan of its
//! prompt and the manifest.

use std::time::Instant;

use context::frozen;
use domain::SwipeId;
use domain::chat::SwipeState;

use crate::Engine;
use crate::answer::Answerer;
use crate::api::{self, Changed, Figures};
use crate::collect::{Collected, Made};
use crate::error::Answer;
use crate::generation::{Draft, Job};
use crate::macro_variables;
use crate::manifest;
use crate::memory;
use crate::step::Step;
use crate::story;
use crate::words::Kept;

impl Engine {
    pub(crate) async fn checkpoint(&self, job: &Job, draft: &mut Draft, model: &str) -> Answer<()> {
        let (target, chat, now) = (job.target.clone(), job.chat.clone(), self.now());
        // As it ends: a text that is cut back to that would count as rewritten, and what was learned from it be lost.
        let text = draft.text.trim_end().to_owned();
        let (model, insert) = (model.to_owned(), !draft.inserted);
        self.store()
            .checkpoint(move |store| match insert {
                true => target.insert(store, &chat, &text, &model, now),
                false => store.swipes_mut().set_text(target.swipe(), &text, SwipeState::Streaming),
            })
            .await?;
        (draft.inserted, draft.dirty, draft.saved) = (true, false, Instant::now());
        Ok(())
    }

    /// A reply may be nothing else, and is kept then too.
    pub(crate) async fn keep_tool_calls(&self, job: &Job, draft: &mut Draft, model: &str) -> Answer<()> {
        if draft.tool_calls.len() == job.target.tool_calls().len() {
            return Ok(());
        }
        if !draft.inserted {
            self.checkpoint(job, draft, model).await?;
        }
        let (swipe, calls) = (job.target.swipe(), draft.tool_calls.clone());
        Ok(self.store().checkpoint(move |store| store.swipes_mut().set_tool_calls(swipe, &calls)).await?)
    }

    /// Before the model is called: the epoch, the context blocks frozen with their messages, and the variables as the turn's
    /// texts have set them. Where something was withdrawn from prompts meanwhile, what this one is made of is not kept, and the
    /// next turn begins anew; and what the model reads of it now is to be on no disk.
    pub(crate) async fn keep_plan(&self, collected: &Collected, made: &Made) -> Answer<()> {
        let chat = collected.chat.clone();
        let window = made.assembled.window.clone();
        let blocks = made.assembled.context_blocks.clone();
        let judged = made.assembled.judged.clone();
        let covers = collected.memory.covers.clone();
        let (covered, before) = (!covers.is_empty(), Kept::of(&chat));
        let kept = Kept {
            head_at: Some(made.head_at),
            timed: collected.lore.timed.clone(),
            variables: made.variables.local.clone(),
            head: made.head_changes.clone(),
            greetings: before.greetings.clone(),
        };
        let (variables_before, variables) = (collected.variables_before.clone(), made.variables.clone());
        let withdrawals = collected.withdrawals;
        let (id, drawn) = (chat.id, collected.story.drawn().to_vec());
        if !drawn.is_empty() {
            self.events().changed(Changed::Settings, Some(id.to_string()));
        }
        self.store()
            .checkpoint(move |store| {
                let undisturbed = store.memories().withdrawals()? == withdrawals;
                for (message, blocks) in blocks.iter().filter(|_| undisturbed) {
                    store.messages_mut().set_context_block(*message, Some(&frozen::write(blocks)))?;
                }
                for (message, importance) in judged.iter().filter(|_| undisturbed) {
                    store.messages_mut().set_importance(*message, Some(*importance))?;
                }
                memory::keep_covers(store, &covers)?;
                if kept != before {
                    store.chats_mut().set_variables(chat.id, &kept.to_json())?;
                }
                story::keep(store, id, &drawn)?;
                macro_variables::keep_global(store, &variables_before, &variables)?;
                if undisturbed {
                    store.chats_mut().set_window(chat.id, &window)
                } else {
                    store.stale_caches_mut().note(id)
                }
            })
            .await?;
        if covered {
            self.events().changed(Changed::Memories, Some(collected.chat.character.to_string()));
        }
        Step::Freeze.done(id);
        Ok(())
    }

    pub(crate) async fn keep_manifest(
        &self,
        job: &Job,
        draft: &Draft,
        collected: &Collected,
        made: &Made,
        answerer: &Answerer,
    ) -> Answer<()> {
        self.record(job.target.swipe(), &draft.figures, collected, made, answerer).await
    }

    /// Keeps what was sent for `swipe`.
    pub(crate) async fn record(
        &self,
        swipe: SwipeId,
        figures: &Figures,
        collected: &Collected,
        made: &Made,
        answerer: &Answerer,
    ) -> Answer<()> {
        let previous = self.turn_before(collected.chat.id, Some(swipe)).await?;
        let report = made.report(collected, answerer, previous.as_ref());
        let json = manifest::to_json(&report, previous.as_ref().map(|(kept, _)| kept));
        let figures = manifest::figures_json(figures);
        Ok(self.store().checkpoint(move |store| store.manifests_mut().insert(swipe, &json, &figures)).await?)
    }

    /// The last word on the reply's text. `None` if there never was any.
    pub(crate) async fn keep_reply(&self, job: &Job, draft: &Draft, state: SwipeState) -> Answer<Option<api::Message>> {
        if !draft.inserted {
            return Ok(None);
        }
        let (swipe, text) = (job.target.swipe(), draft.text.trim_end().to_owned());
        let text = self.stored_reply(&job.chat, job.target.base(), text).await?;
        self.store().write(move |store| store.swipes_mut().set_text(swipe, &text, state)).await?;
        Step::Keep.done(job.chat.id);
        self.shown_message(job.target.message()).await.map(Some)
    }
}
