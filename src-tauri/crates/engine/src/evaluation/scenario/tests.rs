use tempfile::tempdir;

use super::*;

/// Parses the text of a scenario file.
fn steps(lines: &str) -> Vec<Timed> {
    lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn played(lines: &str) -> Vec<Probed> {
    let folder = tempdir().unwrap();
    let options = Options {
        data_dir: folder.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    };
    run(options, steps(lines)).await.unwrap()
}

const BEFORE: &str = r#"
{"step":"pair","pair":"p","persona":"Tom","character":"Ada"}
{"step":"setting","key":"history_cap","value":"400","time":"2026-03-01T20:15"}
{"step":"say","pair":"p","chat":"main","who":"user","text":"My uncle named his parrot Zebulon.","id":"told"}
{"step":"say","pair":"p","chat":"main","who":"character","text":"Zebulon! What a name for a bird."}
"#;

fn small_talk(chat: &str, count: usize) -> String {
    let line = |at: usize| {
        let who = if at.is_multiple_of(2) {
            "user"
        } else {
            "character"
        };
        let text = format!(
            "Evening {at}: the sea is calm and the gulls are loud over the quay, as on every other day."
        );
        format!(
            r#"{{"step":"say","pair":"p","chat":"{chat}","who":"{who}","text":"{text}","time":"2026-04-02T09:00"}}"#
        )
    };
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

const ASK: &str = r#"{"step":"probe","id":"q","pair":"p","chat":"main","text":"What did my uncle name his parrot?"}"#;

#[tokio::test]
async fn recalls_message_with_its_day_and_source() {
    let answers = played(&[BEFORE, &small_talk("main", 60), ASK].join("\n")).await;
    let [answer] = answers.as_slice() else {
        panic!("{answers:?}")
    };
    assert!(
        answer
            .memory
            .contains("1 March 2026: My uncle named his parrot Zebulon."),
        "{answer:?}"
    );
    assert!(
        answer
            .items
            .iter()
            .any(|item| item.kind == "excerpt" && item.sources == ["told"]),
        "{answer:?}"
    );
    let of_items: u32 = answer.items.iter().map(|item| item.tokens).sum();
    assert_eq!(answer.memory_tokens, of_items);
    assert!(
        answer.tokens < answer.limit
            && (10..60).contains(&answer.window)
            && answer.prompt.is_none(),
        "{answer:?}"
    );
}

#[tokio::test]
async fn changed_message_is_not_recalled() {
    for change in [
        r#"{"step":"delete","message":"told"}"#,
        r#"{"step":"edit","message":"told","text":"My uncle has no pets."}"#,
        r#"{"step":"swipe","message":"told","text":"My uncle has no pets."}"#,
    ] {
        let lines = [BEFORE, &small_talk("main", 60), change, ASK].join("\n");
        let answer = played(&lines).await.remove(0);
        assert!(
            !answer.memory.contains("My uncle named"),
            "{change}: {answer:?}"
        );
    }
}

#[tokio::test]
async fn remember_and_forget_survive_a_restart() {
    let lines = r#"
{"step":"pair","pair":"p","persona":"Tom","character":"Ada"}
{"step":"turn","pair":"p","chat":"one","text":"Remember that I am allergic to nuts.","reply":"I will.","id":"wish"}
{"step":"reopen"}
{"step":"probe","id":"a","pair":"p","chat":"two","text":"What should I order?","whole":true}
{"step":"forget","pair":"p","text":"nuts"}
{"step":"probe","id":"b","pair":"p","chat":"two","text":"What should I order?"}
"#;
    let answers = played(lines).await;
    assert!(
        answers[0].memory.contains("allergic to nuts"),
        "{answers:?}"
    );
    assert_eq!(answers[0].items[0].sources, ["wish"]);
    assert!(
        answers[0]
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.contains("What should I order?"))
    );
    assert!(answers[1].memory.is_empty(), "{answers:?}");
}

#[tokio::test]
async fn sources_of_forgotten_memory_are_not_recalled() {
    let wish = r#"
{"step":"say","pair":"p","chat":"main","who":"user","text":"Remember that my uncle named his parrot Quillon."}
"#;
    let forget = r#"{"step":"forget","pair":"p","text":"Quillon"}"#;
    let told = played(&[BEFORE, wish, &small_talk("main", 60), ASK, forget, ASK].join("\n")).await;
    assert!(told[0].memory.contains("Quillon"), "{told:?}");
    assert!(
        !told[1].memory.contains("Quillon") && told[1].memory.contains("Zebulon"),
        "{told:?}"
    );
}

#[tokio::test]
async fn branch_recalls_only_shared_messages() {
    let branch = r#"{"step":"branch","pair":"p","chat":"main","after":"told","to":"other"}"#;
    let behind = r#"{"step":"say","pair":"p","chat":"main","who":"user","text":"My uncle also keeps a cat, Quillon."}"#;
    let ask = r#"{"step":"probe","id":"q","pair":"p","chat":"other","text":"What pets has my uncle?","whole":true}"#;
    let answers = played(&[BEFORE, branch, behind, &small_talk("other", 4), ask].join("\n")).await;
    let prompt = answers[0].prompt.as_deref().unwrap();
    assert!(
        prompt.contains("named his parrot Zebulon") && !prompt.contains("Quillon"),
        "{prompt}"
    );
}

#[tokio::test]
async fn edits_of_shared_messages_keep_the_branch() {
    let dawn = r#"{"step":"say","pair":"p","chat":"main","who":"user","text":"My uncle's bird sings at dawn.","id":"dawn"}"#;
    let branch = r#"{"step":"branch","pair":"p","chat":"main","after":"dawn","to":"other"}"#;
    let edit = r#"{"step":"edit","message":"told","text":"My aunt named her parrot Zebulon."}"#;
    let delete = r#"{"step":"delete","message":"told"}"#;
    let behind = r#"{"step":"say","pair":"p","chat":"main","who":"user","text":"My uncle also keeps a cat, Quillon."}"#;
    let ask = r#"{"step":"probe","id":"q","pair":"p","chat":"other","text":"What pets has my uncle?","whole":true}"#;
    for forked in [[branch, edit], [delete, branch]] {
        let lines = [
            &[BEFORE, dawn][..],
            &forked,
            &[behind, &small_talk("other", 4), ask],
        ]
        .concat()
        .join("\n");
        let answers = played(&lines).await;
        let prompt = answers[0].prompt.as_deref().unwrap();
        assert!(
            prompt.contains("sings at dawn") && !prompt.contains("Quillon"),
            "{prompt}"
        );
    }
}

/// No message says that something has changed, but a newer one names the dog. The prompt includes
/// the sentence of that long message that has the name.
#[tokio::test]
async fn old_value_comes_with_latest_mention() {
    let first = r#"
{"step":"say","pair":"p","chat":"main","who":"user","text":"My dog is a terrier called Bruno.","time":"2026-03-02T09:00"}
"#;
    let fog = "The fog came in over the quay, and a stray dog howled all night. ".repeat(8);
    let last = format!(
        r#"{{"step":"say","pair":"p","chat":"main","who":"user","text":"{fog}I have to walk my dog. Come, Quillon! {fog}","id":"last","time":"2026-03-09T09:00"}}"#
    );
    let ask =
        r#"{"step":"probe","id":"q","pair":"p","chat":"main","text":"What is my dog called?"}"#;
    let answer = played(&[BEFORE, first, &last, &small_talk("main", 60), ask].join("\n"))
        .await
        .remove(0);
    assert!(
        answer.memory.contains("Bruno") && answer.memory.contains("my dog. Come, Quillon!"),
        "{answer:?}"
    );
    let place = |word: &str| {
        answer
            .items
            .iter()
            .position(|item| item.text.contains(word))
    };
    assert!(
        place("Bruno") < place("Quillon"),
        "right after the older message: {answer:?}"
    );
}

#[tokio::test]
async fn an_error_names_the_step() {
    let folder = tempdir().unwrap();
    let options = Options {
        data_dir: folder.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    };
    let lines = format!("{BEFORE}\n{}", r#"{"step":"delete","message":"nobody"}"#);
    let error = run(options, steps(&lines)).await.unwrap_err();
    assert_eq!(error.to_string(), "step 5: There is no message \"nobody\".");
}
