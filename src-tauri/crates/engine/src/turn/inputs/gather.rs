//! Reads the inputs of a turn from the store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use context::frame::HistoryMessage;
use context::lore::Earlier;
use context::prompt_template::ResolvedTemplate;
use domain::chat::{Chat, Message, Picture, Role};
use domain::document::DocumentOwner;
use domain::settings::{PlacementMode, Values};
use domain::{MessageId, ToolRound};
use futures_util::future::BoxFuture;
use store::{ChatParticipants, MessageCount, StoreError, WindowMessage};
use uuid::Uuid;

use crate::api::{self, TurnOptions};
use crate::base::clock::millis;
use crate::base::error::ApiResult;
use crate::base::records::convert::Speakers;
use crate::library::groups::next_turns;
use crate::library::groups::presence::Knowledge;
use crate::library::groups::scene::Scene;
use crate::library::groups::turn_order::SpokenLine;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::recall_service::embeddings::turn_embedding::TurnEmbedding;
use crate::recall_service::facts::StandingFacts;
use crate::recall_service::recall::StartedRead;
use crate::settings::model_handles::handle::ModelHandle;
use crate::settings::model_handles::message_content;
use crate::settings::prompts::of_turn::TurnPrompts;
use crate::turn::inputs::history::{in_prompt, near};
use crate::turn::inputs::late_events::LateEvents;
use crate::turn::inputs::turn_inputs::{ReplyTo, TurnInputs};
use crate::turn::inputs::turn_kind::{greeting, is_spoken, kind, said_so_far, swipes};
use crate::turn::inputs::{Inputs, template_variables};
use crate::turn::previews::prompt_sections;

/// The inputs, and the reads for recall that have begun.
pub(crate) type Gathered<F, D> = (TurnInputs, (Option<F>, D));

/// Messages of the window, with other facts about the chat's messages.
pub(crate) struct ReadMessages {
    history: Vec<WindowMessage>,
    pictures: HashMap<MessageId, Vec<Picture>>,
    before: MessageCount,
    newest: Option<Message>,
    /// Number of the greeting that the chat began with, among those that are not blank.
    opening: Option<u32>,
}

impl ReadMessages {
    /// The messages of a new chat: its greeting, if the card has one.
    pub(crate) fn only(greeting: Option<WindowMessage>) -> Self {
        Self {
            opening: greeting.is_some().then_some(0),
            history: greeting.into_iter().collect(),
            pictures: HashMap::new(),
            before: MessageCount::default(),
            newest: None,
        }
    }

    /// The messages that a request brings along, with the pictures of each.
    pub(crate) fn given(
        history: Vec<WindowMessage>,
        pictures: HashMap<MessageId, Vec<Picture>>,
    ) -> Self {
        Self {
            opening: None,
            history,
            pictures,
            before: MessageCount::default(),
            newest: None,
        }
    }
}

impl Inputs {
    /// The inputs of a turn in a stored chat.
    pub(crate) async fn inputs(
        &self,
        mut snapshot: ChatSnapshot,
        reply_to: ReplyTo,
        model_handle: &ModelHandle,
        options: &TurnOptions,
    ) -> ApiResult<
        Gathered<
            impl StartedRead<StandingFacts> + use<>,
            impl StartedRead<Vec<DocumentOwner>> + use<>,
        >,
    > {
        let known = self.knowledge(&snapshot, &reply_to, options).await?;
        let chat = &mut snapshot.chat;
        if let Some(character) = known.window_of() {
            chat.window = self.library().groups.member_window(chat, character).await?;
        }
        // Another model or budget needs a new anchor. Only then may the anchor move back.
        if !chat
            .window
            .fingerprint
            .starts_with(&context::base(&model_handle.key, &model_handle.budget))
        {
            chat.window.anchor = None;
        }
        // Start this read now, so that it runs in parallel with the others.
        let read = self.read_messages(&snapshot.chat, &reply_to, model_handle.budget.limit, &known);
        self.inputs_with(
            (snapshot, known),
            reply_to,
            (model_handle, options),
            Box::pin(read),
        )
        .await
    }

