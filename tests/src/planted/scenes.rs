//! Group F in group scenes: messages from a scene that a character did not attend are not recalled
//! in that character's own chats.

use engine::scenario::{Chat, Step};

use super::story::MAIN;
use super::{BUDGET, Expectation, ExpectedRecall, PlanBuilder};

const SCENE: &str = "scene";
/// The pair with the scene, and the absent one; both have the same persona.
const HOST: usize = 0;
const GUEST: usize = 1;
/// Chosen manually, so that other plans stay unchanged.
const SECRET: &str = "Zyphermoor";

pub(super) fn plant(builder: &mut PlanBuilder) {
    let guest = builder.world.stories[GUEST].character;
    builder
        .canaries
        .insert(SECRET.to_owned(), builder.pair(HOST));
    take_part(builder, &[guest]);
    builder.then_said(
        HOST,
        SCENE,
        "user",
        format!("{guest}, how good to have you both here."),
        None,
    );
    builder.then_said(HOST, SCENE, guest, "I cannot stay for long.", None);
    take_part(builder, &[]);
    let secret =
        format!("Now that {guest} is away: the ring of my tailor lies under the {SECRET} stone.");
    builder.then_said(HOST, SCENE, "user", secret, None);
    builder.then_said(HOST, SCENE, "character", "I will not tell a soul.", None);
    take_part(builder, &[guest]);
    builder.then_said(
        HOST,
        SCENE,
        "user",
        format!("There you are again, {guest}."),
        None,
    );
    for chat in [MAIN, super::recall::SECOND] {
        let wants = ExpectedRecall::Nowhere(vec![SECRET.to_owned()]);
        let case = Expectation {
            name: "F said while one was away".into(),
            goal: 100,
            wants,
        };
        builder.ask_in(
            GUEST,
            chat,
            "Where does the ring of my tailor lie?",
            Some(BUDGET),
            case,
        );
    }
}

fn take_part(builder: &mut PlanBuilder, members: &[&str]) {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    builder.then(Step::Chat(Chat {
        pair: builder.pair(HOST),
        chat: SCENE.into(),
        members,
    }));
}
