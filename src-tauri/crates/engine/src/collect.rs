//! What a turn is made of, gathered from the store; and the prompt made of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use context::frame::HistoryMessage;
use context::lore::{Earlier, GenerationKind};
use context::macros::MacroState;
use context::prompt_template::{Mode, ResolvedTemplate};
use context::{AssembleError, Assembled, Setup, Watermark, assemble};
use domain::card::Card;
use domain::chat::{Chat, Message, Picture, Role};
use domain::overrides::Overrides;
use domain::persona::Persona;
use domain::settings::{Placement, Values};
use domain::{MessageId, Timestamp};
use store::{BoundLorebook, Company, MessageCount, WindowMessage};
use uuid::Uuid;

use crate::Engine;
use crate::answer::Answerer;
use crate::api::{self, Ask, AssemblyTimings};
use crate::chat_texts::ChatCard;
use crate::content;
use crate::convert::{self, Speakers};
use crate::counting::Counter;
use crate::error::Answer;
use crate::frame::{self, Built};
use crate::group::{self, Group, Line};
use crate::history::{in_prompt, near};
use crate::lore::Lore;
use crate::macro_variables::Changes;
use crate::memory::{Asked, Recalled};
use crate::report::refusal;
use crate::scripts::Scripts;
use crate::step::Step;
use crate::story::Story;
use crate::tasks::Task;
use crate::turn::TurnOptions;
use crate::variables;
use crate::words::{Kept, Words};

/// Told where the promise of an append-only prompt cannot be kept (design, section 4).
const RE_READS: &str = "This model's chat format writes earlier messages differently once they are answered, so the model reads \
                        part of the prompt again on every turn.";

/// What the reply answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The last message of the chat.
    Last,
    /// The message before the reply that gets another swipe.
    Before(MessageId),
    /// Words that are not in the chat: a preview.
    Words(String),
}

/// Everything one turn needs from the store.
pub(crate) struct Collected {
    pub(crate) chat: Chat,
    /// With what the chat says instead.
    pub(crate) card: Arc<Card>,
    /// Changes with the card of the character.
    pub(crate) card_hash: u64,
    pub(crate) own_texts: Overrides,
    pub(crate) persona: Persona,
    pub(crate) values: Values,
    pub(crate) template: ResolvedTemplate,
    pub(crate) mode: Mode,
    pub(crate) story: Story,
    pub(crate) group: Group,
    pub(crate) speakers: Speakers,
    /// Whose reply it is.
    speaker: String,
    pub(crate) scripts: Arc<Scripts>,
    /// Before the turn.
    pub(crate) variables_before: MacroState,
    /// How the reply comes to be.
    pub(crate) kind: GenerationKind,
    /// The reply in whose place another is written: what was learned from it is not known yet.
    pub(crate) replaced: Option<MessageId>,
    /// How many swipes the chat's last message has, and which is shown or being written, from 1.
    pub(crate) swipes: (u64, u64),
    pub(crate) history: Vec<HistoryMessage>,
    /// What the prompt says behind the words of a message, of what is no words.
    pub(crate) notes: HashMap<MessageId, String>,
    /// The books that count in the chat.
    pub(crate) bound: Vec<BoundLorebook>,
    pub(crate) lore: Lore,
    pub(crate) memory: Recalled,
    /// The question as it is understood, once something asked for it.
    pub(crate) asked: Asked,
    /// What is in the chat before the history.
    pub(crate) earlier: Earlier,
    /// Which of the card's greetings the chat began with: 0 the first message, then the alternates.
    pub(crate) greeting: Option<u32>,
    /// Messages of the user in the chat.
    pub(crate) user_messages: i64,
    /// See [`said_so_far`].
    pub(crate) said: (i64, i64),
    /// What a job beside the chat asks for, behind everything that was said.
    pub(crate) task: Option<Task>,
    /// Nobody asked for a prompt yet.
    pub(crate) in_passing: bool,
    pub(crate) notices: Vec<String>,
    /// What had been withdrawn from prompts before anything was read.
    pub(crate) withdrawals: i64,
    timings: AssemblyTimings,
    started: Instant,
}

/// The messages of a chat before a turn.
struct Past {
    history: Vec<WindowMessage>,
    pictures: HashMap<MessageId, Vec<Picture>>,
    /// The messages before `history`.
    before: MessageCount,
    newest: Option<Message>,
    /// The swipe of the greeting that is shown.
    opening: Option<u32>,
}

/// A prompt, how it came to be and how long that took.
pub(crate) struct Made {
    pub(crate) assembled: Assembled,
    /// The time that the macros in the head and the chat template tell.
    pub(crate) head_at: Timestamp,
    pub(crate) placement: api::Placement,
    pub(crate) notices: Vec<String>,
    /// The variables after the turn's texts, and what those of the head made of them.
    pub(crate) variables: MacroState,
    pub(crate) head_changes: Changes,
    pub(crate) timings: AssemblyTimings,
}

