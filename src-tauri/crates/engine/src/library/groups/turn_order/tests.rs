use std::sync::Arc;

use domain::card::Card;
use domain::chat::{GroupSettings, MemberState};
use uuid::Uuid;

use super::*;

fn id(number: u128) -> MessageId {
    MessageId(Uuid::from_u128(number))
}

fn member(number: u128, name: &str) -> Member {
    Member {
        id: CharacterId(Uuid::from_u128(number)),
        name: name.to_owned(),
        card: Arc::new(Card::new(name).unwrap()),
        card_hash: 0,
        state: MemberState::default(),
        missed: Arc::default(),
        missed_here: false,
    }
}

/// Ada's chat with Bo and Mary Ann. Bo is the speaker of message 2, Mary Ann of message 5.
pub(crate) fn group() -> Scene {
    let members: Vec<Member> = [(1, "Ada"), (2, "Bo"), (3, "Mary Ann")]
        .map(|(id, name)| member(id, name))
        .into();
    let said_by = |at: usize| Speaker {
        character: Some(members[at].id),
        name: members[at].card.display_name().to_owned(),
    };
    let gone = Speaker {
        character: None,
        name: "Zed".into(),
    };
    let speakers = [
        (id(2), said_by(1)),
        (id(5), said_by(2)),
        (id(9), gone),
        (id(7), said_by(1)),
    ]
    .into();
    Scene {
        members,
        speakers,
        ..Scene::default()
    }
}

fn ordered(order: TurnOrder) -> Scene {
    Scene {
        settings: GroupSettings {
            order,
            ..GroupSettings::default()
        },
        ..group()
    }
}

fn lines<'l>(lines: &[(u128, Role, &'l str)]) -> Vec<SpokenLine<'l>> {
    lines
        .iter()
        .map(|(number, role, text)| SpokenLine {
            id: id(*number),
            role: *role,
            text,
        })
        .collect()
}

fn name_of(turn: Option<NextSpeaker>) -> String {
    turn.map_or_else(|| "nobody".to_owned(), |turn| turn.name("Ada").to_owned())
}

/// The next speaker after `said`, newest first.
fn next(said: &[(u128, Role, &str)]) -> String {
    name_of(group().next(lines(said)))
}

fn after(scene: &Scene, said: &[(u128, Role, &str)]) -> String {
    name_of(scene.after(&lines(said)))
}

const HM: (u128, Role, &str) = (3, Role::User, "Hm.");
const BY_ADA: (u128, Role, &str) = (1, Role::Character, "");
const BY_BO: (u128, Role, &str) = (2, Role::Character, "");
const BY_MARY: (u128, Role, &str) = (5, Role::Character, "");

#[test]
fn members_take_turns_unless_named_or_called() {
    assert_eq!(next(&[]), "Ada");
    assert_eq!(next(&[(3, Role::User, "Good evening.")]), "Ada");
    assert_eq!(next(&[HM, BY_ADA]), "Bo");
    assert_eq!(next(&[HM, BY_BO]), "Mary Ann");
    assert_eq!(
        next(&[HM, (9, Role::Character, "")]),
        "Bo",
        "deleted speaker counts as first"
    );
    assert_eq!(
        next(&[(3, Role::User, "What say you, mary ann? Or Bo?"), BY_BO]),
        "Mary Ann"
    );
    assert_eq!(
        next(&[(3, Role::User, "And Mary?"), BY_ADA]),
        "Mary Ann",
        "a first name is enough"
    );
    assert_eq!(
        next(&[(3, Role::User, "Boats, Adam!"), BY_ADA]),
        "Bo",
        "only whole words are names"
    );
    assert_eq!(
        next(&[(3, Role::User, "Narrator, what do I see?")]),
        NARRATOR
    );
    assert_eq!(
        next(&[(2, Role::Character, "Once upon")]),
        "Bo",
        "a continued reply keeps its speaker"
    );
    assert_eq!(next(&[(7, Role::Event, "")]), "Bo");
    assert_eq!(
        next(&[HM, (8, Role::Event, "(Zed leaves.)"), BY_BO]),
        "Mary Ann",
        "departures answer nobody"
    );
}

#[test]
fn names_without_word_boundaries_match() {
    assert_eq!(place_of("美咲", "ねえ、美咲さん"), Some("ねえ、".len()));
    assert_eq!(place_of("Лев", "левый"), None);
}

#[test]
fn muted_away_and_absent_members_pass() {
    let mut scene = group();
    scene.members[1].state.muted = true;
    assert_eq!(after(&scene, &[HM, BY_ADA]), "Mary Ann");
    assert_eq!(
        after(&scene, &[(3, Role::User, "Bo?"), BY_ADA]),
        "Mary Ann",
        "a muted member is not named"
    );
    scene.members[2].state.away = true;
    assert_eq!(after(&scene, &[HM, BY_ADA]), "Ada");
    scene.members[0].missed = Arc::new([id(3)].into());
    assert_eq!(
        after(&scene, &[HM, BY_ADA]),
        "nobody",
        "Ada did not hear it"
    );
}

#[test]
fn pooled_lets_each_speak_once_per_message() {
    let scene = ordered(TurnOrder::Pooled);
    let first = after(&scene, &[HM]);
    assert_ne!(first, "nobody");
    assert_eq!(after(&scene, &[BY_BO, BY_ADA, HM]), "Mary Ann");
    assert_eq!(
        after(&scene, &[BY_MARY, BY_BO, BY_ADA, HM]),
        "nobody",
        "everybody has spoken"
    );
}

