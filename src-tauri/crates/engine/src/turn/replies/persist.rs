//! Stores the results of a reply: its text while it grows and at the end, tool calls, the plan of
//! its prompt, and the manifest.

use std::collections::BTreeMap;
use std::time::Instant;

use context::frozen;
use context::macros::MacroState;
use domain::SwipeId;
use domain::chat::SwipeState;
use domain::settings::PromptKeeping;
use store::WriteTransaction;

use crate::api::{self, Changed, Figures};
use crate::base::error::ApiResult;
use crate::base::step::TurnStep;
use crate::library::chats::manifest;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_variables;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::inputs::story;
use crate::turn::replies::ReplyStore;
use crate::turn::replies::draft::ReplyDraft;
use crate::turn::replies::generate::ReplyJob;

impl ReplyStore {
    pub(crate) async fn checkpoint(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
    ) -> ApiResult<()> {
        let target = job.target.clone();
        let chat = job.chat.clone();
        let now = self.base().now();
        // Trim the text as at the end. A later trim would count as an edit and discard what was
        // learned from the text.
        let text = draft.text.trim_end().to_owned();
        let model = model.to_owned();
        let insert = !draft.inserted;
        self.base()
            .store()
            .checkpoint(move |store| {
                if insert {
                    target.insert(store, &chat, &text, &model, now)
                } else {
                    store
                        .swipes_mut()
                        .set_text(target.swipe(), &text, SwipeState::Streaming)
                }
            })
            .await?;
        (draft.inserted, draft.dirty, draft.saved) = (true, false, Instant::now());
        Ok(())
    }

    /// Stores the tool calls, also of a reply without text.
    pub(crate) async fn keep_tool_calls(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
    ) -> ApiResult<()> {
        if draft.tool_calls.len() == job.target.tool_calls().len() {
            return Ok(());
        }
        if !draft.inserted {
            self.checkpoint(job, draft, model).await?;
        }
        let swipe = job.target.swipe();
        let calls = draft.tool_calls.clone();
        Ok(self
            .base()
            .store()
            .checkpoint(move |store| store.swipes_mut().set_tool_calls(swipe, &calls))
            .await?)
    }

    /// Stores the epoch, the context blocks frozen with their messages, and the macro variables,
    /// before the model is called. If text was retracted meanwhile, the blocks and the window are
    /// not stored, so the next turn starts a new epoch. The model's saved cache of this prompt is
    /// then marked stale.
    pub(crate) async fn keep_plan(
        &self,
        turn: &ActivatedTurn,
        made: &BuiltPrompt,
    ) -> ApiResult<()> {
        let chat = turn.inputs.snapshot.chat.clone();
        let window = made.assembled.window.clone();
        let blocks = turn.lasting(&made.assembled.context_blocks);
        let judged = made.assembled.judged.clone();
        let covers = turn.memory.covers.clone();
        let covered = !covers.is_empty();
        let before = StoredMacroState::of(&chat);
        let kept = StoredMacroState {
            head_at: Some(made.head_at),
            timed: turn.lore.timed.clone(),
            variables: made.variables.local.clone(),
            head: made.head_changes.clone(),
            greetings: before.greetings.clone(),
        };
        let member = turn.inputs.known.window_of();
        // The time of the head and the timed effects of lore belong to the window of the chat.
        let kept = match member {
            Some(_) => StoredMacroState {
                head_at: before.head_at,
                timed: before.timed.clone(),
                head: before.head.clone(),
                ..kept
            },
            None => kept,
        };
        let mut kept = kept;
        if let Some(reply) = turn.inputs.replaced {
            // The turn saw the variables without the version that is still shown.
            let shown = self
                .library()
                .snapshots
                .changes_of_shown(&chat, reply)
                .await?;
            let mut state = MacroState {
                local: kept.variables,
                global: BTreeMap::new(),
            };
            shown.put_back(&mut state);
            kept.variables = state.local;
        }
        let variables_before = turn.inputs.snapshot.variables.clone();
        let variables = made.variables.clone();
        let withdrawals = turn.inputs.withdrawals;
        let id = chat.id;
        let drawn = turn.inputs.story.drawn().to_vec();
        if !drawn.is_empty() {
            self.base()
                .events()
                .changed(Changed::Settings, Some(id.to_string()));
        }
        self.base()
            .store()
            .checkpoint(move |store| {
                let undisturbed = store.memories().retraction_count()? == withdrawals;
                for (message, blocks) in blocks.iter().filter(|_| undisturbed) {
                    store
                        .messages_mut()
                        .set_context_block(*message, Some(&frozen::write(blocks)))?;
                }
                for (message, importance) in judged.iter().filter(|_| undisturbed) {
                    store
                        .messages_mut()
                        .set_importance(*message, Some(*importance))?;
                }
                crate::recall_service::messages::keyframes::keep(store, &covers)?;
                if kept != before {
                    store.chats_mut().set_variables(chat.id, &kept.to_json())?;
                }
                story::keep(store, id, &drawn)?;
                macro_variables::keep_global(store, &variables_before, &variables)?;
                match member {
                    _ if !undisturbed => store.stale_caches_mut().mark(id),
                    Some(character) => store.groups_mut().set_window(id, character, &window),
                    None => store.chats_mut().set_window(id, &window),
                }
            })
            .await?;
        self.inputs.keep_late_events(id, &turn.inputs.late_events);
        if covered {
            self.base().events().changed(
                Changed::Memories,
                Some(turn.inputs.snapshot.chat.character.to_string()),
            );
        }
        TurnStep::Freeze.done(id);
        Ok(())
    }

