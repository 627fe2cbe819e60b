//! Generates a SillyTavern folder: cards in pictures, chats with swipes, groups, lorebooks,
//! personas, tags, favourites, presets, and unsupported files.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use domain::card::Card;
use image::{ImageFormat, RgbImage};
use serde_json::{Map, Value, json};

/// Numbers of items.
#[derive(Debug, Clone, Copy)]
pub struct Tavern {
    pub cards: usize,
    pub chats: usize,
    /// Messages per chat, including the greeting. One in four has two more swipes.
    pub messages: usize,
    pub worlds: usize,
    pub personas: usize,
    /// Groups with three members and one chat each.
    pub groups: usize,
    /// Width of the pictures in pixels.
    pub width: u32,
    pub height: u32,
}

impl Tavern {
    /// Size of a heavy user's folder.
    pub const LARGE: Self = Self {
        cards: 2_000,
        chats: 500,
        messages: 40,
        worlds: 60,
        personas: 12,
        groups: 20,
        width: 400,
        height: 600,
    };
    /// Large enough to interrupt its import.
    pub const SMALL: Self = Self {
        cards: 60,
        chats: 30,
        messages: 6,
        worlds: 6,
        personas: 3,
        groups: 4,
        width: 48,
        height: 72,
    };

    /// Writes the files into `folder`, which corresponds to `data/default-user`.
    pub fn write(&self, folder: &Path) {
        for number in 0..self.cards {
            write(
                folder,
                &format!("characters/{}.png", name(number)),
                self.card(number),
            );
        }
        for number in 0..self.chats {
            let who = name(number % self.cards);
            write(
                folder,
                &format!("chats/{who}/{}.jsonl", title(number)),
                self.chat(number),
            );
        }
        for number in 0..self.worlds {
            write(
                folder,
                &format!("worlds/{}.json", world(number)),
                self.world(number).to_string(),
            );
        }
        for number in 0..self.groups {
            let group = self.group(number).to_string();
            write(
                folder,
                &format!("groups/{}.json", 1_700_000_000_000 + number),
                group,
            );
            write(
                folder,
                &format!("group chats/{}.jsonl", group_chat(number)),
                self.talk(number),
            );
        }
        write(folder, "settings.json", self.settings().to_string());
        write(
            folder,
            "TextGen Settings/Big O.json",
            r#"{"temp":0.87,"top_p":0.99}"#,
        );
        write(folder, "TextGen Settings/Shipped.json", r#"{"temp":1.5}"#);
        write(folder, "themes/dark.json", "{}");
        write(folder, "backgrounds/sea.png", self.picture(0));
        for number in 0..self.personas {
            write(
                folder,
                &format!("User Avatars/{number}.png"),
                self.picture(number),
            );
        }
        for mood in ["joy", "sadness"] {
            write(
                folder,
                &format!("characters/{}/{mood}.png", name(0)),
                self.picture(mood.len()),
            );
        }
    }

    fn card(&self, number: usize) -> Vec<u8> {
        let mut card = Card::new(&name(number)).expect("a name");
        let story = format!(
            "{} keeps lamp {number} of the harbour and waits for word from the hills. ",
            name(number)
        );
        card.set_description(&story.repeat(30));
        card.set_first_mes(&format!("Good evening. I am {}.", name(number)));
        card.set_tags(&["harbour", ["calm", "wild", "old"][number % 3]]);
        if number.is_multiple_of(10) {
            let entry = |at: usize| {
                json!({ "keys": [format!("lamp {at}")], "content": format!("Lamp {at} burns whale oil. ").repeat(8),
                    "extensions": {}, "enabled": true, "insertion_order": at })
            };
            let entries: Vec<Value> = (0..12).map(entry).collect();
            let book = json!({ "name": format!("Lamps of {}", name(number)), "extensions": {}, "entries": entries });
            card.set_character_book(book.as_object().cloned().unwrap_or_default());
        }
        if number.is_multiple_of(7) {
            card.set_extension("fav", json!(true));
        }
        if self.worlds > 0 && number.is_multiple_of(4) {
            card.set_extension("world", json!(world(number % self.worlds)));
        }
        card.to_png(&self.picture(number))
            .expect("a card in a picture")
    }

    /// Returns a unique picture that does not compress well.
    fn picture(&self, number: usize) -> Vec<u8> {
        let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let picture = RgbImage::from_fn(self.width, self.height, |x, y| {
            // Xorshift noise over a gradient, similar to a drawing.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = (state & 15) as u8;
            image::Rgb([
                (x / 2) as u8 ^ noise,
                (y / 3) as u8 ^ noise,
                ((x + y) / 4) as u8,
            ])
        });
        let mut png = Cursor::new(Vec::new());
        picture
            .write_to(&mut png, ImageFormat::Png)
            .expect("a picture");
        png.into_inner()
    }

    fn chat(&self, number: usize) -> String {
        let who = name(number % self.cards);
        let mut about = json!({ "note_prompt": "" });
        if self.worlds > 0 && number.is_multiple_of(6) {
            about["world_info"] = json!(world(number % self.worlds));
        }
        let header = json!({ "user_name": "Tom", "character_name": who, "create_date": "2024-01-15@12h30m15s",
            "chat_metadata": about });
        let said = |at: usize| match at % 2 {
            0 => spoken(&who, number, at),
            _ => asked(number, at),
        };
        lines(std::iter::once(header).chain((0..self.messages).map(said)))
    }

    fn world(&self, number: usize) -> Value {
        let entry = |at: usize| {
            let entry = json!({ "uid": at, "key": [format!("reef {at}")], "keysecondary": [], "comment": "",
                "content": format!("Reef {at} of {} lies east of the hills. ", world(number)).repeat(6), "order": at,
                "position": 0, "disable": false });
            (at.to_string(), entry)
        };
        json!({ "entries": (0..20).map(entry).collect::<Map<_, _>>() })
    }

    fn members(&self, group: usize) -> [usize; 3] {
        [0, 1, 2].map(|step| (group * 3 + step) % self.cards)
    }

    fn group(&self, number: usize) -> Value {
        let files = self
            .members(number)
            .map(|member| format!("{}.png", name(member)));
        json!({ "id": (1_700_000_000_000 + number).to_string(), "name": format!("Harbour table {number}"),
            "members": files, "disabled_members": [], "activation_strategy": 0, "generation_mode": 0,
            "chat_id": group_chat(number), "chats": [group_chat(number)], "fav": false })
    }

    fn talk(&self, number: usize) -> String {
        let header =
            json!({ "user_name": "unused", "character_name": "unused", "chat_metadata": {} });
        let members = self.members(number);
        let said = |at: usize| match at % 4 {
            3 => asked(number, at),
            turn => {
                let mut line = spoken(&name(members[turn]), number, at);
                line["original_avatar"] = json!(format!("{}.png", name(members[turn])));
                line
            }
        };
        lines(std::iter::once(header).chain((0..self.messages).map(said)))
    }

    fn settings(&self) -> Value {
        let picture = |number: usize| format!("{number}.png");
        let personas: Map<_, _> = (0..self.personas)
            .map(|one| (picture(one), json!(persona(one))))
            .collect();
        let about = |one: usize| {
            let lorebook = if self.worlds > 0 {
                world(one % self.worlds)
            } else {
                String::new()
            };
            let connection = json!({ "type": "character", "id": format!("{}.png", name(one)) });
            let about = json!({
                "description": format!("{} sails.", persona(one)), "lorebook": lorebook,
                "position": 4, "depth": 3, "role": 1, "connections": [connection],
            });
            (picture(one), about)
        };
        let tagged = (0..self.cards)
            .step_by(5)
            .map(|one| (format!("{}.png", name(one)), json!(["t1"])));
        json!({
            "power_user": {
                "personas": personas,
                "persona_descriptions": (0..self.personas).map(about).collect::<Map<_, _>>(),
            },
            "world_info_settings": { "world_info": { "globalSelect": [world(0)], "charLore": [] } },
            "textgenerationwebui_settings": { "preset": "Big O" },
            "tags": [{ "id": "t1", "name": "shelf" }],
            "tag_map": tagged.collect::<Map<_, _>>(),
        })
    }
}

/// Name of a character and of its files.
pub fn name(number: usize) -> String {
    format!("Keeper {number:04}")
}

fn title(number: usize) -> String {
    format!("Evening {number:04}")
}

fn world(number: usize) -> String {
    format!("Reefs {number:03}")
}

fn persona(number: usize) -> String {
    if number == 0 {
        "Tom".to_owned()
    } else {
        format!("Tom {number}")
    }
}

fn group_chat(number: usize) -> String {
    format!("2024-02-{:02}@10h00m{number:02}s", number % 28 + 1)
}

fn spoken(who: &str, chat: usize, at: usize) -> Value {
    let text = |version: usize| {
        format!("Word {at}, version {version}, of chat {chat}: the lamps are lit. ").repeat(6)
    };
    let mut line = json!({ "name": who, "is_user": false, "is_system": false, "send_date": date(at), "mes": text(0),
        "extra": {} });
    if at.is_multiple_of(4) {
        line["swipes"] = json!([text(0), text(1), text(2)]);
        line["swipe_id"] = json!(0);
    }
    line
}

fn asked(chat: usize, at: usize) -> Value {
    json!({ "name": "Tom", "is_user": true, "is_system": false, "send_date": date(at),
        "mes": format!("And then? ({at} of {chat})"), "extra": {} })
}

fn date(at: usize) -> String {
    format!("2024-01-15T12:{:02}:00.000Z", at % 60)
}

fn lines(lines: impl Iterator<Item = Value>) -> String {
    lines
        .map(|line| line.to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}
