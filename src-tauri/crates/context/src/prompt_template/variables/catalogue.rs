//! The catalogue of all template variables and their inputs.

use crate::display::EPISODE_END;
use crate::prompt_template::variables::inputs::Inputs;
use crate::prompt_template::variables::{derive, perspective};

/// A variable that templates can use.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    pub(crate) description: &'static str,
    pub(crate) made: ValueSource,
}

/// The source of a value.
#[derive(Clone, Copy)]
pub(crate) enum ValueSource {
    /// Supplied by the engine; empty if not supplied.
    Given,
    GivenList,
    /// Used only by templates of earlier versions; always empty.
    Retired,
    /// Taken from the details of the chat, if present.
    Detail,
    DetailList,
    /// Another name for a variable, as used by the structured template form that ours is based on.
    Alias(&'static str),
    Derived {
        inputs: &'static [&'static str],
        make: fn(&Inputs<'_>) -> String,
    },
}

impl Definition {
    pub(crate) fn inputs(&self) -> &[&'static str] {
        match &self.made {
            ValueSource::Given
            | ValueSource::GivenList
            | ValueSource::Retired
            | ValueSource::Detail
            | ValueSource::DetailList => &[],
            ValueSource::Alias(of) => std::slice::from_ref(of),
            ValueSource::Derived { inputs, .. } => inputs,
        }
    }
}

const fn given(name: &'static str, group: &'static str, description: &'static str) -> Definition {
    Definition {
        name,
        group,
        description,
        made: ValueSource::Given,
    }
}

const fn list(name: &'static str, group: &'static str, description: &'static str) -> Definition {
    Definition {
        name,
        group,
        description,
        made: ValueSource::GivenList,
    }
}

const fn retired(name: &'static str) -> Definition {
    Definition {
        name,
        group: "",
        description: "",
        made: ValueSource::Retired,
    }
}

const fn detail(name: &'static str, group: &'static str, description: &'static str) -> Definition {
    Definition {
        name,
        group,
        description,
        made: ValueSource::Detail,
    }
}

const fn detail_list(
    name: &'static str,
    group: &'static str,
    description: &'static str,
) -> Definition {
    Definition {
        name,
        group,
        description,
        made: ValueSource::DetailList,
    }
}

const fn alias(name: &'static str, group: &'static str, of: &'static str) -> Definition {
    Definition {
        name,
        group,
        description: "",
        made: ValueSource::Alias(of),
    }
}

const fn derived(
    name: &'static str,
    group: &'static str,
    description: &'static str,
    inputs: &'static [&'static str],
    make: fn(&Inputs<'_>) -> String,
) -> Definition {
    Definition {
        name,
        group,
        description,
        made: ValueSource::Derived { inputs, make },
    }
}

/// The groups with their descriptions, in the order of the reference.
pub(crate) const GROUPS: &[(&str, &str)] = &[
    ("character", "The character who answers, from the card"),
    ("persona", "The persona that the user plays"),
    ("scene", "The current scene"),
    ("setting", "The world around the scene"),
    ("episode", "Planned episodes"),
    ("rating", "The content rating of the chat"),
    ("goal", "The steering goal"),
    (
        "perspective",
        "How the character writes, from the personality on the card",
    ),
    ("profile", "How well the two match"),
    ("interaction", "What the two are doing"),
    ("memory", "What was recalled for this turn"),
    ("user", "The user's question and documents"),
    (
        "lore",
        "Lorebook entries of the head: those that are always on, and all with `classic` placement",
    ),
    ("mode", "The conversation mode"),
    ("note", "The user's own instructions, notes and reminders"),
    ("group", "Participants of a group chat"),
    ("director", "For the director"),
    ("utility", "Input of a background job"),
];

#[rustfmt::skip]
pub(crate) const CATALOGUE: &[Definition] = &[
    given("character.name", "character", "The name the character goes by: the nickname, else the card's name"),
    derived("character.firstName", "character", "The first word of the name", &["character.name"],
        |of| derive::first_name(&of.text("character.name"))),
    derived("character.fullName", "character", "The whole name; the name unless the engine supplies another", &["character.name"],
        |of| of.text("character.name").into_owned()),
    given("character.description", "character", "The card's description"),
    derived("character.shortDescription", "character", "The first sentences of the description, at most 200 characters",
        &["character.description"], |of| derive::sentences(&of.text("character.description"), 200)),
    given("character.personality", "character", "The card's personality"),
    given("character.scenario", "character", "The card's scenario, or the chat's own"),
    given("character.examplesRaw", "character", "The card's example messages as written"),
    derived("character.examples", "character", "The example messages without their `<START>` marks", &["character.examplesRaw"],
        |of| derive::examples(&of.text("character.examplesRaw"))),
    given("character.systemPrompt", "character", "The instructions of the persona, else of the chat, else of the card; they replace the rules"),
    given("character.postHistory", "character", "The text of chat or card for the end of the prompt; replaces the section's own lines"),
    list("character.tags", "character", "The card's tags"),
    detail("character.gender", "character", "The character's gender, if known"),
    detail("character.age", "character", "The character's age, if known"),
    detail("character.race", "character", "The character's species or ethnicity, if known"),
    detail("character.pronouns", "character", "Such as `she/her/her`, if the gender does not imply them"),
    detail("character.speech", "character", "How the character speaks, if known"),
    detail("character.mood", "character", "How the character tends to feel, if known"),
    derived("character.about", "character", "Age and gender in words", &["character.age", "character.gender"],
        |of| derive::about(&of.text("character.age"), &of.text("character.gender"))),
    derived("character.they", "character", "she, he or they", &["character.gender", "character.pronouns"],
        |of| derive::pronouns(&of.text("character.pronouns"), &of.text("character.gender")).they),
    derived("character.They", "character", "She, He or They", &["character.they"],
        |of| derive::capital(&of.text("character.they"))),
    derived("character.their", "character", "her, his or their", &["character.gender", "character.pronouns"],
        |of| derive::pronouns(&of.text("character.pronouns"), &of.text("character.gender")).their),
    derived("firstSecondToBe", "character", "`I am` in the character's introduction, `You are` elsewhere", &[], |_| "You are".to_owned()),
    derived("firstSecondWho", "character", "Same as `firstSecondToBe`", &[], |_| "You are".to_owned()),
    alias("system.firstName", "character", "character.firstName"),
    alias("system.fullName", "character", "character.fullName"),
    alias("system.asg", "character", "character.about"),
    alias("system.race", "character", "character.race"),
    alias("system.gender", "character", "character.gender"),
    alias("system.ppro", "character", "character.their"),
    alias("system.cpro", "character", "character.They"),
    alias("system.characterDesc", "character", "character.description"),
    alias("system.characterDescLight", "character", "character.shortDescription"),
    alias("system.characterDescPublic", "character", "character.shortDescription"),

    given("persona.name", "persona", "The persona's name"),
    derived("persona.firstName", "persona", "The first word of the name", &["persona.name"],
        |of| derive::first_name(&of.text("persona.name"))),
    derived("persona.fullName", "persona", "The whole name; the name unless the engine supplies another", &["persona.name"],
        |of| of.text("persona.name").into_owned()),
    given("persona.description", "persona", "The persona's description"),
    detail("persona.gender", "persona", "The persona's gender, if known"),
    detail("persona.age", "persona", "The persona's age, if known"),
    detail("persona.race", "persona", "The persona's species or ethnicity, if known"),
    detail("persona.pronouns", "persona", "Such as `he/him/his`, if the gender does not imply them"),
    derived("persona.about", "persona", "Age and gender in words", &["persona.age", "persona.gender"],
        |of| derive::about(&of.text("persona.age"), &of.text("persona.gender"))),
    derived("persona.they", "persona", "she, he or they", &["persona.gender", "persona.pronouns"],
        |of| derive::pronouns(&of.text("persona.pronouns"), &of.text("persona.gender")).they),
    derived("persona.their", "persona", "her, his or their", &["persona.gender", "persona.pronouns"],
        |of| derive::pronouns(&of.text("persona.pronouns"), &of.text("persona.gender")).their),
    alias("user.firstName", "persona", "persona.firstName"),
    alias("user.fullName", "persona", "persona.fullName"),
    alias("user.asg", "persona", "persona.about"),
    alias("user.race", "persona", "persona.race"),
    alias("user.characterDesc", "persona", "persona.description"),
    alias("user.characterDescPublic", "persona", "persona.description"),

    given("scene", "scene", "The scene, as set in the chat or chosen once at random"),
    derived("scene.auto", "scene", "The scene, else a description of the setting",
        &["scene", "setting", "location.terrains", "population.people", "population.animals"], derive::scene),
    given("setting", "setting", "The setting, as set in the chat or chosen once at random"),
    detail("location.terrains", "setting", "The surrounding landscape"),
    detail("population.people", "setting", "People nearby"),
    detail("population.animals", "setting", "Animals nearby"),
    detail("event.alignment", "setting", "Whether events are good or bad"),

    list("episodes", "episode", "The themes of all episodes"),
    given("episode.theme", "episode", "The theme of the current episode"),
    list("episode.stages", "episode", "Its stages"),
    detail("episode.stage", "episode", "The current stage"),
    given("episode.summary", "episode", "The themes of earlier episodes"),
    derived("episode", "episode", "Theme, stages and earlier episodes",
        &["episode.theme", "episode.stages", "episode.stage", "episode.summary"], derive::episode),
    derived("episodeRule", "episode", "The rule to follow the stages and to mark the end", &["episode.theme"],
        |of| derive::if_any(&of.text("episode.theme"), |_| {
            format!("Follow the stages of the episode in their order. When the last one is done, end with {EPISODE_END}")
        })),
    derived("episodeReminder", "episode", "Theme and stage in one line", &["episode.theme", "episode.stage"], derive::episode_reminder),
    derived("episodic", "episode", "`episodic`, or empty", &["episode.theme"],
        |of| derive::if_any(&of.text("episode.theme"), |_| "episodic".to_owned())),
    derived("episodeAssist", "episode", "The character's own words on the episode", &["episode.theme"],
        |of| derive::if_any(&of.text("episode.theme"), |theme| format!("I know what this episode is about: {theme}."))),

    given("rating", "rating", "E, E10, T, M, AO or RC"),
    derived("ratingMpa", "rating", "The closest film rating", &["rating"], |of| derive::film_rating(&of.text("rating")).to_owned()),
    derived("rating.line", "rating", "One sentence on the rating", &["rating"], |of| derive::rating_line(&of.text("rating"))),
    alias("censorWarn", "rating", "rating.line"),
    alias("assistCensorWarn", "rating", "rating.line"),

    given("goal", "goal", "The direction for the story"),
    derived("nlp", "goal", "The goal as a rule", &["goal"],
        |of| derive::if_any(&of.text("goal"), |goal| format!("Gently steer the story towards this: {goal}"))),
    derived("nlpReminder", "goal", "The goal as a reminder", &["goal"],
        |of| derive::if_any(&of.text("goal"), |goal| format!("Keep in mind: {goal}"))),
    alias("nlp.command", "goal", "goal"),
    alias("nlpWarn", "goal", "nlpReminder"),

    derived("perspective.dynamic", "perspective", "A short list: personality, speech, mood", perspective::INPUTS, perspective::dynamic),
    derived("perspective.casual", "perspective", "One line for text messages", perspective::INPUTS, perspective::casual),
    derived("perspective", "perspective", "One plain sentence", perspective::INPUTS, perspective::plain),
    alias("perspective.plain", "perspective", "perspective"),
    derived("perspective.speech", "perspective", "How the character speaks: the detail, else as the personality suggests", perspective::INPUTS,
        perspective::speech),
    alias("system.speechPattern", "perspective", "perspective.speech"),
    alias("system.emotionalTendency", "perspective", "character.mood"),
    derived("perspective.summary", "perspective", "The first sentences of the personality, at most 200 characters", &["character.personality"],
        |of| derive::sentences(&of.text("character.personality"), 200)),
    alias("system.personality.summary", "perspective", "perspective.summary"),
    alias("system.personality.casual", "perspective", "perspective.casual"),

    detail("profile.ageCompat", "profile", "How well their ages match"),
    detail("profile.romanceCompat", "profile", "How well they match as a couple"),
    detail("profile.raceCompat", "profile", "How their peoples get along"),
    detail("profile.leader", "profile", "Which of them leads"),
    detail("interaction.description", "interaction", "What the two are doing"),

    given("memory.relationship", "memory", "Memories of the relationship"),
    given("memory.facts", "memory", "Facts"),
    given("memory.lastSession", "memory", "What happened last time"),
    given("memory.count", "memory", "Number of recalled memories"),
    derived("memory.context", "memory", "The three above, each under its heading",
        &["memory.relationship", "memory.facts", "memory.lastSession"], derive::memory),

    given("user.question", "user", "The message to answer"),
    given("user.citations", "user", "Passages of attached documents, with their sources"),

    given("lore.before", "lore", "Entries before the character; only available in a section of the kind `loreBefore`"),
    given("lore.after", "lore", "Entries after the character; only available in a section of the kind `loreAfter`"),

    given("mode", "mode", "The name of the mode"),
    given("mode.text", "mode", "The instructions of the mode"),

    given("extra", "note", "The user's extra instructions"),
    given("reminder.text", "note", "The user's own reminder"),
    derived("reminder", "note", "All reminders", &["episodeReminder", "nlpReminder", "reminder.text"],
        |of| derive::joined([of.text("episodeReminder"), of.text("nlpReminder"), of.text("reminder.text")])),

    list("group.members", "group", "The participating characters"),
    given("group.next", "group", "Who speaks next; `Narrator` for the narrator"),
    derived("group.others", "group", "The characters who do not speak next", &["group.members", "group.next"], derive::others),

    detail("command", "director", "What the session is meant to be"),
    detail_list("imageTags", "director", "Tags for requesting pictures"),

    given("transcript", "utility", "The part of the chat that a job works on; empty elsewhere"),
    given("summary.words", "utility", "Maximum number of words of a summary; empty elsewhere"),

    retired("postHistory"),
    retired("note"),
    retired("transcript.reply"),
    retired("summary.previous"),
];
