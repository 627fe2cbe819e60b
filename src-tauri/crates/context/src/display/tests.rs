use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> (String, String) {
    display(text).map_or((text.to_owned(), String::new()), |display| {
        (display.text, display.thoughts)
    })
}

#[test]
fn separates_thoughts_whether_closed_or_not() {
    assert_eq!(
        shown("<think>She is cold.</think>\n\nCome in."),
        ("Come in.".to_owned(), "She is cold.".to_owned())
    );
    assert_eq!(
        shown("<THINK>never\nclosed"),
        (String::new(), "never\nclosed".to_owned())
    );
    assert_eq!(
        shown("Come in.\n<reasoning>Why?</reasoning> Sit."),
        ("Come in.\n Sit.".to_owned(), "Why?".to_owned())
    );
}

#[test]
fn recognizes_every_spelling_of_thoughts() {
    for text in [
        "<think>Cold.</think>Come in.",
        "<think type=\"deep\" x='1'>Cold.</think>Come in.",
        "<Think >Cold.</Think>\n\nCome in.",
        "<THINKING>Cold.</THINKING>Come in.",
        "<thought>\nCold.\n</thought>\nCome in.",
        "<reasoning>Cold.</reasoning>Come in.",
        "<seed:think>Cold.</seed:think>Come in.",
        "<mm:think>Cold.</mm:think>Come in.",
        "<think>Cold.</thinking>Come in.",
        "<|begin_of_thought|>Cold.<|end_of_thought|>\n<|begin_of_solution|>Come in.<|end_of_solution|>",
        "<|START_THINKING|>Cold.<|END_THINKING|><|START_RESPONSE|>Come in.<|END_RESPONSE|>",
        "<|channel>thought\nCold.<channel|>Come in.",
        "<|channel>thought Cold.<channel|><|channel>final\nCome in.<channel|>",
        "<|channel|>analysis<|message|>Cold.<|end|><|start|>assistant<|channel|>final<|message|>Come in.",
        "<|channel|>analysis<|message|>Co<|channel|>commentary<|message|>ld.<|end|><|channel|>final<|message|>Come in.<|return|>",
        "<|start|>assistant<|channel|>analysis<|message|>Cold.<|end|><|start|>assistant<|channel|>final<|message|>Come in.",
        "[THINK]Cold.[/THINK]Come in.",
        "[think]\nCold.[/think]\nCome in.",
        "◁think▷Cold.◁/think▷Come in.",
        "Cold.\n</think>\n\nCome in.",
        "Cold.</think>Come in.",
        "Cold. </think> Come in.",
        "Cold.[/THINK]Come in.",
        "Cold.</seed:think>Come in.",
        "Cold.<channel|>Come in.",
    ] {
        assert_eq!(
            shown(text),
            ("Come in.".to_owned(), "Cold.".to_owned()),
            "{text}"
        );
    }
    assert_eq!(shown("Cold.</think>").1, "Cold.");
    assert_eq!(shown("<think/>Come in.").0, "Come in.");
    assert_eq!(
        shown("<think>a</think>\n</think>\nb"),
        ("b".to_owned(), "a".to_owned())
    );
}

#[test]
fn shows_text_that_mentions_tags() {
    for words in [
        "Write </think> first.",
        "Say \"</think>\" to stop.",
        "`<|channel|>analysis<|message|>`",
        "<|end|> is a token, <|message|> too.",
        "[thinks] He nods.",
        "A [THINK] in the middle.",
        "<thinker>",
        "<think about it",
        "<seed:oil>",
        "a </b> c",
        "Write <think> first.",
        "a < b <3 <thin",
        "<b>bold</b>",
        "`</think>`",
    ] {
        assert_eq!(display(words), None, "{words}");
    }
}

#[test]
fn hides_and_flags_metrics_and_keyframes() {
    let display =
        display("<metrics>joy 3</metrics>Hello.\n<keyframe>They met.</keyframe>").unwrap();
    assert_eq!(
        (
            display.text.as_str(),
            display.has_metrics,
            display.has_keyframe
        ),
        ("Hello.", true, true)
    );
}

