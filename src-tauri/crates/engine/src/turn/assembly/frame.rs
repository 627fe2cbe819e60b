//! Builds the frame of a turn: all candidate blocks, with the macros of this card, persona and chat
//! expanded.

use context::frame::{
    Candidate, Frame, HeadPart, InsertionPoint, LoreSection, Placed, PromptTime, USUAL_ORDER,
    differing_source_text,
};
use context::lore::GenerationKind;
use context::macros::{Expanded, MacroState};
use context::plan::PlannedBlock;
use context::prompt_template::{
    self, Composed, ComposedSection, Heading, ResolvedTemplate, SectionKind, SectionPlacement,
    TemplateFlags,
};
use domain::Timestamp;
use domain::prompt::PromptRole;

use crate::base::clock::Clock;
use crate::base::error::{ApiResult, bad_input};
use crate::library::snapshots::macro_changes::VariableChanges;
use crate::library::snapshots::macro_scope::{self, MacroMoment, MacroNames};
use crate::settings::model_handles::handle::ModelHandle;
use crate::settings::model_handles::message_content;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::frame_sources::{kind, place_of, reason, role, written};
use crate::turn::assembly::persona_place;
use crate::turn::inputs::{late_events, template_variables};
use crate::turn::lore::activation::Lore;

/// A frame, and by-products of building it.
pub(crate) struct Built {
    pub(crate) frame: Frame,
    /// Stop strings.
    pub(crate) stop: Vec<String>,
    /// Whether a macro in the head depends on the time or on another changing value.
    pub(crate) volatile: bool,
    pub(crate) notices: Vec<String>,
    /// Macro variables after all texts, and the changes that the head's texts made.
    pub(crate) variables: MacroState,
    pub(crate) head_changes: VariableChanges,
    /// The template's sections, in order.
    pub(crate) sections: Vec<FrameSection>,
    /// Notes that this turn does not include.
    pub(crate) left_out: Vec<PlannedBlock>,
}

/// A section of the template with its expanded text.
pub(crate) struct FrameSection {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The text before macro expansion, from the template or from the text that overrides it.
    pub(crate) written: String,
}

/// Builds the frame. Macros in the head use the time `head_at`, the start of the epoch, for which
/// the lore was also read.
///
/// # Errors
/// `BadInput` if the template names something unknown. An incomplete prompt is never sent.
pub(crate) fn build(
    turn: &ActivatedTurn,
    model_handle: &ModelHandle,
    clock: &Clock,
    head_at: Timestamp,
) -> ApiResult<Built> {
    let mut composed = compose(turn, &turn.inputs.template)?;
    persona_place::apply(&mut composed.sections, turn.inputs.snapshot.persona.place);
    let mut builder = Builder::new(turn, model_handle, clock, head_at);
    for section in &composed.sections {
        builder.section(section);
    }
    builder.emotion_tags();
    builder.tool_instructions();
    builder.client_instructions();
    builder.depth_prompt();
    builder.speaker_texts();
    builder.notes();
    let stop = stop_texts(&mut builder, &composed.stop);
    // A task is no reply, and a program that uses the local API begins its replies itself.
    let begins = turn.task.is_none() && turn.inputs.client.is_none();
    let reply_start = if begins {
        builder.expand_now(&turn.inputs.values.reply_start)
    } else {
        String::new()
    };
    let headings: Vec<(&Heading, String)> = composed
        .headings
        .iter()
        .map(|heading| (heading, builder.say_now(&heading.text)))
        .collect();
    let mut built = builder.finish(stop);
    let snapshot = &turn.inputs.snapshot;
    let labelled = |message| snapshot.group.labelled(message, &snapshot.persona.name);
    built.frame.history = turn.inputs.history.iter().map(labelled).collect();
    if has_private_blocks(turn, &built.frame)
        && let Some(input) = built.frame.history.last_mut()
    {
        input.context = None;
    }
    for message in &mut built.frame.history {
        if let Some(note) = turn.inputs.notes.get(&message.id) {
            message_content::append(message, note);
        }
    }
    built.frame.tools = turn.tools.frame.clone();
    built.frame.placed.extend(turn.lore.placed.iter().cloned());
    built.frame.without_lore = composed
        .without_lore
        .iter()
        .filter_map(|kind| place_of(*kind))
        .collect();
    let recalled = |candidates: &[Candidate]| -> Vec<Candidate> {
        let wanted = candidates
            .iter()
            .filter(|candidate| composed.recalls.have_place(candidate.kind));
        let heading = |kind| {
            headings
                .iter()
                .find_map(|(heading, text)| heading.of(kind, text))
                .unwrap_or_default()
        };
        wanted
            .map(|candidate| candidate.clone().headed(&heading(candidate.kind)))
            .collect()
    };
    built.frame.digest.extend(recalled(&turn.memory.digest));
    built.frame.context.extend(recalled(&turn.memory.context));
    if turn.task.is_none() {
        let events =
            late_events::candidates(&turn.inputs.late_events, &turn.inputs.snapshot.persona.name);
        built.frame.context.extend(events);
    }
    let last = turn.inputs.history.last();
    let told = last.filter(|_| turn.inputs.values.tell_time);
    built.frame.clock = told.map(|message| PromptTime {
        at: message.created,
        words: clock.spoken(message.created),
    });
    built.frame.reply_start = reply_start;
    if let Some(task) = &turn.task {
        task.put(
            &mut built.frame,
            last.map_or(head_at, |message| message.created),
        );
        built.notices.extend_from_slice(&task.notices);
    }
    Ok(built)
}

