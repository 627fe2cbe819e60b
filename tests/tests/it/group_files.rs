//! A group of SillyTavern comes back unchanged: imported, exported, imported in another app and
//! exported again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use domain::card::Card;
use engine::api::ChatFileFormat;
use serde_json::{Value, json};
use tests::headless::Headless;

/// Card files and the names in the cards.
const CARDS: [(&str, &str); 6] = [
    ("Ada.png", "Ada"),
    ("Ada1.png", "Ada"),
    ("Dr. Bo.png", "Dr. Bo"),
    ("Who MeYou.png", "Who? Me/You"),
    ("Zoë.png", "Zoë"),
    ("美咲.png", "美咲"),
];
const NAMES: [&str; 5] = [
    "Harbour table",
    "Tea: \"late\" / <again>",
    "夜の茶",
    "  ",
    "v1.2 (final).json",
];
const GROUPS: u64 = 16;
/// A member that is not in the library.
const MISSING: &str = "Gone away.png";

/// A reproducible sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: u64) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % count) as usize
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

fn group(number: u64, random: &mut Numbers) -> Value {
    let mut members: Vec<&str> = (0..2 + random.below(5))
        .map(|_| CARDS[random.below(6)].0)
        .collect();
    if random.coin() {
        members.insert(random.below(members.len() as u64), MISSING);
    }
    // At least two different cards of the library.
    members.extend(["Ada.png", "Dr. Bo.png"]);
    let muted: BTreeSet<&str> = members
        .iter()
        .copied()
        .filter(|_| random.below(3) == 0)
        .collect();
    let stem = format!("2024-02-{:02}@10h00m00s", number + 1);
    let mut metadata = json!({ "note_prompt": "Calm.", "note_depth": 4, "tainted": random.coin(), "deep": [1, null] });
    if random.coin() {
        metadata["scenario"] = json!("A storm.");
    }
    json!({ "id": (1_700_000_000_000 + number).to_string(), "name": NAMES[random.below(5)], "members": members,
        "disabled_members": muted, "activation_strategy": random.below(4), "generation_mode": random.below(3),
        "allow_self_responses": random.coin(), "auto_mode_delay": random.below(60), "chat_id": stem, "chats": [stem],
        "chat_metadata": metadata, "past_metadata": {}, "fav": random.coin(), "avatar_url": null,
        "hideMutedSprites": random.coin(), "date_added": 17, "x-unknown": [1] })
}

