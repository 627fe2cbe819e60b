//! Benchmark of importing a SillyTavern folder with 2,000 cards and 500 chats, and of a second
//! import that finds everything known.
//!
//! Run `cargo bench -p tests --bench engine -- tavern [CARDS CHATS]`.

use std::time::{Duration, Instant};

use engine::Engine;
use engine::api::{Event, ImportProgress};
use tests::tavern::Tavern;

pub(crate) async fn run() {
    let mut counts = std::env::args().filter_map(|argument| argument.parse().ok());
    let cards = counts.next().unwrap_or(Tavern::LARGE.cards);
    let tavern = Tavern {
        cards,
        chats: counts.next().unwrap_or(Tavern::LARGE.chats),
        ..Tavern::LARGE
    };
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let timed = Instant::now();
    tavern.write(folder.path());
    println!(
        "{tavern:?}\nmade, {} MiB, in {:.1?}",
        size(folder.path()) >> 20,
        timed.elapsed()
    );

    let options = engine::Options {
        data_dir: data.path().to_owned(),
        without_keychain: true,
        ..engine::Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    for run in ["first", "second"] {
        import(&engine, run, folder.path()).await;
    }
    let timed = Instant::now();
    println!(
        "the list of {}: {:.1?}",
        engine.list_characters().await.unwrap().len(),
        timed.elapsed()
    );
}

async fn import(engine: &Engine, run: &str, folder: &std::path::Path) {
    let (mut events, timed) = (engine.subscribe(), Instant::now());
    let watch = tokio::spawn(async move {
        let (mut moves, mut last, mut pause) = (0, Instant::now(), Duration::ZERO);
        let mut bar = ImportProgress::default();
        while let Some(event) = events.next().await {
            match event {
                Event::Importing { progress } if progress != bar => {
                    (moves, pause, last, bar) = (
                        moves + 1,
                        pause.max(last.elapsed()),
                        Instant::now(),
                        progress,
                    );
                }
                Event::ImportEnded { .. } => break,
                _ => {}
            }
        }
        (moves, pause)
    });
    let report = engine.import_sillytavern(folder.to_owned()).await.unwrap();
    let took = timed.elapsed();
    let (moves, pause) = watch.await.unwrap();
    let [imported, skipped, refused] = [
        report.imported.len(),
        report.skipped.len(),
        report.refused.len(),
    ];
    println!("{run} import: {took:.1?}; {imported} in, {skipped} passed over, {refused} refused");
    println!("  the progress bar moved {moves} times; its longest pause was {pause:.1?}");
}

fn size(folder: &std::path::Path) -> u64 {
    let inside = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    inside
        .map(|one| {
            if one.path().is_dir() {
                size(&one.path())
            } else {
                one.metadata().unwrap().len()
            }
        })
        .sum()
}