#[test]
fn hides_passages_in_parentheses_at_line_starts() {
    for text in [
        "(Metrics: joy 0.8)\nHello there.",
        "(metrics)\nHello there.",
        "Hello there.\n(Reminder: stay (very) kind)",
        "(KeyFrame They met.\nIt rained.)\n\nHello there.",
        "  (KEYFRAME: a)\n(Metrics: b)\nHello there.",
        "(Metrics: never closed\n\nHello there.",
    ] {
        assert_eq!(shown(text).0, "Hello there.", "{text}");
    }
    assert!(display("(Metrics: joy 0.8)\nHello.").unwrap().has_metrics);
    assert!(
        display("(KeyFrame: They met.)\nHello.")
            .unwrap()
            .has_keyframe
    );
    for words in [
        "(Metricsystem) Hello.",
        "She (Metrics aside) waits.",
        "(Remind me!) Hello.",
        "(Reminders) a",
        "(Key)",
        "(Metrics",
    ] {
        assert_eq!(display(words), None, "{words}");
    }
}

/// Each flag has its own fixture; plain text sets none.
#[test]
fn sets_flag_for_each_kind_of_hidden_passage() {
    let flags = |text| {
        let found = display(text).unwrap();
        [
            found.has_thoughts,
            found.has_metrics,
            found.has_keyframe,
            found.ends_episode,
        ]
    };
    assert_eq!(flags("<think></think>Hello."), [true, false, false, false]);
    assert_eq!(
        flags("<metrics>joy 3</metrics>Hello."),
        [false, true, false, false]
    );
    assert_eq!(
        flags("<keyframe>They met.</keyframe>"),
        [false, false, true, false]
    );
    assert_eq!(
        flags("Good night. #NEXT EPISODE#"),
        [false, false, false, true]
    );
    assert_eq!(display("Hello."), None);
}

#[test]
fn hides_episode_end_at_any_position() {
    assert_eq!(shown("Good night.\n\n#NEXT EPISODE#").0, "Good night.");
    assert_eq!(shown("So #next episode# it ends.").0, "So  it ends.");
    for words in ["#1 of 2", "the #NEXT EPISODE", "##"] {
        assert_eq!(display(words), None, "{words}");
    }
}

#[test]
fn starts_in_thoughts_if_prompt_opened_them() {
    let mut filter = PassageFilter::thinking();
    let pieces = filter.push("Hm.</think>Yes.");
    assert_eq!(pieces[0].passage, ReplyPassage::Thoughts);
    assert_eq!(
        (pieces[1].passage, pieces[1].text.as_str()),
        (ReplyPassage::Words, "Yes.")
    );
}

proptest! {
    /// For any division into chunks, no hidden text is shown and no text is lost.
    #[test]
    fn any_chunking_gives_the_same_passages(
        parts in proptest::collection::vec(
            prop_oneof![Just("<think>"), Just("</think>"), Just("</seed:think> "), Just("<think a=\"1\">"), Just("[THINK]"), Just("[/THINK]"), Just("<|channel|>"), Just("final"), Just("<|message|>"), Just("<|channel>"), Just("<channel|>"), Just("<|end|>"), Just("."), Just("`"), Just("<metrics>"), Just("</metrics>"), Just("(Metrics: "), Just("(keyframe"), Just("("), Just(")"), Just("\n"), Just("wörds "), Just("<"), Just("</"), Just("#"), Just("#NEXT EPISODE#")],
            0..12,
        ),
        cut in 1_usize..5,
    ) {
        let text: String = parts.concat();
        let mut filter = PassageFilter::default();
        let letters: Vec<char> = text.chars().collect();
        let mut pieces = Vec::new();
        for chunk in letters.chunks(cut) {
            pieces.extend(filter.push(&chunk.iter().collect::<String>()));
        }
        pieces.extend(filter.finish());
        let raw: String = pieces.iter().map(|piece| piece.raw.as_str()).collect();
        prop_assert_eq!(&raw, &text);
        let words = |pieces: &[ReplyPiece]| -> String {
            let closed = pieces.iter().position(|piece| piece.passage == ReplyPassage::ThoughtsClosed).unwrap_or(0);
            pieces[closed..].iter().filter(|piece| piece.passage == ReplyPassage::Words).map(|piece| piece.text.as_str()).collect()
        };
        let mut whole = PassageFilter::default();
        let mut at_once = whole.push(&text);
        at_once.extend(whole.finish());
        prop_assert_eq!(words(&pieces), words(&at_once));
    }
}