impl Collected {
    /// The time that the head tells in the epoch that is under way.
    pub(crate) fn head_at(&self) -> Option<Timestamp> {
        Kept::of(&self.chat).head_at
    }

    /// When what is answered was said; `now` where nothing was.
    pub(crate) fn answered_at(&self, now: Timestamp) -> Timestamp {
        self.history.last().map_or(now, |message| message.created)
    }

    /// Whom its texts talk of.
    pub(crate) fn words(&self) -> Words<'_> {
        Words::new(&self.card, &self.persona, self.chat.id).among(&self.group)
    }

    /// Whose reply it is, as it would name itself.
    pub(crate) fn speaker(&self) -> &str {
        &self.speaker
    }
}

/// Blank greetings are no swipes, but they are counted in the card.
fn greeting(card: &Card, shown: u32) -> Option<u32> {
    let all = std::iter::once(card.first_mes()).chain(card.alternate_greetings()).zip(0..);
    all.filter(|(greeting, _)| !greeting.trim().is_empty()).nth(shown as usize).map(|(_, index)| index)
}

impl Engine {
    pub(crate) async fn collect(
        &self,
        mut chat: Chat,
        aim: Aim,
        answerer: &Answerer,
        options: &TurnOptions,
    ) -> Answer<Collected> {
        // Another model or budget finds its own anchor: it may move back then, and only then.
        if !chat.window.fingerprint.starts_with(&context::base(&answerer.key, &answerer.budget)) {
            chat.window.anchor = None;
        }
        let (id, anchor, limit) = (chat.id, chat.window.anchor, answerer.budget.limit);
        let (until, goes_on) = match &aim {
            Aim::Before(reply) => (Some(*reply), false),
            Aim::Last => (None, true),
            Aim::Words(_) => (None, false),
        };
        // Queued now, so that it is read beside the rest.
        let read = self.store().read(move |store| {
            let messages = store.messages();
            let all = messages.from(id, anchor)?;
            let pictures = store.pictures().from(id, all.first().map_or(0, |first| first.position))?;
            let history = near(all, &pictures, until, goes_on, limit);
            let before = history.first().map(|first| messages.count_before(id, first.position)).transpose()?;
            let (before, newest) = (before.unwrap_or_default(), messages.last(id)?);
            Ok(Past { history, pictures, before, newest, opening: messages.opening(id)? })
        });
        let read = async { Ok(read.await?) };
        self.collect_with(chat, aim, until, answerer, options, read).await
    }

    /// [`Engine::collect`] for a chat that is not stored and that begins with `greeting`.
    pub(crate) async fn collect_first(
        &self,
        chat: Chat,
        greeting: Option<WindowMessage>,
        text: String,
        answerer: &Answerer,
        options: &TurnOptions,
    ) -> Answer<Collected> {
        let opening = greeting.is_some().then_some(0);
        let history = greeting.into_iter().collect();
        let past = Past { history, pictures: HashMap::new(), before: MessageCount::default(), newest: None, opening };
        let aim = Aim::Words(text);
        self.collect_with(chat, aim, None, answerer, options, std::future::ready(Ok(past))).await
    }

