//! Full-text search over messages.

use domain::chat::Role;

use crate::tests::*;
use domain::search_query::SearchTerm;

use crate::{FoundMessage, NewSwipe, SearchAuthor, SearchFilter};

fn words(text: &str) -> Vec<SearchTerm> {
    text.split(' ')
        .map(|word| SearchTerm::Word(word.to_owned()))
        .collect()
}

async fn find(store: &Store, terms: Vec<SearchTerm>, filter: SearchFilter) -> Vec<FoundMessage> {
    store
        .read(move |r| r.message_search().find(&terms, &filter, 0, 50))
        .await
        .unwrap()
}

/// The numbers of the found versions, the last added first.
async fn numbers(store: &Store, terms: Vec<SearchTerm>) -> Vec<u128> {
    find(store, terms, SearchFilter::default())
        .await
        .iter()
        .map(|found| found.swipe.0.as_u128())
        .collect()
}

#[tokio::test]
async fn finds_words_of_any_script() {
    let store = furnished().await;
    for (number, text) in [
        (1, "The lamps of Éloïse burn."),
        (2, "桜の木の下で"),
        (3, "A cherry tree."),
        (4, "Лампа горит"),
        (5, "สวัสดี"),
    ] {
        say(&store, number, text).await;
    }
    for (sought, expected) in [
        ("lamp", vec![1]),
        ("ELOISE burn", vec![1]),
        ("桜", vec![2]),
        ("木の下", vec![2]),
        ("の桜", vec![]),
        ("лампа", vec![4]),
        ("สวัส", vec![5]),
        ("tree lamp", vec![]),
        ("…", vec![]),
    ] {
        assert_eq!(numbers(&store, words(sought)).await, expected, "{sought}");
    }
    assert_eq!(
        numbers(&store, vec![SearchTerm::Phrase("of eloise".into())]).await,
        [1]
    );
    assert_eq!(
        numbers(&store, vec![SearchTerm::Phrase("eloise of".into())]).await,
        [0; 0]
    );
}

/// Texts, and words that must find them.
const FORMS: [(&str, &[&str]); 24] = [
    (
        "こんにちは佐々木さん、元気ですか",
        &["佐々木", "々", "木さん"],
    ),
    ("美しい人々が集まる", &["人々", "人"]),
    ("二〇二五年の夏", &["二〇二五", "〇"]),
    ("ﾗﾝﾌﾟを消して", &["ランプ", "ﾗﾝﾌﾟ", "プ"]),
    (
        "か\u{3099}っこうへ行く",
        &["がっこう", "が", "か\u{3099}っこう"],
    ),
    (
        "ＡＢＣホテル１２３号室",
        &["abc", "ABC", "123号室", "ホテル"],
    ),
    (
        "감사합니다",
        &["감사", "\u{1100}\u{1161}\u{11b7}\u{1109}\u{1161}"],
    ),
    (
        "\u{110b}\u{1161}\u{11ab}\u{1102}\u{1167}\u{11bc}",
        &["안녕", "안"],
    ),
    ("他姓𠮷田", &["𠮷田", "𠮷"]),
    ("侮\u{fa30}", &["侮"]),
    ("ຂ້ອຍຮັກພາສາລາວຫຼາຍ", &["ພາສາ", "ລາວ"]),
    ("ខ្ញុំស្រឡាញ់ភាសាខ្មែរណាស់", &["ភាសា", "ខ្មែរ"]),
    ("ကျွန်တော်မြန်မာစာကိုချစ်သည်", &["မြန်မာ"]),
    ("Łódź jest ładna", &["lodz", "Łódź", "ladna"]),
    ("İstanbul ve Iğdır ılık", &["istanbul", "igdir", "ilik"]),
    (
        "Die Straße ist groß",
        &["strasse", "Straße", "GROSS", "STRASSE"],
    ),
    ("Smørrebrød på Ærø", &["smorrebrod", "aero", "pa"]),
    ("Bệnh viện Đà Nẵng", &["da nang", "be\u{302}\u{323}nh"]),
    ("Þór og Œuvre", &["thor", "oeuvre"]),
    (
        "I saw a 🦊 and 👩\u{200d}🚀 today",
        &["🦊", "👩\u{200d}🚀", "🚀"],
    ),
    ("I like C++ and C#", &["C++", "c#", "C# "]),
    ("Haupt\u{ad}bahnhof", &["hauptbahnhof", "haupt"]),
    ("محـــمد هنا", &["محمد"]),
    ("Ο ΟΔΥΣΣΕΥΣ", &["οδυσσευς"]),
];

