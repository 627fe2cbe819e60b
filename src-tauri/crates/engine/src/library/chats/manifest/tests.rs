use super::*;
use crate::api::{Placement, PromptShares, PromptTokens, ReasonValue, SourceLabel, Zone};

/// A report with one block and one segment for each text.
fn report(texts: &[&str]) -> PromptReport {
    let block = |(at, text): (usize, &&str)| PromptBlock {
        id: at.to_string(),
        zone: Zone::Window,
        priority: None,
        kind: "message".to_owned(),
        source: "said by Tom".to_owned(),
        label: None,
        origin: Origin::BuiltIn,
        key: at.to_string(),
        reason: String::new(),
        reasons: Vec::new(),
        role: "user".to_owned(),
        turn: Some(at as u32),
        segment: Some(at as u32),
        score: None,
        signals: Vec::new(),
        tokens: 7,
        kept: true,
        dropped_reason: None,
        dropped_code: None,
        reused: false,
        text: (*text).to_owned(),
        own_text: None,
        source_text: Some(format!("{{{{user}}}} {text}")),
        known_to: None,
    };
    let segment = |text: &&str| PromptSegment {
        text: (*text).to_owned(),
        control: false,
    };
    PromptReport {
        text: texts.concat(),
        segments: texts.iter().map(segment).collect(),
        messages: Vec::new(),
        blocks: texts.iter().enumerate().map(block).collect(),
        tokens: PromptTokens::default(),
        shares: PromptShares::default(),
        placement: Placement::default(),
        epoch: 0,
        new_epoch: None,
        new_epoch_code: None,
        anchor: None,
        model: "tiny".to_owned(),
        template: "base-roleplay".to_owned(),
        notices: vec!["The macro {{secret}} is not known.".to_owned()],
        timings: Default::default(),
    }
}

fn read(chain: &[&str]) -> PromptReport {
    from_chain(
        chain
            .iter()
            .map(|json| serde_json::from_str(json).unwrap())
            .collect(),
    )
    .unwrap()
}

#[test]
fn manifest_without_texts_keeps_its_blocks() {
    let first = report(&["You are Mira.", "Hello."]);
    let second = report(&["You are Mira.", "Hello.", "A secret."]);
    let kept = Recorded {
        swipe: SwipeId(uuid::Uuid::nil()),
        report: first.clone(),
        bare: false,
        links: 0,
    };
    let first = to_json(&first, None);
    let second = to_json(&second, Some(&kept));
    assert_eq!(
        read(&[&second, &first]).text,
        "You are Mira.Hello.A secret."
    );

    let bare = without_words(&second).unwrap();
    assert!(!bare.contains("secret"), "{bare}");
    let told = read(&[&bare, &first]);
    assert_eq!(
        (told.text.as_str(), told.notices),
        ("You are Mira.Hello.", vec![WORDS_GONE.to_owned()])
    );
    assert_eq!(
        told.blocks
            .iter()
            .map(|block| block.tokens)
            .collect::<Vec<_>>(),
        [7, 7, 7]
    );

    let told = read(&[&bare, &without_words(&first).unwrap()]);
    assert_eq!(
        (told.text.as_str(), told.blocks.len()),
        ("", 3),
        "the earlier manifest lost its texts as well"
    );
    assert_eq!(without_words(&bare), None);
    assert!(
        bare.starts_with(BARE) && bare.contains(r#""checksum":"""#),
        "{bare}"
    );
}

/// A reply was permanently deleted, and its manifest with it.
#[test]
fn deleted_earlier_manifest_leaves_own_blocks() {
    let texts = ["You are Mira.", "Hello.", "A secret.", "More."];
    let [first, second, third] = [&texts[..2], &texts[..3], &texts[..]].map(report);
    let kept = |report: &PromptReport, links| Recorded {
        swipe: SwipeId(uuid::Uuid::nil()),
        report: report.clone(),
        bare: false,
        links,
    };
    let second_json = to_json(&second, Some(&kept(&first, 0)));
    let third_json = to_json(&third, Some(&kept(&second, 1)));
    let [second, third] = [&second_json, &third_json].map(|json| without_words(json).unwrap());
    let told = read(&[&third, &second]);
    assert_eq!(
        told.blocks
            .iter()
            .map(|block| block.key.as_str())
            .collect::<Vec<_>>(),
        ["2", "3"]
    );
    assert_eq!((told.segments.len(), told.text.as_str()), (4, ""));
    let unread = |json: &str| serde_json::from_str::<Stored>(json).unwrap();
    assert!(
        from_chain(vec![unread(&third_json), unread(&second_json)]).is_none(),
        "texts need the whole chain"
    );
}

#[test]
fn document_names_and_lore_keys_are_removed_too() {
    let mut written = report(&["By the sea.", "The reef."]);
    let document = Origin::Document {
        id: "1".into(),
        name: "SECRET.txt".into(),
    };
    let name = ("name".to_owned(), ReasonValue::Text("SECRET.txt".into()));
    written.blocks[0] = PromptBlock {
        origin: document,
        source: "document SECRET.txt".into(),
        label: Some(SourceLabel {
            code: "document".into(),
            values: [name].into(),
        }),
        ..written.blocks[0].clone()
    };
    let lore = Origin::Lore {
        book: "1".into(),
        entry: "2".into(),
    };
    written.blocks[1] = PromptBlock {
        origin: lore,
        reason: "key \"SECRET\" in the message of Tom".into(),
        ..written.blocks[1].clone()
    };
    let bare = without_words(&to_json(&written, None)).unwrap();
    assert!(!bare.contains("SECRET"), "{bare}");
    let told = read(&[&bare]);
    assert_eq!(
        (
            told.blocks[0].source.as_str(),
            told.blocks[1].reason.as_str()
        ),
        ("document", "by a key")
    );
}

#[test]
fn unreadable_manifest_becomes_empty() {
    assert_eq!(
        (without_words("A secret."), without_words("")),
        (Some(String::new()), None)
    );
}
