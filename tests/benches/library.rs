//! Benchmark of a library of 20,000 cards: listing, searching and changing tags.
//!
//! Run `cargo bench -p tests --bench engine -- library [CARDS]`.

use std::time::Instant;

use domain::{CharacterId, Timestamp};
use serde_json::json;
use store::{Character, Options, Store};
use uuid::Uuid;

const TAGS: [&str; 8] = [
    "cozy", "fantasy", "sea", "mystery", "romance", "horror", "comedy", "travel",
];

pub(crate) async fn run() {
    let count = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(20_000_u32);
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(
        dir.path(),
        Options {
            now: Timestamp(1),
            keys: None,
        },
    )
    .unwrap()
    .store;
    store
        .write(move |store| {
            (0..count).try_for_each(|number| store.characters_mut().insert(&character(number)))
        })
        .await
        .unwrap();
    drop(store);
    let options = engine::Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        ..engine::Options::default()
    };
    let engine = engine::Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));

    let timed = Instant::now();
    let listed = engine.list_characters().await.unwrap();
    println!(
        "the first list of {} cards, which describes them: {:.0?}",
        listed.len(),
        timed.elapsed()
    );
    for _ in 0..3 {
        let timed = Instant::now();
        let listed = engine.list_characters().await.unwrap();
        let took = timed.elapsed();
        println!(
            "list: {took:.1?}, {} KiB of JSON",
            serde_json::to_vec(&listed).unwrap().len() >> 10
        );
    }
    for query in ["lamplighter", "lamp", "harbour 1234", "a", "nowhere"] {
        let timed = Instant::now();
        let found = engine.find_characters(query.into()).await.unwrap().len();
        println!("find {query:?}: {found} in {:.1?}", timed.elapsed());
    }
    let hundred: Vec<_> = listed.iter().take(100).map(|one| one.id).collect();
    let timed = Instant::now();
    engine
        .tag_characters(hundred, vec!["new".into()], Vec::new())
        .await
        .unwrap();
    println!("a tag for 100 cards: {:.1?}", timed.elapsed());
    let timed = Instant::now();
    engine.list_characters().await.unwrap();
    println!("the list after that: {:.1?}", timed.elapsed());
}

/// A card of about four kilobytes.
fn character(number: u32) -> Character {
    let name = format!("Character {number}");
    let story =
        format!("{name} is a lamplighter of the harbour town who waits for word from the hills. ")
            .repeat(40);
    let tag = |step: usize| TAGS[(number as usize / step + step) % TAGS.len()];
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": name, "description": story, "first_mes": "Good evening.", "tags": [tag(1), tag(7)], "creator": "Kit",
        "extensions": {} } });
    Character {
        id: CharacterId(Uuid::from_u128(u128::from(number) + 1)),
        name,
        card_json: card.to_string(),
        spec: "chara_card_v2".into(),
        picture: None,
        source: None,
        created: Timestamp(i64::from(number)),
        updated: Timestamp(1),
    }
}