#[test]
fn manual_order_waits_for_the_user() {
    let scene = ordered(TurnOrder::Manual);
    assert_eq!(
        name_of(scene.next(lines(&[(3, Role::User, "Bo?")]))),
        "nobody"
    );
    assert_eq!(name_of(scene.next(lines(&[(7, Role::Event, "")]))), "Bo");
}

#[test]
fn natural_order_follows_talkativeness() {
    let mut scene = ordered(TurnOrder::Natural);
    talk(&mut scene, ["0", "0", "1.0"]);
    assert_eq!(after(&scene, &[HM, BY_ADA]), "Mary Ann");
    assert_eq!(
        after(&scene, &[HM, BY_MARY]),
        "Mary Ann",
        "nobody else wants to speak"
    );
    assert_eq!(
        after(&scene, &[(3, Role::User, "Bo?"), BY_MARY]),
        "Bo",
        "a name is stronger"
    );
    assert_ne!(
        after(&scene, &[BY_MARY, HM]),
        "Mary Ann",
        "nobody answers itself"
    );
    scene.settings.self_responses = true;
    assert_eq!(after(&scene, &[BY_MARY, HM]), "Mary Ann");
}

#[test]
fn silent_members_never_speak_unasked() {
    let mut scene = ordered(TurnOrder::Natural);
    scene.members.truncate(2);
    talk(&mut scene, ["0.05", "0"]);
    for number in 0..40 {
        let said = [
            (100 + number, Role::User, "Hm."),
            (200 + number, Role::Character, ""),
            HM,
        ];
        assert_eq!(after(&scene, &said), "Ada", "the last speaker included");
    }
    assert_eq!(
        after(&scene, &[BY_ADA, HM]),
        "nobody",
        "Ada has just spoken"
    );
    scene.members[0].state.muted = true;
    assert_eq!(after(&scene, &[HM]), "Bo", "nobody else is there");
}

#[test]
fn longer_name_hides_shorter_one() {
    let mut scene = group();
    scene.members[1].name = "Ada (2)".to_owned();
    assert_eq!(
        after(
            &scene,
            &[(3, Role::User, "Ada (2), are you there?"), BY_MARY]
        ),
        "Ada (2)"
    );
    assert_eq!(
        after(&scene, &[(3, Role::User, "Ada, are you there?"), BY_MARY]),
        "Ada"
    );
}

/// Sets the talkativeness of the members' cards.
fn talk<const N: usize>(scene: &mut Scene, shares: [&str; N]) {
    for (at, share) in shares.into_iter().enumerate() {
        let card = format!(
            r#"{{"spec":"chara_card_v2","spec_version":"2.0","data":{{"name":"{}","extensions":{{"talkativeness":"{share}"}}}}}}"#,
            scene.members[at].card.display_name()
        );
        scene.members[at].card = Arc::new(Card::from_json(card.as_bytes()).unwrap().0);
    }
}

/// Bo and Mary Ann speak up always, Ada only if she is named.
#[test]
fn several_answer_one_message() {
    let mut scene = ordered(TurnOrder::Natural);
    scene.settings.several_replies = true;
    talk(&mut scene, ["0", "1", "1"]);
    let all = |scene: &Scene, said: &[(u128, Role, &str)]| {
        let names = scene
            .all_next(lines(said))
            .into_iter()
            .map(|turn| name_of(Some(turn)));
        names.collect::<Vec<_>>()
    };
    let mut eager = all(&scene, &[HM]);
    eager.sort();
    assert_eq!(eager, ["Bo", "Mary Ann"]);
    let named = all(&scene, &[(3, Role::User, "Mary Ann, Ada, narrator?")]);
    assert_eq!(
        named,
        ["Mary Ann", "Ada", NARRATOR, "Bo"],
        "those that are named come first"
    );
    assert_eq!(
        all(&scene, &[BY_ADA, HM]).len(),
        1,
        "a continued reply has one speaker"
    );
    scene.members[1].state.muted = true;
    scene.members[2].state.away = true;
    assert_eq!(all(&scene, &[HM]), ["Ada"], "somebody answers");
    scene.settings.several_replies = false;
    assert_eq!(all(&scene, &[(3, Role::User, "Ada, narrator?")]), ["Ada"]);
}

#[test]
fn first_of_several_is_the_speaker_of_the_preview() {
    let mut scene = ordered(TurnOrder::Natural);
    scene.settings.several_replies = true;
    for number in 0..60 {
        let said = [
            (100 + number, Role::User, "Hm."),
            (200 + number, Role::Character, ""),
            HM,
        ];
        let all = scene.all_next(lines(&said));
        assert_eq!(all.first(), scene.next(lines(&said)).as_ref());
        let twice = |at: usize| all[..at].contains(&all[at]);
        assert!(!(0..all.len()).any(twice) && !all.is_empty());
    }
}

#[test]
fn answer_of_director_must_name_a_member() {
    let scene = group();
    let all: Vec<CharacterId> = scene.members.iter().map(|member| member.id).collect();
    assert_eq!(
        name_of(scene.chosen_by_name("I think Bo should.", &all)),
        "Bo"
    );
    assert_eq!(name_of(scene.chosen_by_name("Bo", &all[..1])), "nobody");
    assert_eq!(name_of(scene.chosen_by_name("Somebody.", &all)), "nobody");
}