fn talk(group: &Value) -> String {
    let header = json!({ "user_name": "unused", "character_name": "unused",
        "chat_metadata": { "integrity": "a-b", "note_prompt": "", "odd": { "list": [1] } } });
    let mut lines = vec![header];
    for (at, member) in group["members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .enumerate()
    {
        let name = CARDS
            .iter()
            .find(|(file, _)| *file == member)
            .map_or("Gone away", |(_, name)| name);
        lines.push(json!({ "name": name, "original_avatar": member, "is_user": false, "is_system": false,
            "send_date": "2024-01-15T12:00:00.000Z", "mes": format!("Line {at}."), "extra": { "gen_id": at } }));
        lines
            .push(json!({ "name": "Tom", "is_user": true, "is_system": false, "send_date": "2024-01-15T12:01:00.000Z",
            "mes": "And then?", "extra": {} }));
    }
    lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn picture() -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(4, 6)
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    png.into_inner()
}

fn write(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn write_cards(folder: &Path, cards: &[(&str, &str)]) {
    for (file, name) in cards {
        let mut card = Card::new(name).unwrap();
        // The same card in two files would be one character.
        card.set_description(&format!("The card of {file}."));
        write(
            folder,
            &format!("characters/{file}"),
            &card.to_png(&picture()).unwrap(),
        );
    }
}

fn write_group(folder: &Path, group: &Value, talk: &str) {
    let stem = group["chat_id"].as_str().unwrap();
    write(
        folder,
        &format!("groups/{stem}.json"),
        group.to_string().as_bytes(),
    );
    write(
        folder,
        &format!("group chats/{stem}.jsonl"),
        talk.as_bytes(),
    );
}

/// Imports a folder into a new app and exports every group with its messages, in the order of their
/// ids.
async fn exported(folder: &Path) -> Vec<(Value, String)> {
    let app = Headless::new().await;
    let report = app
        .engine
        .import_sillytavern(folder.to_owned())
        .await
        .unwrap();
    assert!(report.refused.is_empty(), "{:?}", report.refused);
    let mut groups = Vec::new();
    for imported in report.imported.iter().filter(|one| one.kind == "chat") {
        let export = async |format| {
            app.engine
                .export_chat(imported.id.parse().unwrap(), format)
                .await
                .unwrap()
                .bytes
        };
        let group = serde_json::from_slice(&export(ChatFileFormat::Group).await).unwrap();
        groups.push((
            group,
            String::from_utf8(export(ChatFileFormat::Jsonl).await).unwrap(),
        ));
    }
    groups.sort_by_key(|(group, _): &(Value, String)| group["id"].to_string());
    groups
}

/// A group with each member once, those that are not in the library last, and the muted ones
/// sorted.
fn plain(group: &Value) -> Value {
    let mut group = group.clone();
    let mut once: Vec<Value> = Vec::new();
    for member in group["members"].as_array().unwrap() {
        if !once.contains(member) {
            once.push(member.clone());
        }
    }
    once.sort_by_key(|member| member == MISSING);
    let muted: BTreeSet<String> = group["disabled_members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    group["members"] = once.into();
    group["disabled_members"] = json!(muted);
    group
}

#[tokio::test]
async fn groups_come_back_unchanged() {
    let [there, back] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut random = Numbers(29);
    let originals: Vec<Value> = (0..GROUPS)
        .map(|number| group(number, &mut random))
        .collect();
    write_cards(there.path(), &CARDS);
    originals
        .iter()
        .for_each(|group| write_group(there.path(), group, &talk(group)));
    let first = exported(there.path()).await;
    assert_eq!(first.len(), originals.len());
    for ((exported, _), original) in first.iter().zip(&originals) {
        let (mut exported, mut original) = (plain(exported), plain(original));
        if original["name"].as_str().unwrap().trim().is_empty() {
            let date = original["chat_id"].as_str().unwrap().split('@').next();
            assert_eq!(
                exported["name"].as_str(),
                date,
                "a nameless group is named after its chat's date"
            );
            for group in [&mut exported, &mut original] {
                group.as_object_mut().unwrap().remove("name");
            }
        }
        assert_eq!(exported, original);
    }
    write_cards(back.path(), &CARDS);
    first
        .iter()
        .for_each(|(group, talk)| write_group(back.path(), group, talk));
    let second = exported(back.path()).await;
    assert_eq!(first.len(), second.len());
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(plain(&one.0), plain(&other.0));
        assert_eq!(one.1, other.1, "messages and chat metadata");
    }
}

/// A group that was made here is read again with its director and its single replies, which
/// SillyTavern does not have.
#[tokio::test]
async fn own_settings_of_a_group_come_back() {
    use engine::api::{GroupOptions, TurnOrder};
    let app = Headless::new().await;
    let ids = [app.character("Ada").await, app.character("Bo?").await];
    let chat = app
        .engine
        .new_group("Two".into(), ids.to_vec())
        .await
        .unwrap()
        .id;
    let options = GroupOptions {
        order: TurnOrder::Director,
        self_responses: true,
        several_replies: false,
        auto_delay: 7,
    };
    app.engine.set_group(chat, options.clone()).await.unwrap();
    app.model.reply("Ada.").reply("Aye.");
    app.send(chat, "Who is here?").await;
    let export = async |format| app.engine.export_chat(chat, format).await.unwrap().bytes;
    let group: Value = serde_json::from_slice(&export(ChatFileFormat::Group).await).unwrap();
    assert_eq!(group["members"], json!(["Ada.png", "Bo.png"]));
    let talk = String::from_utf8(export(ChatFileFormat::Jsonl).await).unwrap();
    assert!(talk.contains("original_avatar"), "{talk}");
    let folder = tempfile::tempdir().unwrap();
    write_cards(folder.path(), &[("Ada.png", "Ada"), ("Bo.png", "Bo?")]);
    write_group(folder.path(), &group, &talk);
    let other = Headless::new().await;
    let report = other
        .engine
        .import_sillytavern(folder.path().to_owned())
        .await
        .unwrap();
    let imported = report
        .imported
        .iter()
        .find(|one| one.kind == "chat")
        .unwrap();
    let opened = other
        .engine
        .open_chat(imported.id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        (opened.title.as_str(), opened.group.unwrap().options),
        ("Two", options)
    );
}