#[tokio::test]
async fn forms_of_a_letter_and_symbols_are_found() {
    let store = furnished().await;
    for (text, sought) in FORMS {
        say(&store, 1, text).await;
        for sought in sought {
            assert_eq!(
                numbers(&store, words(sought.trim())).await,
                [1],
                "{sought:?} in {text:?}"
            );
        }
        for other in ["c##", "🐺", "人民", "ンラ", "🦊🚀"] {
            assert_eq!(
                numbers(&store, words(other)).await,
                [0; 0],
                "{other:?} in {text:?}"
            );
        }
        store
            .on_writer(|conn| conn.execute("DELETE FROM message", []))
            .await
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn an_upgrade_indexes_all_texts_again() {
    let dir = tempfile::tempdir().unwrap();
    let before = crate::migrate::MIGRATIONS
        .iter()
        .position(|step| step.contains("half-width forms"))
        .unwrap();
    let old = crate::tests::data_folder::opening::open_with(
        dir.path(),
        &crate::migrate::MIGRATIONS[..before],
    )
    .unwrap()
    .store;
    create_library(&old).await;
    say(&old, 1, "Die Straße der 佐々木").await;
    let emptied = "INSERT INTO swipe_search (swipe_search) VALUES ('delete-all');
        INSERT INTO swipe_search (rowid, words) SELECT number, 'straße' FROM swipe_number";
    old.on_writer(move |conn| conn.execute_batch(emptied))
        .await
        .unwrap()
        .unwrap();
    drop(old);
    let store = open(dir.path()).store;
    for sought in ["strasse", "佐々木"] {
        assert_eq!(numbers(&store, words(sought)).await, [1], "{sought}");
    }
    store
        .write(|w| w.messages_mut().edit(message_id(1), "Ein Weg."))
        .await
        .unwrap();
    assert_eq!(numbers(&store, words("strasse")).await, [0; 0]);
}

#[tokio::test]
async fn edits_versions_and_deletions_reach_the_index() {
    let store = furnished().await;
    say(&store, 1, "The red door.").await;
    say(&store, 2, "The green door.").await;
    assert_eq!(numbers(&store, words("door")).await, [2, 1]);
    store
        .write(|w| w.messages_mut().edit(message_id(1), "The blue gate."))
        .await
        .unwrap();
    assert_eq!(
        (
            numbers(&store, words("red")).await,
            numbers(&store, words("blue")).await
        ),
        (vec![], vec![1])
    );

    let other = NewSwipe {
        id: swipe_id(7),
        ..swipe(7, "The yellow door.")
    };
    store
        .write(move |w| w.swipes_mut().add(message_id(2), &other))
        .await
        .unwrap();
    let found = find(&store, words("door"), SearchFilter::default()).await;
    assert_eq!(found.len(), 2);
    let shown = find(
        &store,
        words("door"),
        SearchFilter {
            shown_only: true,
            ..SearchFilter::default()
        },
    )
    .await;
    assert_eq!(shown.len(), 1);

    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(10)))
        .await
        .unwrap();
    assert_eq!(numbers(&store, words("door")).await, [0; 0]);
}

#[tokio::test]
async fn hits_of_one_chat_are_in_its_order() {
    let store = furnished().await;
    for (number, text) in [(3, "A lamp."), (1, "No light."), (2, "Two lamps.")] {
        say(&store, number, text).await;
    }
    let in_order = async |terms: Vec<SearchTerm>, limit| {
        let filter = SearchFilter {
            chat: Some(CHAT),
            ..SearchFilter::default()
        };
        let found = store
            .read(move |r| r.message_search().in_order(&terms, &filter, limit))
            .await
            .unwrap();
        found
            .into_iter()
            .map(|message| message.0.as_u128())
            .collect::<Vec<_>>()
    };
    assert_eq!(in_order(words("lamp"), 9).await, [3, 2]);
    assert_eq!(in_order(words("lamp"), 1).await, [2]);
    assert_eq!(in_order(words("…"), 9).await, [0; 0]);
    assert_eq!(in_order(Vec::new(), 9).await, [3, 1, 2]);
}

/// A filter with some fields set.
fn filter(set: impl FnOnce(&mut SearchFilter)) -> SearchFilter {
    let mut filter = SearchFilter::default();
    set(&mut filter);
    filter
}

#[tokio::test]
async fn filters_limit_the_search() {
    let store = furnished().await;
    for (number, role) in [(1, Role::User), (2, Role::Character), (3, Role::User)] {
        let new = message(number, role, "A lantern.");
        store
            .write(move |w| w.messages_mut().append(&new))
            .await
            .unwrap();
    }
    let cases: [(SearchFilter, &[u128]); 9] = [
        (filter(|f| f.author = Some(SearchAuthor::User)), &[3, 1]),
        (
            filter(|f| f.author = Some(SearchAuthor::Named("ad".into()))),
            &[2],
        ),
        (
            filter(|f| f.author = Some(SearchAuthor::Named("Bo".into()))),
            &[],
        ),
        (filter(|f| f.title = Some("EVENING".into())), &[3, 2, 1]),
        (filter(|f| f.title = Some("Évening".into())), &[3, 2, 1]),
        (filter(|f| f.title = Some("morning".into())), &[]),
        (
            filter(|f| {
                f.since = Some(Timestamp(2));
                f.until = Some(Timestamp(3));
            }),
            &[2],
        ),
        (filter(|f| f.has_picture = true), &[]),
        (filter(|f| f.chat = Some(CHAT)), &[3, 2, 1]),
    ];
    for (filter, expected) in cases {
        let found = find(&store, words("lantern"), filter.clone()).await;
        let found: Vec<u128> = found.iter().map(|found| found.swipe.0.as_u128()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    assert_eq!(
        find(
            &store,
            Vec::new(),
            filter(|f| f.author = Some(SearchAuthor::User))
        )
        .await
        .len(),
        2
    );
}
