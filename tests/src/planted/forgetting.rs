//! Group G: text that was deleted, edited, swiped away, branched away or forgotten is in no later prompt. If it cannot
//! be restored, no byte of it is in the files after compaction.

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

pub(super) fn plant(making: &mut PlanBuilder) {
    let mut asked = Vec::new();
    for pair in 0..making.pairs() {
        asked.extend([deleted(making, pair), edited(making, pair), swiped(making, pair), wished(making, pair)]);
        asked.extend([noted(making, pair), with_its_chat(making, pair)]);
        branched(making, pair);
    }
    making.steps([Step::Compact, Step::Reopen]);
    for gone in asked {
        making.ask(gone.pair, gone.asked.clone(), gone.nowhere("G after compaction"));
    }
}

impl ForgottenFact {
    fn of(making: &mut PlanBuilder, pair: usize, whose: &str) -> Self {
        let FactKind { told, asked, .. } = &KINDS[(pair + whose.len()) % KINDS.len()];
        let answer = making.answer(pair);
        let wording = making.world.random.below(told.len());
        Self {
            pair,
            id: format!("{whose}-{pair}"),
            told: told[wording].replace("{r}", whose).replace("{x}", &answer),
            asked: asked[0][0].replace("{r}", whose).replace("{my}", "my"),
            answer,
        }
    }

    fn nowhere(&self, name: &str) -> Expectation {
        Expectation { name: name.to_owned(), goal: 100, wants: ExpectedRecall::Nowhere(vec![self.answer.clone()]) }
    }

    /// Plants the fact in an early session and recalls it in a later turn, so that it is also in a context block and a
    /// manifest.
    fn tell(&self, making: &mut PlanBuilder, who: StorySpeaker) {
        making.plant_in(self.pair, 0, who, self.told.clone(), Some(self.id.clone()));
        self.turn(making, MAIN);
    }

    fn turn(&self, making: &mut PlanBuilder, chat: &str) {
        let (pair, text) = (making.pair(self.pair), self.asked.clone());
        let reply = "Let me think about that.".to_owned();
        making.then(Step::Turn(Turn { pair, chat: chat.into(), text, reply, id: None }));
    }

    /// Asks in both chats.
    fn ask(&self, making: &mut PlanBuilder, name: &str) {
        making.ask(self.pair, self.asked.clone(), self.nowhere(name));
        making.ask_in(self.pair, SECOND, self.asked.clone(), Some(BUDGET), self.nowhere(name));
    }

    fn rewritten(&self) -> Rewritten {
        Rewritten { message: self.id.clone(), text: INSTEAD.into() }
    }
}

fn deleted(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(making, pair, TAILOR);
    gone.tell(making, StorySpeaker::User);
    making.then(Step::Delete(Deleted { message: gone.id.clone() }));
    gone.ask(making, "G deleted");
    making.erased.push(gone.answer.clone());
    gone
}

fn edited(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(making, pair, MILKMAN);
    gone.tell(making, StorySpeaker::User);
    making.then(Step::Edit(gone.rewritten()));
    gone.ask(making, "G edited");
    making.erased.push(gone.answer.clone());
    gone
}

/// The user selects another swipe; the old one stays available.
fn swiped(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(making, pair, ORGANIST);
    gone.tell(making, StorySpeaker::Character);
    making.then(Step::Swipe(gone.rewritten()));
    gone.ask(making, "G swiped away");
    gone
}

/// Forgets a memory that came from a message. The message stays in the chat but is not recalled either.
fn wished(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let mut gone = ForgottenFact::of(making, pair, FERRYMAN);
    gone.told = format!("Remember that my ferryman's favourite thing is {}.", gone.answer);
    gone.asked = "What is the favourite thing of my ferryman?".into();
    making.plant_alone(pair, StorySpeaker::User, gone.told.clone());
    gone.turn(making, MAIN);
    let noted = Noted { pair: making.pair(pair), text: gone.answer.clone() };
    making.then(Step::Forget(noted));
    gone.ask(making, "G forgotten, made from a message");
    gone
}

/// Forgets a memory that the user entered.
fn noted(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    let gone = ForgottenFact::of(making, pair, GARDENER);
    let noted = |text: &str, making: &PlanBuilder| Noted { pair: making.pair(pair), text: text.to_owned() };
    making.then(Step::Remember(noted(&gone.told, making)));
    gone.turn(making, MAIN);
    making.then(Step::Forget(noted(&gone.answer, making)));
    gone.ask(making, "G forgotten, written by hand");
    making.erased.push(gone.answer.clone());
    gone
}

fn with_its_chat(making: &mut PlanBuilder, pair: usize) -> ForgottenFact {
    const CHAT: &str = "third";
    let gone = ForgottenFact::of(making, pair, MIDWIFE);
    making.then_said(pair, CHAT, "user", gone.told.clone(), None);
    making.then_said(pair, CHAT, "character", "I see.", None);
    gone.turn(making, CHAT);
    making.then(Step::DeleteChat(Where { pair: making.pair(pair), chat: CHAT.into() }));
    gone.ask(making, "G deleted with its chat");
    making.erased.push(gone.answer.clone());
    gone
}

/// Text after the start of a branch is not in the branch.
fn branched(making: &mut PlanBuilder, pair: usize) {
    const BRANCH: &str = "branch";
    let gone = ForgottenFact::of(making, pair, LODGER);
    let mark = format!("mark-{pair}");
    making.plant_in(pair, 0, StorySpeaker::User, "Here the path forks.".into(), Some(mark.clone()));
    making.plant_in(pair, 1, StorySpeaker::User, gone.told.clone(), Some(gone.id.clone()));
    let of = making.pair(pair);
    making.then(Step::Branch(Branch { pair: of, chat: MAIN.into(), after: mark, to: BRANCH.into() }));
    making.ask_in(pair, BRANCH, gone.asked.clone(), Some(BUDGET), gone.nowhere("G branched away"));
}