    /// The inputs of a turn in a chat whose messages are `read`.
    pub(crate) async fn inputs_with(
        &self,
        (mut snapshot, known): (ChatSnapshot, Knowledge),
        reply_to: ReplyTo,
        (model_handle, options): (&ModelHandle, &TurnOptions),
        read: BoxFuture<'_, Result<ReadMessages, StoreError>>,
    ) -> ApiResult<
        Gathered<
            impl StartedRead<StandingFacts> + use<>,
            impl StartedRead<Vec<DocumentOwner>> + use<>,
        >,
    > {
        let started = Instant::now();
        let id = snapshot.chat.id;
        let values = values(model_handle, options);
        let mode = options.mode.as_ref().unwrap_or(&values.mode);
        let prompts = self
            .config()
            .prompts
            .of_turn(mode, &values.sampler_preset)
            .await?;
        self.take_back_shown(&mut snapshot, &reply_to).await?;
        let company = ChatParticipants {
            character: known.character(&snapshot.chat),
            chat: id,
            persona: snapshot.persona.id,
        };
        // Start the reads that do not depend on the messages.
        let bound = self.library().lorebooks.bound_in(company);
        let standing = self.recall_service().standing_facts(
            (&snapshot.chat, &known),
            snapshot.persona.id,
            &values,
        );
        let documents = self.library().documents.documents_in(company);
        let ReadMessages {
            history,
            mut pictures,
            before,
            newest,
            opening,
        } = read.await?;
        let (template, notice) = self
            .turn_template(options, &values, &snapshot.group, &prompts)
            .await?;
        let (history, open_rounds) = without_empty_reply(history, &reply_to);
        let spoken = is_spoken(&reply_to, newest.as_ref(), options.source);
        let late_events = LateEvents {
            vision: self.new_vision(id, values.vision),
            spoken,
        };
        let kind = kind(options.ask, &reply_to, history.last());
        let swipes = swipes(&reply_to, newest.as_ref());
        let position = history.last().map_or(0, |message| message.position)
            + i64::from(matches!(reply_to, ReplyTo::Draft(_)));
        let turn = known.speaker.clone();
        let turn = turn
            .unwrap_or_else(|| next_turn(&reply_to, newest.as_ref(), &history, &snapshot.group));
        let speaker = turn.name(snapshot.card.display_name()).to_owned();
        let speakers = snapshot.speakers();
        let replaced = reply_to.replaced();
        let (mut history, mut notes) = sent_messages(history, &speakers);
        if let ReplyTo::Draft(text) = reply_to {
            // The draft is empty once its text is sent.
            snapshot.chat.draft.clear();
            let draft = self.draft_message(&snapshot, text);
            pictures.insert(draft.id, options.pictures.clone());
            history.push(draft);
        }
        let tokens = self
            .library()
            .assets
            .picture_tokens(model_handle, &pictures)
            .await?;
        message_content::add_pictures(&mut history, &mut notes, &pictures, &tokens);
        let story = self.story(&snapshot.chat, &values, position).await?;
        let of_user = history
            .iter()
            .filter(|message| message.role == Role::User)
            .count() as i64;
        let mut inputs = TurnInputs {
            template,
            mode: prompts.mode,
            story,
            speakers,
            speaker,
            known,
            scripts: Arc::default(),
            kind,
            replaced,
            swipes,
            notes,
            open_rounds,
            bound: Vec::new(),
            embedding: TurnEmbedding::default(),
            history_tokens: model_handle
                .budget
                .history_cap
                .min(model_handle.budget.room()),
            earlier: Earlier {
                messages: before.all,
                of_character: before.of_character,
            },
            greeting: opening.and_then(|shown| greeting(&snapshot.card, shown)),
            user_messages: i64::from(before.of_user) + of_user,
            said: said_so_far(&history, position),
            late_events,
            client: options.client.clone(),
            in_passing: false,
            notices: notice
                .into_iter()
                .chain(prompts.notices)
                .chain(template_variables::unknown_details(&values))
                .collect(),
            withdrawals: model_handle.withdrawals,
            started,
            collect_ms: millis(started),
            snapshot,
            values,
            history,
        };
        self.rewrite(&mut inputs).await?;
        let unknown = inputs.unknown_in_messages();
        inputs.notices.extend(unknown);
        inputs.bound = bound.await?;
        Ok((inputs, (standing, documents)))
    }

    /// Another version of a reply begins where the shown one began: its changes to variables do not
    /// apply.
    async fn take_back_shown(
        &self,
        snapshot: &mut ChatSnapshot,
        reply_to: &ReplyTo,
    ) -> ApiResult<()> {
        let Some(reply) = reply_to.replaced() else {
            return Ok(());
        };
        let snapshots = &self.library().snapshots;
        let shown = snapshots.changes_of_shown(&snapshot.chat, reply).await?;
        shown.take_back(&mut snapshot.variables);
        Ok(())
    }

    /// A message that is not stored, for a preview.
    fn draft_message(&self, snapshot: &ChatSnapshot, text: String) -> HistoryMessage {
        let name = snapshot.persona.name.clone();
        HistoryMessage::new(
            MessageId(Uuid::nil()),
            Role::User,
            name,
            text,
            self.base().now(),
        )
    }