/// Texts that end the reply: those of the template and of the settings, and the names of all others
/// in a group scene. The name of the writer ends no reply, because many models begin with it on a
/// line of its own.
fn stop_texts(builder: &mut Builder<'_>, of_template: &[String]) -> Vec<String> {
    let turn = builder.turn;
    let inputs = &turn.inputs;
    let persona = &inputs.snapshot.persona.name;
    let writer = match inputs.kind {
        GenerationKind::Impersonate => persona,
        _ => &inputs.speaker,
    };
    let own_line = format!("\n{writer}:");
    let is_own_name = |text: &String| inputs.speaker != *persona && *text == own_line;
    let mut stop: Vec<String> = of_template
        .iter()
        .map(|text| builder.expand_now(text))
        .filter(|text| !is_own_name(text))
        .collect();
    let own = domain::sampling::texts(&inputs.values.stop_strings);
    stop.extend(
        own.map(|text| builder.expand_now(&text))
            .filter(|text| !text.trim().is_empty()),
    );
    let names = inputs.snapshot.group.stops(persona);
    stop.extend(
        names
            .into_iter()
            .filter(|text| !of_template.contains(text) && !is_own_name(text)),
    );
    stop
}

/// Whether a block was sent for one turn only. Another version of the reply finds it again.
fn has_private_blocks(turn: &ActivatedTurn, frame: &Frame) -> bool {
    let placed = frame.placed.iter().chain(&turn.lore.placed);
    let blocks = placed.map(|placed| &placed.candidate);
    turn.memory
        .context
        .iter()
        .chain(blocks)
        .any(|block| turn.is_private(&block.source))
}

/// Expands a utility template for a turn. The result has sections and notices, but no frame.
///
/// # Errors
/// `BadInput` if the template names something unknown.
pub(crate) fn task(
    turn: &ActivatedTurn,
    model_handle: &ModelHandle,
    clock: &Clock,
    template: &ResolvedTemplate,
    now: Timestamp,
) -> ApiResult<Built> {
    let composed = compose(turn, template)?;
    let mut builder = Builder::new(turn, model_handle, clock, now);
    for section in &composed.sections {
        builder.say(section);
    }
    Ok(builder.built)
}

/// Fills `template` with this turn's variables. Macros are not expanded yet.
fn compose(turn: &ActivatedTurn, template: &ResolvedTemplate) -> ApiResult<Composed> {
    let variables = template_variables::of(turn)?;
    let switches = template_variables::switches(&turn.inputs);
    let composed = prompt_template::compose(
        template,
        &variables,
        &TemplateFlags::of(&variables, &switches),
    );
    composed.map_err(|error| {
        bad_input(
            format!("The template \"{}\" fails: {error}.", template.name),
            "Correct it, or choose another one.",
        )
    })
}

pub(super) struct Builder<'a> {
    pub(super) turn: &'a ActivatedTurn,
    head_names: MacroNames<'a>,
    pub(super) words: MacroNames<'a>,
    head: MacroMoment<'a>,
    pub(super) now: MacroMoment<'a>,
    pub(super) state: MacroState,
    pub(super) built: Built,
}

impl<'a> Builder<'a> {
    fn new(
        turn: &'a ActivatedTurn,
        model_handle: &'a ModelHandle,
        clock: &Clock,
        head_at: Timestamp,
    ) -> Self {
        let model = model_handle.facts();
        let outlets = Some(&turn.lore.outlets);
        Self {
            turn,
            head_names: turn.inputs.head_names(),
            words: turn.inputs.speaker_names(),
            head: MacroMoment {
                model,
                outlets,
                ..turn.inputs.beginning(clock, head_at)
            },
            now: MacroMoment {
                model,
                outlets,
                ..turn.inputs.now(clock)
            },
            state: turn.lore.variables.clone(),
            built: Built {
                frame: Frame::default(),
                stop: Vec::new(),
                volatile: turn.lore.volatile,
                notices: Vec::new(),
                variables: MacroState::default(),
                head_changes: turn.lore.head_changes.clone(),
                sections: Vec::new(),
                left_out: Vec::new(),
            },
        }
    }

