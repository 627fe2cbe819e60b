use super::*;
use crate::recall_service::messages::keyframes::tests::told;

fn talk(roles: &str) -> Vec<SourceText> {
    let role = |letter| {
        if letter == 'u' {
            Role::User
        } else {
            Role::Character
        }
    };
    (0..)
        .zip(roles.chars())
        .map(|(at, letter)| told(at, role(letter), "We sail on Monday.", false))
        .collect()
}

#[test]
fn reads_five_exchanges_at_a_time() {
    let length = |roles: &str| exchanges(&talk(roles), 5).map(<[SourceText]>::len);
    assert_eq!(length("cucucucuc"), None);
    assert_eq!(length("cucucucucu"), None, "the fifth has no answer");
    assert_eq!(length("cucucucucuc"), Some(11));
    assert_eq!(length("ucucucucucucuc"), Some(10));
    assert_eq!(
        length("uuuccuuccucucuc"),
        Some(15),
        "consecutive messages are one turn"
    );
}

#[test]
fn reads_lists_and_objects() {
    let fact = r#"{"person": "Tom", "text": "Owns a boat.", "type": "fact", "importance": 7}"#;
    assert_eq!(read("[]"), Some(Vec::new()));
    assert_eq!(
        read(&format!("[{fact}]")),
        read(&format!(r#"{{"facts": [{fact}]}}"#))
    );
    assert_eq!(
        sentence(&read(&format!("[{fact}]")).unwrap()[0]),
        "Tom: Owns a boat."
    );
    assert_eq!(read(r#"[{"text": 7}]"#), None);
}

#[test]
fn finds_source_messages_of_fact() {
    let says = [
        "I own a boat.",
        "A boat!",
        "She is called the Zebulon.",
        "Nice weather.",
    ];
    let told: Vec<SourceText> = (0..)
        .zip(says)
        .map(|(at, text)| told(at, Role::User, text, false))
        .collect();
    let of = |fact: &str| sources(&tokens::terms(fact, &["Tom"]), &told);
    assert_eq!(of("Tom owns a boat."), [told[0].message]);
    assert_eq!(
        of("Tom owns the boat Zebulon."),
        [told[0].message, told[2].message]
    );
    assert!(of("Tom has a horse.").is_empty());
}