    async fn collect_with(
        &self,
        mut chat: Chat,
        aim: Aim,
        until: Option<MessageId>,
        answerer: &Answerer,
        options: &TurnOptions,
        read: impl Future<Output = Answer<Past>>,
    ) -> Answer<Collected> {
        let (started, id) = (Instant::now(), chat.id);
        let own_scripts = self.own_scripts();
        let mut values = answerer.values.clone();
        if let Some(placement) = options.placement {
            values.placement = match placement {
                api::Placement::CacheFirst => Placement::CacheFirst,
                api::Placement::Classic => Placement::Classic,
            };
        }
        let mode = self.mode(options.mode.as_ref().unwrap_or(&values.mode));
        let (ChatCard { card, hash: card_hash, own: own_texts }, persona, group, mode, variables) = tokio::try_join!(
            self.chat_card(&chat),
            self.persona_in(&chat),
            self.group(&chat),
            mode,
            self.macro_state(&chat),
        )?;
        let company = Company { character: chat.character, chat: id, persona: persona.id };
        // What counts whatever is said is read while the rest is gathered.
        let bound = self.bound_in(company);
        let ahead = (self.standing_facts(&chat, persona.id, &values), self.documents_in(company));
        let Past { history, mut pictures, before, newest, opening } = read.await?;
        let (template, notice) = match &options.template_json {
            Some(json) => (self.written_template(json).await?, None),
            None => {
                let named = options.template.as_ref().unwrap_or(&values.template);
                self.template(if named == "auto" && group.is_scene() { group::TEMPLATE } else { named }).await?
            }
        };
        let earlier = Earlier { messages: before.all, of_character: before.of_character };
        let kind = match options.ask {
            Some(Ask::Impersonate) => GenerationKind::Impersonate,
            // As the turns around it, or its head would be another one.
            Some(Ask::Title) => GenerationKind::Normal,
            Some(Ask::Continue) | None => kind(&aim, history.last()),
        };
        let swipes = swipes(&aim, newest.as_ref());
        let position = history.last().map_or(0, |message| message.position) + i64::from(matches!(aim, Aim::Words(_)));
        let turn = match (&aim, &newest) {
            (Aim::Before(reply), Some(newest)) if newest.id == *reply => group.who_said(*reply, newest.role),
            _ => {
                let words = match &aim {
                    Aim::Words(text) => Some(Line { id: MessageId(Uuid::nil()), role: Role::User, text }),
                    _ => None,
                };
                group.next(words.into_iter().chain(history.iter().rev().map(Line::from)))
            }
        };
        let speaker = turn.name(card.spoken_name()).to_owned();
        let speakers = Speakers {
            character: card.spoken_name().to_owned(),
            persona: persona.name.clone(),
            others: group.speakers().clone(),
        };
        let note = |message: &WindowMessage| Some((message.id, content::asked_for(&message.tool_calls)?));
        let mut notes: HashMap<MessageId, String> = history.iter().filter_map(note).collect();
        let mut history: Vec<HistoryMessage> =
            history.into_iter().map(|message| in_prompt(message, &speakers)).collect();
        if let Aim::Words(text) = aim {
            // As it is once they are sent.
            chat.draft.clear();
            let id = MessageId(Uuid::nil());
            history.push(HistoryMessage::new(id, Role::User, persona.name.clone(), text, self.now()));
            pictures.insert(id, options.pictures.iter().map(convert::stored_picture).collect());
        }
        content::add_pictures(&mut history, &mut notes, &pictures, answerer);
        let story = self.story(&chat, &values, position).await?;
        let notice_of_details = variables::unknown_details(&values);
        let of_user = history.iter().filter(|message| message.role == Role::User).count() as i64;
        let said = said_so_far(&history, position);
        let greeting = opening.and_then(|shown| greeting(&card, shown));
        let mut collected = Collected {
            chat,
            card,
            card_hash,
            own_texts,
            persona,
            values,
            template,
            mode,
            story,
            group,
            speakers,
            speaker,
            variables_before: variables,
            scripts: Arc::default(),
            kind,
            replaced: until,
            swipes,
            history,
            notes,
            bound: Vec::new(),
            lore: Lore::default(),
            memory: Recalled::default(),
            asked: Asked::default(),
            earlier,
            greeting,
            user_messages: i64::from(before.of_user) + of_user,
            said,
            task: None,
            in_passing: false,
            notices: notice.into_iter().chain(notice_of_details).collect(),
            withdrawals: answerer.withdrawals,
            timings: AssemblyTimings { collect_ms: millis(started), ..AssemblyTimings::default() },
            started,
        };
        self.rewrite(&mut collected, own_scripts.await?).await?;
        let unknown = collected.unknown_in_messages();
        collected.notices.extend(unknown);
        Step::Collect.done(id);
        let started = Instant::now();
        collected.bound = bound.await?;
        let head_at = collected.head_at().unwrap_or_else(|| collected.answered_at(self.now()));
        let (memory, lore) =
            tokio::join!(self.recall(&collected, answerer, ahead), self.lore(&collected, answerer, head_at));
        (collected.memory, collected.lore) = (memory, lore?);
        let unread = collected.asked.notice().map(str::to_owned);
        collected.notices.extend(collected.memory.notices.iter().cloned().chain(unread));
        collected.timings.activate_ms = millis(started);
        Step::Activate.done(id);
        if let Some(ask) = options.ask {
            collected.task = self.task(ask, &collected, answerer).await?;
        }
        Ok(collected)
    }

    /// Makes the prompt, whatever leaves the window with it.
    pub(crate) async fn make_as_is(
        &self,
        collected: &mut Collected,
        answerer: &Answerer,
        options: &TurnOptions,
    ) -> Answer<Made> {
        let now = collected.answered_at(self.now());
        let head_at = collected.head_at().unwrap_or(now);
        let built = frame::build(collected, answerer, self.clock(), head_at)?;
        Step::Frame.done(collected.chat.id);
        let tells_time = built.volatile || answerer.template.as_ref().is_some_and(|template| template.tells_time());
        let made = self.plan(collected, answerer, options, built, head_at).await?;
        Step::Plan.done(collected.chat.id);
        let began = made.assembled.new_epoch;
        if !tells_time || began.is_none() || head_at == now {
            return Ok(made);
        }
        // The prefix is new anyway, so head and chat template may tell the time anew. That is not why it is new.
        collected.lore = self.lore(collected, answerer, now).await?;
        let built = frame::build(collected, answerer, self.clock(), now)?;
        let mut made = self.plan(collected, answerer, options, built, now).await?;
        made.assembled.new_epoch = began;
        Ok(made)
    }