    fn section(&mut self, section: &ComposedSection) {
        match (section.placement, section.kind) {
            // Memories and documents become separate blocks, each with its source and score.
            (_, SectionKind::Memory | SectionKind::Citations) => {}
            (_, SectionKind::LoreBefore | SectionKind::LoreAfter) => self.lore(section),
            (SectionPlacement::Head, _) => self.head_part(section),
            (SectionPlacement::AfterHistory, _) if !self.classic() => self.head_part(section),
            (SectionPlacement::AfterHistory, _) => self.placed(section, 0),
            (SectionPlacement::InChat, _) => self.placed(section, section.depth),
            (SectionPlacement::Context, _) => {
                let candidate = self.candidate(section);
                if !candidate.text.is_empty() {
                    self.built.frame.context.push(candidate);
                }
            }
        }
    }

    fn classic(&self) -> bool {
        self.turn.inputs.values.placement == domain::settings::PlacementMode::Classic
    }

    /// Lorebook entries become separate blocks, each with its source. The section sets only their
    /// place and the text around them.
    fn lore(&mut self, section: &ComposedSection) {
        let text = self.spoken(section, true);
        let Some((place, before, after)) = Lore::apart(&text) else {
            return self.head_text(section, text);
        };
        let taken = self
            .built
            .frame
            .lore
            .iter()
            .any(|section| section.place == place);
        if taken
            || !matches!(
                section.placement,
                SectionPlacement::Head | SectionPlacement::AfterHistory
            )
        {
            return;
        }
        let entries = self.turn.lore.shown(place, self.classic());
        self.keep_section(section, format!("{before}{entries}{after}"));
        let at = self.built.frame.head.len();
        self.built.frame.lore.push(LoreSection {
            place,
            at,
            before,
            after,
        });
    }

    fn head_part(&mut self, section: &ComposedSection) {
        let text = self.spoken(section, true);
        self.head_text(section, text);
    }

    fn head_text(&mut self, section: &ComposedSection, text: String) {
        if text.is_empty() {
            return;
        }
        self.keep_section(section, text.clone());
        let kind = kind(section.kind);
        let source = self.source(section);
        let role = role(section.role);
        let written = differing_source_text(written(section, &source), &text);
        self.built.frame.head.push(HeadPart {
            kind,
            source,
            reasons: reason(kind).into(),
            role,
            text,
            written,
        });
    }

    fn placed(&mut self, section: &ComposedSection, depth: u32) {
        let candidate = self.candidate(section);
        let injection_order = section.injection_order.unwrap_or(USUAL_ORDER);
        self.place(candidate, (depth, injection_order), role(section.role));
    }

    fn candidate(&mut self, section: &ComposedSection) -> Candidate {
        let kind = kind(section.kind);
        let source = self.source(section);
        let text = self.say(section);
        let written = written(section, &source);
        Candidate::new(kind, source, reason(kind), text).with_source_text(written)
    }

    fn keep_section(&mut self, section: &ComposedSection, text: String) {
        let name = section.name.clone();
        let written = written(section, &self.source(section)).to_owned();
        self.built.sections.push(FrameSection {
            name,
            text,
            written,
        });
    }

    pub(super) fn place(
        &mut self,
        candidate: Candidate,
        (depth, injection_order): (u32, i32),
        role: PromptRole,
    ) {
        if !candidate.text.is_empty() {
            let place = InsertionPoint::Depth(depth);
            let placed = Placed {
                candidate,
                place,
                role,
                order: USUAL_ORDER,
                injection_order,
                constant: true,
            };
            self.built.frame.placed.push(placed);
        }
    }

    fn say(&mut self, section: &ComposedSection) -> String {
        let text = self.spoken(section, false);
        if !text.is_empty() {
            self.keep_section(section, text.clone());
        }
        text
    }

    fn spoken(&mut self, section: &ComposedSection, in_head: bool) -> String {
        let (words, moment) = if in_head {
            (&self.head_names, self.head)
        } else {
            (&self.words, self.now)
        };
        let text = self.turn.inputs.text_of_section(section);
        let original = section.original.as_deref();
        let before = in_head.then(|| self.state.clone());
        let expanded = words.expand_over(&text, original, &moment, &mut self.state);
        if let Some(before) = before {
            self.built.volatile |= expanded.volatile;
            self.built.head_changes.record(&before, &self.state);
        }
        self.noticed(expanded, &section.name)
    }

    /// Does not trim the text: a stop string may start with a line break.
    fn expand_now(&mut self, text: &str) -> String {
        self.words.expand(text, &self.now, &mut self.state).text
    }

    pub(super) fn say_now(&mut self, text: &str) -> String {
        let expanded = self.words.expand(text, &self.now, &mut self.state);
        self.noticed(expanded, "notes")
    }

    pub(super) fn noticed(&mut self, expanded: Expanded, place: &str) -> String {
        self.built
            .notices
            .extend(macro_scope::notices(place, &expanded));
        expanded.text.trim().to_owned()
    }

    fn finish(self, stop: Vec<String>) -> Built {
        Built {
            stop,
            variables: self.state,
            ..self.built
        }
    }
}