    /// Reads the messages from the anchor on that may fit into `limit` tokens. The read is queued
    /// at once.
    fn read_messages(
        &self,
        chat: &Chat,
        reply_to: &ReplyTo,
        limit: u32,
        known: &Knowledge,
    ) -> impl Future<Output = Result<ReadMessages, StoreError>> + Send + use<> {
        let goes_on = matches!(reply_to, ReplyTo::Last | ReplyTo::By(_));
        let id = chat.id;
        let anchor = chat.window.anchor;
        let until = reply_to.replaced();
        let missed = known.all_missed();
        self.base().store().read(move |store| {
            let messages = store.messages();
            let mut all = messages.from(id, anchor)?;
            all.retain(|message| !missed.contains(&message.id));
            let pictures = store
                .pictures()
                .from(id, all.first().map_or(0, |first| first.position))?;
            let history = near(all, &pictures, until, goes_on, limit);
            let before = history
                .first()
                .map(|first| messages.count_before(id, first.position))
                .transpose()?;
            let before = before.unwrap_or_default();
            let newest = messages.last(id)?;
            Ok(ReadMessages {
                history,
                pictures,
                before,
                newest,
                opening: messages.opening(id)?,
            })
        })
    }

    /// The template of the turn without the sections that the chat leaves out, with a notice if the
    /// chosen one does not exist.
    async fn turn_template(
        &self,
        options: &TurnOptions,
        values: &Values,
        group: &Scene,
        prompts: &TurnPrompts,
    ) -> ApiResult<(ResolvedTemplate, Option<String>)> {
        let (mut template, notice) = match &options.template_json {
            Some(json) => (self.config().prompts.written_template(json).await?, None),
            None => prompts.template(template_id(options, values, group))?,
        };
        // A template that is being edited is shown as it is written.
        if options.template_json.is_none() {
            template.leave_out(&prompt_sections::names(values));
        }
        Ok((template, notice))
    }

    /// Works like [`Self::turn_template`], with all sections.
    pub(crate) async fn whole_template(
        &self,
        options: &TurnOptions,
        values: &Values,
        group: &Scene,
    ) -> ApiResult<(ResolvedTemplate, Option<String>)> {
        let prompts = &self.config().prompts;
        match &options.template_json {
            Some(json) => Ok((prompts.written_template(json).await?, None)),
            None => prompts.template(template_id(options, values, group)).await,
        }
    }
}

/// The template that a turn names, or that its settings choose.
fn template_id<'v>(options: &'v TurnOptions, values: &'v Values, group: &Scene) -> &'v str {
    let named = options.template.as_ref().unwrap_or(&values.template);
    if named == "auto" && group.is_scene() {
        next_turns::TEMPLATE
    } else {
        named
    }
}

/// A reply that is to be continued but has no text yet: its rounds go on, and the message before it
/// is answered.
fn without_empty_reply(
    mut history: Vec<WindowMessage>,
    reply_to: &ReplyTo,
) -> (Vec<WindowMessage>, Vec<ToolRound>) {
    let only_rounds = |last: &mut WindowMessage| {
        *reply_to == ReplyTo::Last && last.text.trim().is_empty() && !last.tool_rounds.is_empty()
    };
    let rounds = history
        .pop_if(only_rounds)
        .map(|last| last.tool_rounds)
        .unwrap_or_default();
    (history, rounds)
}

/// Settings of the turn, with its own placement.
fn values(model_handle: &ModelHandle, options: &TurnOptions) -> Values {
    let mut values = model_handle.values.clone();
    if let Some(placement) = options.placement {
        values.placement = match placement {
            api::Placement::CacheFirst => PlacementMode::CacheFirst,
            api::Placement::Classic => PlacementMode::Classic,
        };
    }
    values
}

/// The speaker of the reply.
fn next_turn(
    reply_to: &ReplyTo,
    newest: Option<&Message>,
    history: &[WindowMessage],
    group: &Scene,
) -> crate::library::groups::scene::NextSpeaker {
    match (reply_to, newest) {
        (ReplyTo::Before(reply), Some(newest)) if newest.id == *reply => {
            group.who_said(*reply, newest.role)
        }
        _ => {
            let words = match reply_to {
                ReplyTo::Draft(text) => Some(SpokenLine {
                    id: MessageId(Uuid::nil()),
                    role: Role::User,
                    text,
                }),
                _ => None,
            };
            let next = group.next(
                words
                    .into_iter()
                    .chain(history.iter().rev().map(SpokenLine::from)),
            );
            next.unwrap_or_else(|| group.anyone())
        }
    }
}

/// The messages as the prompt sends them, and the notes on their tool calls.
fn sent_messages(
    history: Vec<WindowMessage>,
    speakers: &Speakers,
) -> (Vec<HistoryMessage>, HashMap<MessageId, String>) {
    let note = |message: &WindowMessage| {
        Some((message.id, message_content::asked_for(&message.tool_calls)?))
    };
    let notes = history.iter().filter_map(note).collect();
    (
        history
            .into_iter()
            .map(|message| in_prompt(message, speakers))
            .collect(),
        notes,
    )
}
