use domain::chat::{GroupSettings, TurnOrder};
use serde_json::json;
use uuid::Uuid;

use super::*;

fn id(number: u128) -> CharacterId {
    CharacterId(Uuid::from_u128(number))
}

#[test]
fn unknown_and_muted_members_are_reported() {
    let group = GroupFile::read(
        &json!({ "name": " Table ", "members": ["Ada.png", "Zed.png", "Bo.png", "Ada.png"],
        "disabled_members": ["Bo.png"], "chats": ["1"], "chat_id": "2", "chat_metadata": { "world_info": "Sea" } }),
    );
    assert_eq!(
        (
            group.name.as_str(),
            group.chats.join(" "),
            group.world.as_deref()
        ),
        ("Table", "1 2".into(), Some("Sea"))
    );
    let mut warnings = Vec::new();
    let cast = Cast::from([("Ada".to_owned(), id(1)), ("Bo".to_owned(), id(2))]);
    let part = take_part(&group, &cast, &mut warnings);
    assert_eq!(part.members, [id(1), id(2)]);
    assert_eq!((warnings.len(), part.muted.as_slice()), (1, &[id(2)][..]));
    assert!(
        warnings[0].starts_with("Zed.png takes part"),
        "{warnings:?}"
    );
}

#[test]
fn turn_order_and_unknown_fields_are_read() {
    let group = GroupFile::read(
        &json!({ "activation_strategy": 3, "allow_self_responses": true,
        "auto_mode_delay": 9, "generation_mode": 1, "hideMutedSprites": true, "members": ["Ada.png"],
        "chat_metadata": { "scenario": " A storm. " } }),
    );
    let settings = group.settings;
    assert_eq!(
        (settings.order, settings.self_responses, settings.auto_delay),
        (TurnOrder::Pooled, true, 9)
    );
    let foreign: Value = serde_json::from_str(&settings.foreign).unwrap();
    assert_eq!(
        (&foreign["generation_mode"], &foreign["hideMutedSprites"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(
        (group.scenario.as_str(), foreign.get("members")),
        ("A storm.", None)
    );
}

#[test]
fn malformed_groups_are_read_as_empty() {
    for odd in [
        json!({}),
        json!({ "members": 7, "chats": [1, null], "name": [] }),
    ] {
        let group = GroupFile::read(&odd);
        let settings = GroupSettings {
            order: TurnOrder::Natural,
            several_replies: true,
            ..GroupSettings::default()
        };
        assert_eq!(
            group,
            GroupFile {
                settings,
                ..GroupFile::default()
            }
        );
    }
}
