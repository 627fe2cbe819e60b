//! Group G: text that was deleted, edited, swiped away, branched away or forgotten is in no later
//! prompt. If it cannot be restored, no byte of it is in the files after compaction.

use engine::scenario::{Branch, Deleted, Noted, Rewritten, Step, Turn, Where};

use super::kinds::{FactKind, KINDS};
use super::recall::SECOND;
use super::story::{MAIN, StorySpeaker};
use super::{BUDGET, Expectation, ExpectedRecall, PlanBuilder};

/// Subject of the facts, one per way to forget.
const TAILOR: &str = "tailor";
const MILKMAN: &str = "milkman";
const ORGANIST: &str = "organist";
const FERRYMAN: &str = "ferryman";
const MIDWIFE: &str = "midwife";
const GARDENER: &str = "gardener";
const LODGER: &str = "lodger";
/// Replacement text without any fact.
const INSTEAD: &str = "Never mind, it was nothing.";

/// A fact to forget.
struct ForgottenFact {
    pair: usize,
    /// Id of the message in the scenario.
    id: String,
    told: String,
    asked: String,
    answer: String,
}

pub(super) fn plant(builder: &mut PlanBuilder) {
    let mut asked = Vec::new();
    for pair in 0..builder.pairs() {
        asked.extend([
            deleted(builder, pair),
            edited(builder, pair),
            swiped(builder, pair),
            wished(builder, pair),
        ]);
        asked.extend([noted(builder, pair), with_its_chat(builder, pair)]);
        branched(builder, pair);
    }
    builder.steps([Step::Compact, Step::Reopen]);
    for gone in asked {
        builder.ask(
            gone.pair,
            gone.asked.clone(),
            gone.nowhere("G after compaction"),
        );
    }
}

impl ForgottenFact {
    fn of(builder: &mut PlanBuilder, pair: usize, whose: &str) -> Self {
        let FactKind { told, asked, .. } = &KINDS[(pair + whose.len()) % KINDS.len()];
        let answer = builder.answer(pair);
        let wording = builder.world.random.below(told.len());
        Self {
            pair,
            id: format!("{whose}-{pair}"),
            told: told[wording].replace("{r}", whose).replace("{x}", &answer),
            asked: asked[0][0].replace("{r}", whose).replace("{my}", "my"),
            answer,
        }
    }

    fn nowhere(&self, name: &str) -> Expectation {
        Expectation {
            name: name.to_owned(),
            goal: 100,
            wants: ExpectedRecall::Nowhere(vec![self.answer.clone()]),
        }
    }

    /// Plants the fact in an early session and recalls it in a later turn, so that it is also in a
    /// context block and a manifest.
    fn tell(&self, builder: &mut PlanBuilder, who: StorySpeaker) {
        builder.plant_in(self.pair, 0, who, self.told.clone(), Some(self.id.clone()));
        self.turn(builder, MAIN);
    }

    fn turn(&self, builder: &mut PlanBuilder, chat: &str) {
        let (pair, text) = (builder.pair(self.pair), self.asked.clone());
        let reply = "Let me think about that.".to_owned();
        builder.then(Step::Turn(Turn {
            pair,
            chat: chat.into(),
            text,
            reply,
            id: None,
        }));
    }

    /// Asks in both chats.
    fn ask(&self, builder: &mut PlanBuilder, name: &str) {
        builder.ask(self.pair, self.asked.clone(), self.nowhere(name));
        builder.ask_in(
            self.pair,
            SECOND,
            self.asked.clone(),
            Some(BUDGET),
            self.nowhere(name),
        );
    }

    fn rewritten(&self) -> Rewritten {
        Rewritten {
            message: self.id.clone(),
            text: INSTEAD.into(),
        }
    }
}

fn deleted(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(builder, pair, TAILOR);
    gone.tell(builder, StorySpeaker::User);
    builder.then(Step::Delete(Deleted {
        message: gone.id.clone(),
    }));
    gone.ask(builder, "G deleted");
    builder.erased.push(gone.answer.clone());
    gone
}

fn edited(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(builder, pair, MILKMAN);
    gone.tell(builder, StorySpeaker::User);
    builder.then(Step::Edit(gone.rewritten()));
    gone.ask(builder, "G edited");
    builder.erased.push(gone.answer.clone());
    gone
}

/// The user selects another swipe; the old one stays available.
fn swiped(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(builder, pair, ORGANIST);
    gone.tell(builder, StorySpeaker::Character);
    builder.then(Step::Swipe(gone.rewritten()));
    gone.ask(builder, "G swiped away");
    gone
}

/// Forgets a memory that came from a message. The message stays in the chat but is not recalled
/// either.
fn wished(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let mut gone = ForgottenFact::of(builder, pair, FERRYMAN);
    gone.told = format!(
        "Remember that my ferryman's favourite thing is {}.",
        gone.answer
    );
    gone.asked = "What is the favourite thing of my ferryman?".into();
    builder.plant_alone(pair, StorySpeaker::User, gone.told.clone());
    gone.turn(builder, MAIN);
    let noted = Noted {
        pair: builder.pair(pair),
        text: gone.answer.clone(),
    };
    builder.then(Step::Forget(noted));
    gone.ask(builder, "G forgotten, made from a message");
    gone
}

/// Forgets a memory that the user entered.
fn noted(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(builder, pair, GARDENER);
    let noted = |text: &str, builder: &PlanBuilder| Noted {
        pair: builder.pair(pair),
        text: text.to_owned(),
    };
    builder.then(Step::Remember(noted(&gone.told, builder)));
    gone.turn(builder, MAIN);
    builder.then(Step::Forget(noted(&gone.answer, builder)));
    gone.ask(builder, "G forgotten, written by hand");
    builder.erased.push(gone.answer.clone());
    gone
}

fn with_its_chat(builder: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    const CHAT: &str = "third";
    let gone = ForgottenFact::of(builder, pair, MIDWIFE);
    builder.then_said(pair, CHAT, "user", gone.told.clone(), None);
    builder.then_said(pair, CHAT, "character", "I see.", None);
    gone.turn(builder, CHAT);
    builder.then(Step::DeleteChat(Where {
        pair: builder.pair(pair),
        chat: CHAT.into(),
    }));
    gone.ask(builder, "G deleted with its chat");
    builder.erased.push(gone.answer.clone());
    gone
}

/// Text after the start of a branch is not in the branch.
fn branched(builder: &mut PlanBuilder, pair: usize) {
    const BRANCH: &str = "branch";
    let gone = ForgottenFact::of(builder, pair, LODGER);
    let mark = format!("mark-{pair}");
    builder.plant_in(
        pair,
        0,
        StorySpeaker::User,
        "Here the path forks.".into(),
        Some(mark.clone()),
    );
    builder.plant_in(
        pair,
        1,
        StorySpeaker::User,
        gone.told.clone(),
        Some(gone.id.clone()),
    );
    let of = builder.pair(pair);
    builder.then(Step::Branch(Branch {
        pair: of,
        chat: MAIN.into(),
        after: mark,
        to: BRANCH.into(),
    }));
    builder.ask_in(
        pair,
        BRANCH,
        gone.asked.clone(),
        Some(BUDGET),
        gone.nowhere("G branched away"),
    );
}
