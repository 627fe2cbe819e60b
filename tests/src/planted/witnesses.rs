//! Group F in group scenes: a character knows only what it witnessed. What is told while one is
//! away reaches no prompt of that character; what it is told later does.

use engine::scenario::{
    Chat, Informed, Lorebook, Noted, Presence, Rewritten, ScenarioEntry, Set, Step, Turn,
};

use super::{BUDGET, Expectation, ExpectedRecall, PlanBuilder};

/// The pair whose chats are the scenes, and the guest of the scenes.
const HOST: usize = 0;
const GUEST: usize = 2;
/// Messages that push everything before them out of the window.
const TALK: usize = 40;
const LEAK: &str = "F told while one was away";
const KNOWN: &str = "F told to those present";

/// One chat of the host with the guest.
struct Scene<'b> {
    builder: &'b mut PlanBuilder,
    host: &'static str,
    guest: &'static str,
    chat: &'static str,
}

/// Plants the scenes. Their words are chosen by hand, so that other plans stay unchanged.
pub(super) fn plant(builder: &mut PlanBuilder) {
    in_the_window(builder);
    told_again_when_back(builder);
    let_know(builder);
    left_the_window(builder);
    asked_to_remember(builder);
    in_summaries(builder);
    triggers_lore(builder);
    lore_of_one(builder);
    before_one_joined(builder);
    while_one_had_left(builder);
    in_another_scene(builder);
    in_another_swipe(builder);
    changed_meanwhile(builder);
    repeated_meanwhile(builder);
    private_memory(builder);
    shared_from_another_scene(builder);
}

fn in_the_window(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "window");
    scene.while_away("the miller hides his coins under the Qorvanth tree");
    scene.guest_lacks("Where does the miller hide his coins?", &["Qorvanth"]);
    scene.host_has("Where does the miller hide his coins?", &["Qorvanth"]);
    scene.narrator_has("Where does the miller hide his coins?", &["Qorvanth"]);
}

fn told_again_when_back(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "told again");
    scene.while_away("the ferry sinks at the Ilbrezza rocks");
    scene.guest_lacks("Where does the ferry sink?", &["Ilbrezza"]);
    scene.says("By the way, the ferry sinks at the Ilbrezza rocks.");
    scene.guest_has("Where does the ferry sink?", &["Ilbrezza"]);
}

fn let_know(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "let know");
    scene.while_away("the abbot keeps a fox called Tarquellow");
    scene.guest_lacks("What is the fox of the abbot called?", &["Tarquellow"]);
    let (pair, chat, character) = scene.place();
    scene.builder.then(Step::Inform(Informed {
        pair,
        chat,
        character,
    }));
    scene.guest_has("What is the fox of the abbot called?", &["Tarquellow"]);
}

/// Facts that left the window are recalled from older messages.
fn left_the_window(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "older messages");
    scene.while_away("the cooper's wedding is at the Zephrandel chapel");
    scene.talk();
    scene.guest_lacks("Where is the cooper's wedding?", &["Zephrandel"]);
    scene.host_has("Where is the cooper's wedding?", &["Zephrandel"]);
}

fn asked_to_remember(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "command");
    scene.away(true);
    scene.says("Remember that the password of the cellar is Vombrisk.");
    scene.away(false);
    scene.talk();
    scene.guest_lacks("What is the password of the cellar?", &["Vombrisk"]);
    scene.host_has("What is the password of the cellar?", &["Vombrisk"]);
}

/// A small window leaves summaries behind, which turns store.
fn in_summaries(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "summaries");
    scene.away(true);
    scene.says("The glassblower was arrested at the Hessumar gate, and nobody knows why he was there at all.");
    scene.replies("At the Hessumar gate? Poor man, he only ever wanted to sell his bottles.");
    scene.away(false);
    scene.talk();
    for turn in [
        "Mathilde, and the weather?",
        "Yevgenia, and the harvest?",
        "Mathilde, and the roads?",
    ] {
        scene.turn(turn, "It could be worse, I think.");
    }
    scene.guest_lacks("Let us go on.", &["Hessumar"]);
    scene.guest_lacks("Where was the glassblower arrested?", &["Hessumar"]);
    scene.host_has("Where was the glassblower arrested?", &["Hessumar"]);
}

fn triggers_lore(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "lore");
    scene.lorebook(
        true,
        "Stones",
        "opal",
        "An opal from the Drindlemoor mine brings bad luck.",
    );
    scene.scans(8);
    scene.while_away("the widow wears an opal");
    scene.guest_lacks("Let us go on.", &["Drindlemoor"]);
    scene.host_has("Let us go on.", &["Drindlemoor"]);
}