    async fn plan(
        &self,
        collected: &Collected,
        answerer: &Answerer,
        options: &TurnOptions,
        mut built: Built,
        head_at: Timestamp,
    ) -> Answer<Made> {
        let mut stop = std::mem::take(&mut built.stop);
        let of_format = answerer.template.iter().flat_map(|template| template.stop_strings());
        stop.extend(of_format.filter(|text| !text.trim().is_empty()).cloned());
        let stop: Vec<String> = stop.iter().map(|text| context::unix_lines(text).into_owned()).collect();
        let template = answerer.template.as_ref().map(|template| template.at(self.clock().civil(head_at)));
        let re_reads = template.as_ref().filter(|template| !template.append_only()).map(|_| RE_READS.to_owned());
        let setup = Setup {
            template: template.as_ref(),
            model: &answerer.key,
            budget: answerer.budget,
            placement: placement(collected),
            retention: retention(&collected.values),
            watermark: Watermark::Off,
            without: &options.without,
            stop: &stop,
        };
        let mut window = Cow::Borrowed(&collected.chat.window);
        if !options.without.is_empty() {
            context::leave_out(&mut built.frame, window.to_mut(), &options.without);
        }
        let mut timings = collected.timings;
        let mut counter = Counter::new(self, answerer).in_passing(collected.in_passing);
        loop {
            let started = Instant::now();
            let result = assemble(&built.frame, &setup, &window, &counter);
            timings.plan_ms += millis(started);
            match result {
                Ok(mut assembled) => {
                    counter.finish();
                    assembled.blocks.extend(collected.lore.left_out.iter().cloned());
                    let of_lore = collected.lore.notices.iter().cloned();
                    let notices = collected.notices.iter().cloned().chain(of_lore).chain(built.notices);
                    let notices = notices.chain(re_reads).chain(answerer.note.clone()).collect();
                    let Built { variables, head_changes, .. } = built;
                    timings.total_ms = millis(collected.started);
                    let placement = shown(setup.placement);
                    return Ok(Made { assembled, head_at, placement, notices, variables, head_changes, timings });
                }
                Err(AssembleError::Uncounted(segments)) => {
                    let started = Instant::now();
                    counter.learn(segments).await?;
                    timings.count_ms += millis(started);
                    timings.counted = counter.counted;
                }
                Err(error) => return Err(refusal(error, collected)),
            }
        }
    }
}

/// Without words of the user to answer, a reply goes on.
fn kind(aim: &Aim, last: Option<&WindowMessage>) -> GenerationKind {
    match aim {
        Aim::Before(_) => GenerationKind::Swipe,
        Aim::Last if last.is_some_and(|last| last.role == Role::Character) => GenerationKind::Continue,
        Aim::Last | Aim::Words(_) => GenerationKind::Normal,
    }
}

fn swipes(aim: &Aim, newest: Option<&Message>) -> (u64, u64) {
    let of_newest = newest.map(|message| (message.swipes.len() as u64, u64::from(message.selected) + 1));
    match (aim, of_newest) {
        (Aim::Words(_), _) | (_, None) => (1, 1),
        (Aim::Before(_), Some((all, _))) => (all, all + 1),
        (Aim::Last, Some(swipes)) => swipes,
    }
}

/// How many messages there are up to the user's last words, and how many of them since those before. `history` ends at
/// `position` of its chat.
fn said_so_far(history: &[HistoryMessage], position: i64) -> (i64, i64) {
    let mut of_user = history.iter().rev().zip(0_i64..).filter(|(message, _)| message.role == Role::User);
    let Some((_, behind)) = of_user.next() else { return (position + 1, 1) };
    let before = of_user.next().map_or(history.len() as i64, |(_, behind)| behind);
    (position + 1 - behind, before - behind)
}

/// Where lore and notes stand this turn.
pub(crate) fn placement(collected: &Collected) -> context::Placement {
    match collected.values.placement {
        Placement::CacheFirst => context::Placement::CacheFirst,
        Placement::Classic => context::Placement::Classic,
    }
}

fn shown(placement: context::Placement) -> api::Placement {
    match placement {
        context::Placement::CacheFirst => api::Placement::CacheFirst,
        context::Placement::Classic => api::Placement::Classic,
    }
}

fn retention(values: &Values) -> context::Retention {
    use domain::settings::ContextRetention;
    match values.context_retention {
        ContextRetention::AppendOnly => context::Retention::AppendOnly,
        ContextRetention::Ephemeral => context::Retention::Ephemeral,
    }
}

pub(crate) fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
