//! Files to import: a card, a chat, a lorebook and others, with a text of its own in each field.

use serde_json::{Value, json};

use super::readable::canary;
use crate::hostile::{png, text};

pub(super) fn card() -> Value {
    json!({
        "spec": "chara_card_v3",
        "spec_version": "3.0",
        "data": {
            "name": canary("cardname"),
            "nickname": canary("nickname"),
            "description": canary("description"),
            "personality": canary("personality"),
            "scenario": canary("scenario"),
            "first_mes": canary("greeting"),
            "alternate_greetings": [canary("othergreeting")],
            "group_only_greetings": [canary("groupgreeting")],
            "mes_example": canary("example"),
            "creator_notes": canary("creatornotes"),
            "creator_notes_multilingual": { "de": canary("translatednotes") },
            "system_prompt": canary("systemprompt"),
            "post_history_instructions": canary("posthistory"),
            "tags": [canary("tag")],
            "creator": canary("creator"),
            "character_version": canary("cardversion"),
            "source": [canary("cardsource")],
            "extensions": {
                "lamp/oil": canary("extension"),
                "depth_prompt": { "prompt": canary("depthprompt"), "depth": 4, "role": "system" },
            },
            "character_book": card_book(),
        },
    })
}

fn card_book() -> Value {
    json!({
        "name": canary("bookname"),
        "description": canary("bookdescription"),
        "extensions": {},
        "entries": [{
            "id": 1,
            "name": canary("entryname"),
            "comment": canary("entrycomment"),
            "keys": [canary("entrykey")],
            "secondary_keys": [canary("secondkey")],
            "content": canary("entrycontent"),
            "extensions": { "lamp": canary("entryextension") },
            "enabled": true,
            "insertion_order": 100,
            "use_regex": false,
        }],
    })
}

/// A card with only a name and a description.
pub(super) fn small_card(name: &str, description: &str) -> String {
    json!({
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": { "name": name, "description": description, "first_mes": "Hm." },
    })
    .to_string()
}

/// A chat with the card's character, in SillyTavern's format.
pub(super) fn chat_file() -> String {
    let (character, user) = (canary("cardname"), canary("username"));
    let date = "2024-01-15T12:30:15.000Z";
    let lines = [
        json!({
            "user_name": user,
            "character_name": character,
            "create_date": "2024-01-15@12h30m15s",
            "chat_metadata": {
                "note_prompt": canary("chatnote"),
                "variables": { (canary("variable")): canary("variablevalue") },
            },
        }),
        json!({
            "name": character, "is_user": false, "is_system": false, "send_date": date,
            "mes": canary("importedreply"), "extra": {}, "swipe_id": 1,
            "swipes": [canary("importedswipe"), canary("importedreply")],
            "swipe_info": [
                { "send_date": date, "extra": {} },
                { "send_date": date, "extra": {
                    "model": canary("importedmodel"), "reasoning": canary("importedthoughts"),
                }},
            ],
        }),
        json!({
            "name": user, "is_user": true, "is_system": false, "send_date": date,
            "mes": canary("importedmessage"), "extra": {},
        }),
    ];
    lines.map(|line| line.to_string()).join("\n")
}

pub(super) fn lorebook() -> String {
    json!({ "entries": { "0": {
        "uid": 0,
        "key": [canary("lorekey")],
        "keysecondary": [canary("loresecond")],
        "comment": canary("lorename"),
        "content": canary("lore"),
        "group": canary("loregroup"),
        "constant": false,
        "selective": false,
        "order": 100,
        "position": 0,
    }}})
    .to_string()
}

pub(super) fn regex_script() -> String {
    json!({
        "id": "1",
        "scriptName": canary("script"),
        "findRegex": canary("pattern"),
        "replaceString": canary("replacement"),
        "placement": [2],
    })
    .to_string()
}

/// Tool servers of another app. The value of a variable belongs into the keychain.
pub(super) fn tool_servers() -> String {
    json!({ "mcpServers": { (canary("pasted")): {
        "command": canary("toolcommand"),
        "args": [canary("toolargument")],
        "env": { "LAMP": canary("toolvalue") },
    }}})
    .to_string()
}

/// A picture with a comment.
pub(super) fn picture(kind: &str) -> Vec<u8> {
    png(1, 1, &[text("Comment", canary(kind).as_bytes())])
}
