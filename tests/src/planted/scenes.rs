//! Group F in company: what is said in a scene while somebody is away is not told in that one's own chats. (Back in the same
//! scene it is: the app does not keep who heard which message.)

use engine::scenario::{Chat, Step};

use super::story::MAIN;
use super::{BUDGET, Case, Making, Wants};

const SCENE: &str = "scene";
/// Whose scene it is, and who is away: two pairs of one persona.
const HOST: usize = 0;
const GUEST: usize = 1;
/// Chosen by hand, so that the worlds stay as they are without it.
const SECRET: &str = "Zyphermoor";

pub(super) fn plant(making: &mut Making) {
    let guest = making.world.stories[GUEST].character;
    making.canaries.insert(SECRET.to_owned(), making.pair(HOST));
    take_part(making, &[guest]);
    making.then_said(HOST, SCENE, "user", format!("{guest}, how good to have you both here."), None);
    making.then_said(HOST, SCENE, guest, "I cannot stay for long.", None);
    take_part(making, &[]);
    let secret = format!("Now that {guest} is away: the ring of my tailor lies under the {SECRET} stone.");
    making.then_said(HOST, SCENE, "user", secret, None);
    making.then_said(HOST, SCENE, "character", "I will not tell a soul.", None);
    take_part(making, &[guest]);
    making.then_said(HOST, SCENE, "user", format!("There you are again, {guest}."), None);
    for chat in [MAIN, super::recall::SECOND] {
        let wants = Wants::Nowhere(vec![SECRET.to_owned()]);
        let case = Case { name: "F said while one was away".into(), goal: 100, wants };
        making.ask_in(GUEST, chat, "Where does the ring of my tailor lie?", Some(BUDGET), case);
    }
}

fn take_part(making: &mut Making, members: &[&str]) {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    making.then(Step::Chat(Chat { pair: making.pair(HOST), chat: SCENE.into(), members }));
}