fn lore_of_one(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "own lore");
    scene.lorebook(
        false,
        "Mathilde's own",
        "lantern",
        "Mathilde's lantern was stolen from Captain Ulvareth.",
    );
    scene.says("That lantern is beautiful.");
    scene.turn("Mathilde, is the lantern yours?", "It is now.");
    scene.guest_lacks("Is the lantern hers?", &["Ulvareth"]);
    scene.host_has("Is the lantern yours?", &["Ulvareth"]);
}

fn before_one_joined(builder: &mut PlanBuilder) {
    let mut scene = Scene::with(builder, "newcomer", &[OTHER]);
    scene.says("The organ of the church is called the Pellowick.");
    scene.members(&[OTHER, scene.guest]);
    scene.guest_lacks("What is the organ called?", &["Pellowick"]);
    scene.host_has("What is the organ called?", &["Pellowick"]);
}

fn while_one_had_left(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "returned");
    scene.says("The bridge is called the Ommerling.");
    scene.members(&[OTHER]);
    scene.says("The tunnel below the bridge is called the Szarvane.");
    scene.members(&[OTHER, scene.guest]);
    scene.guest_lacks("What is the tunnel below the bridge called?", &["Szarvane"]);
    scene.guest_has("What is the bridge called?", &["Ommerling"]);
    scene.host_has("What is the tunnel below the bridge called?", &["Szarvane"]);
}

/// A scene recalls nothing from another one, not even for those who were there.
fn in_another_scene(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "first of two");
    scene.while_away("the baker sings at the Krellondine");
    let mut scene = Scene::open(builder, "second of two");
    scene.says("Good evening, both.");
    scene.guest_lacks("Where does the baker sing?", &["Krellondine"]);
}

fn in_another_swipe(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "swipe");
    scene.away(true);
    scene.says("Where did the tinker go?");
    let id = "witness-swipe";
    scene
        .builder
        .then_said(HOST, scene.chat, "character", "I forgot.", Some(id));
    let text = "He went to the Fennimarsh fair.".to_owned();
    scene.builder.then(Step::Swipe(Rewritten {
        message: id.into(),
        text,
    }));
    scene.away(false);
    scene.guest_lacks("Where did the tinker go?", &["Fennimarsh"]);
    scene.host_has("Where did the tinker go?", &["Fennimarsh"]);
}

/// The guest still believes the older value, and does not learn that it has changed.
fn changed_meanwhile(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "changed");
    scene.says("Remember that I live in Brackholm.");
    scene.away(true);
    scene.says("Remember that I now live in Wexeldorn.");
    scene.away(false);
    scene.talk();
    scene.builder.then(Step::Consolidate);
    scene.guest_lacks("Where do I live?", &["Wexeldorn", "not so now"]);
    scene.guest_has("Where do I live?", &["Brackholm"]);
    scene.host_has("Where do I live?", &["Wexeldorn"]);
}

/// The guest keeps the memory that a newer one repeats.
fn repeated_meanwhile(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "repeated");
    scene.says("Remember that my horse is called Jessamund.");
    scene.away(true);
    scene.says("Remember that my horse is called Jessamund.");
    scene.away(false);
    scene.talk();
    scene.builder.then(Step::Consolidate);
    scene.guest_has("What is my horse called?", &["Jessamund"]);
}

/// A memory of one character stays out of what the scene shares, also after the turn that needed
/// it.
fn private_memory(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "private");
    let text = "Mathilde buried the golden spoon at Corrinthwaite.".to_owned();
    let pair = scene.builder.pair(HOST);
    scene.builder.then(Step::Remember(Noted { pair, text }));
    scene.turn("Mathilde, where is the golden spoon?", "I will not say.");
    scene.guest_lacks("Where is the golden spoon?", &["Corrinthwaite"]);
    scene.host_has("Where is the golden spoon?", &["Corrinthwaite"]);
}

/// A memory for all chats was made in another scene while the guest was away. The host recalls it
/// in a scene in which the guest missed nothing.
fn shared_from_another_scene(builder: &mut PlanBuilder) {
    let mut scene = Scene::open(builder, "source of a profile");
    scene.away(true);
    scene.says("Remember that my sister married the count of Lissowary.");
    scene.away(false);
    let (pair, text) = (scene.builder.pair(HOST), "Lissowary".to_owned());
    scene.builder.then(Step::Share(Noted { pair, text }));
    let mut scene = Scene::open(builder, "shared window");
    scene.turn("Mathilde, whom did my sister marry?", "A count.");
    scene.guest_lacks("Whom did my sister marry?", &["Lissowary"]);
    scene.host_has("Whom did my sister marry?", &["Lissowary"]);
}

/// A third participant, who is always there, and its pair.
const OTHER: &str = "Osric";
const OTHER_PAIR: usize = 1;