    pub(crate) async fn keep_manifest(
        &self,
        job: &ReplyJob,
        draft: &ReplyDraft,
        turn: &ActivatedTurn,
        made: &BuiltPrompt,
        model_handle: &ModelHandle,
    ) -> ApiResult<()> {
        self.record(job.target.swipe(), &draft.figures, turn, made, model_handle)
            .await
    }

    /// Stores the manifest of what was sent for `swipe`. If no prompts are to be kept, stores only
    /// its figures.
    pub(crate) async fn record(
        &self,
        swipe: SwipeId,
        figures: &Figures,
        turn: &ActivatedTurn,
        made: &BuiltPrompt,
        model_handle: &ModelHandle,
    ) -> ApiResult<()> {
        let json = match model_handle.values.keep_prompts {
            PromptKeeping::Nothing => String::new(),
            PromptKeeping::All | PromptKeeping::Month => {
                self.manifest_json(swipe, turn, made, model_handle).await?
            }
        };
        let figures = manifest::figures_json(figures);
        let global = self.library().config().privacy.global_settings();
        let insert = move |store: &mut WriteTransaction<'_>| {
            // The setting may have changed since the turn began.
            let json = match global.values(store)?.keep_prompts {
                PromptKeeping::Nothing => "",
                PromptKeeping::All | PromptKeeping::Month => json.as_str(),
            };
            store.manifests_mut().insert(swipe, json, &figures)
        };
        Ok(self.base().store().checkpoint(insert).await?)
    }

    async fn manifest_json(
        &self,
        swipe: SwipeId,
        turn: &ActivatedTurn,
        made: &BuiltPrompt,
        model_handle: &ModelHandle,
    ) -> ApiResult<String> {
        let previous = self
            .library()
            .chats
            .turn_before(turn.inputs.snapshot.chat.id, Some(swipe))
            .await?;
        let report = made.report(turn, model_handle, previous.as_ref());
        Ok(manifest::to_json(
            &report,
            previous.as_ref().map(|(kept, _)| kept),
        ))
    }

    /// Stores the final text of the reply. `None` if there never was any text.
    pub(crate) async fn keep_reply(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        state: SwipeState,
    ) -> ApiResult<Option<api::Message>> {
        if !draft.inserted {
            return Ok(None);
        }
        let swipe = job.target.swipe();
        let text = draft.text.trim_end().to_owned();
        let chat = job.chat.id;
        let (text, variables) = self
            .library()
            .scripts
            .stored_reply((chat, job.target.message()), job.target.base(), text)
            .await?;
        let emotion = self.emotion_of(job, draft).await?;
        let tokens = std::mem::take(&mut draft.tokens);
        let stored = text.clone();
        self.base()
            .store()
            .write(move |store| {
                store.swipes_mut().set_text(swipe, &text, state)?;
                macro_variables::keep_of_version(store, chat, swipe, variables)?;
                emotion.map_or(Ok(()), |emotion| {
                    store.swipes_mut().set_emotion(swipe, &emotion)
                })
            })
            .await?;
        self.keep_choices(swipe, &stored, tokens).await?;
        TurnStep::Keep.done(job.chat.id);
        self.library()
            .chats
            .shown_message(job.target.message())
            .await
            .map(Some)
    }
}