impl<'b> Scene<'b> {
    fn open(builder: &'b mut PlanBuilder, chat: &'static str) -> Self {
        let guest = builder.world.stories[GUEST].character;
        Self::with(builder, chat, &[OTHER, guest])
    }

    fn with(builder: &'b mut PlanBuilder, chat: &'static str, members: &[&str]) -> Self {
        let (host, guest) = (
            builder.world.stories[HOST].character,
            builder.world.stories[GUEST].character,
        );
        let mut scene = Self {
            builder,
            host,
            guest,
            chat,
        };
        scene.members(members);
        scene.says("Good evening, all of you.");
        scene.replies("Good evening.");
        scene
    }

    /// The names of the pair, the chat and the guest.
    fn place(&self) -> (String, String, String) {
        (
            self.builder.pair(HOST),
            self.chat.to_owned(),
            self.guest.to_owned(),
        )
    }

    fn members(&mut self, names: &[&str]) {
        let members = names.iter().map(|name| (*name).to_owned()).collect();
        let (pair, chat, _) = self.place();
        self.builder.then(Step::Chat(Chat {
            pair,
            chat,
            members,
        }));
    }

    fn away(&mut self, away: bool) {
        let (pair, chat, character) = self.place();
        self.builder.then(Step::Presence(Presence {
            pair,
            chat,
            character,
            away,
        }));
    }

    fn says(&mut self, text: &str) {
        self.builder.then_said(HOST, self.chat, "user", text, None);
    }

    fn replies(&mut self, text: &str) {
        self.builder
            .then_said(HOST, self.chat, "character", text, None);
    }

    /// Tells a secret while the guest is away.
    fn while_away(&mut self, secret: &str) {
        self.away(true);
        self.says(&format!("Between us: {secret}."));
        self.replies("I will not tell a soul.");
        self.away(false);
    }

    fn talk(&mut self) {
        for turn in 0..TALK / 2 {
            self.says(&format!(
                "The wind turned again in the night, number {turn}, and it rattled all of the shutters."
            ));
            self.replies("Then we had better stay inside tonight, light the fire, and wait until the morning comes.");
        }
    }

    fn turn(&mut self, text: &str, reply: &str) {
        let (pair, chat, _) = self.place();
        let (text, reply) = (text.to_owned(), reply.to_owned());
        self.builder.then(Step::Turn(Turn {
            pair,
            chat,
            text,
            reply,
            id: None,
        }));
    }

    /// Adds a lorebook with one entry, of this chat or of the host.
    fn lorebook(&mut self, of_chat: bool, name: &str, key: &str, text: &str) {
        let (pair, chat, _) = self.place();
        let entries = vec![ScenarioEntry {
            keys: vec![key.to_owned()],
            text: text.to_owned(),
        }];
        let chat = Some(chat).filter(|_| of_chat);
        self.builder.then(Step::Lorebook(Lorebook {
            pair,
            chat,
            name: name.to_owned(),
            entries,
        }));
    }

    /// Sets the number of messages in which keys of lorebooks are searched.
    fn scans(&mut self, depth: u32) {
        let (pair, chat, _) = self.place();
        let set = Set {
            pair: Some(pair),
            chat: Some(chat),
            key: "lore_scan_depth".into(),
            value: depth.to_string(),
        };
        self.builder.then(Step::Setting(set));
    }

    fn guest_lacks(&mut self, question: &str, words: &[&str]) {
        self.ask(
            self.guest,
            question,
            LEAK,
            ExpectedRecall::Nowhere(owned(words)),
        );
    }

    fn guest_has(&mut self, question: &str, words: &[&str]) {
        self.ask(
            self.guest,
            question,
            KNOWN,
            ExpectedRecall::Somewhere(owned(words)),
        );
    }

    fn host_has(&mut self, question: &str, words: &[&str]) {
        self.ask(
            self.host,
            question,
            KNOWN,
            ExpectedRecall::Somewhere(owned(words)),
        );
    }

    fn narrator_has(&mut self, question: &str, words: &[&str]) {
        self.ask(
            "Narrator",
            question,
            KNOWN,
            ExpectedRecall::Somewhere(owned(words)),
        );
    }

    /// Asks a participant, whose name decides who speaks.
    fn ask(&mut self, whom: &str, question: &str, name: &str, wants: ExpectedRecall) {
        let case = Expectation {
            name: name.to_owned(),
            goal: 100,
            wants,
        };
        let voices = [HOST, GUEST, OTHER_PAIR].map(|pair| self.builder.pair(pair));
        self.builder
            .voices
            .insert(self.chat.to_owned(), voices.into());
        self.builder.ask_in(
            HOST,
            self.chat,
            format!("{whom}: {question}"),
            Some(BUDGET),
            case,
        );
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
