//! Tests of zones, dropped blocks, and the order of dropping.

use super::support::*;
use context::frame::USUAL_ORDER;
use context::{
    AssembleError, Assembled, BlockKind, Budget, Candidate, ChatTemplate, Dropped, EpochReason,
    Frame, FrozenBlock, InsertionPoint, LoreSection, Placed, Placement, Setup, Source, Watermark,
    Zone, assemble,
};
use domain::chat::{Role, WindowState};
use domain::prompt::PromptRole;

fn dropped(sent: &Assembled, entry: &str) -> Option<Dropped> {
    let of = |source: &Source| source.key().ends_with(entry);
    sent.blocks
        .iter()
        .find(|block| of(&block.source))
        .unwrap_or_else(|| panic!("{entry}"))
        .dropped
}

fn with_setup(
    frame: &Frame,
    limit: u32,
    state: &WindowState,
    change: impl Fn(&mut Setup<'_>),
) -> Assembled {
    let template = ChatTemplate::chatml();
    let mut setup = Setup::new(Some(&template), "model", budget(limit));
    change(&mut setup);
    assemble(frame, &setup, state, &Words).unwrap()
}

#[test]
fn context_block_precedes_message_and_stays() {
    let mut frame = frame(chat(3, 2), "", "");
    frame.context = vec![
        lore("lamp", "Whale oil.", 1.0),
        fact("1", "Sam fears the dark.", 2.0),
    ];
    let sent = first(&frame, 400).unwrap();
    insta::assert_snapshot!(sent.prompt.messages.last().unwrap().text, @r"
    [CONTEXT]
    Facts:
    - Sam fears the dark.
    Lore:
    - Whale oil.
    [END OF CONTEXT]

    word word
    ");
    store(&mut frame.history, &sent);
    frame.history.push(said(3, Role::Character, "Indeed."));
    frame.history.push(said(4, Role::User, "Go on."));
    let next = with(&frame, budget(400), &sent.window).unwrap();
    assert_eq!(next.new_epoch, None);
    assert!(text(&next).starts_with(&text(&sent)));
    let again = next
        .blocks
        .iter()
        .filter(|block| block.dropped == Some(Dropped::AlreadyVisible))
        .count();
    assert_eq!(
        (again, next.prompt.messages.last().unwrap().text.as_str()),
        (2, "Go on."),
        "{}",
        plan(&next)
    );
}

/// If two candidates have the same content, the budget and the visible content decide which one is
/// included.
#[test]
fn drops_candidate_that_repeats_included_one() {
    let by = |other: &Candidate, one: Candidate| Candidate {
        said_by: vec![(other.source.clone(), other.text.clone())],
        ..one
    };
    let surer = fact("surer", "Sam fears the dark.", 2.0);
    let twin = by(&surer, fact("twin", "Sam fears the dark", 1.0));
    let mut frame = frame(chat(3, 2), "", "");
    frame.context = vec![twin.clone(), surer.clone()];
    let sent = first(&frame, 400).unwrap();
    assert_eq!(
        (dropped(&sent, "surer"), dropped(&sent, "twin")),
        (None, Some(Dropped::SaidByAnother))
    );

    let long = fact("surer", &words(900), 2.0);
    frame.context = vec![by(&long, twin.clone()), long];
    let sent_alone = first(&frame, 400).unwrap();
    assert_eq!(
        (dropped(&sent_alone, "surer"), dropped(&sent_alone, "twin")),
        (Some(Dropped::NoRoom), None)
    );

    store(&mut frame.history, &sent);
    frame.history.extend([
        said(3, Role::Character, "Indeed."),
        said(4, Role::User, "Go on."),
    ]);
    frame.context = vec![twin.clone()];
    let next = with(&frame, budget(400), &sent.window).unwrap();
    assert_eq!(
        dropped(&next, "twin"),
        Some(Dropped::SaidByAnother),
        "an earlier block contains it"
    );
    frame.context = vec![by(&fact("surer", "Sam feared the dark.", 2.0), twin)];
    let next = with(&frame, budget(400), &sent.window).unwrap();
    assert_eq!(
        dropped(&next, "twin"),
        None,
        "the text in the earlier block differs"
    );
}

/// A block keeps its source text and its own text, whether it is kept, dropped or re-sent with its
/// message.
#[test]
fn reports_every_stage_of_a_text() {
    let mut frame = frame(chat(1, 2), "", "");
    frame.head[0].written = Some("You are ${character.name}.".into());
    let huge = words(900);
    frame.context = vec![
        lore("lamp", "Mira burns\nwhale oil.", 2.0)
            .with_source_text(" {{char}} burns\nwhale oil.\n"),
        lore("plain", "It hisses.", 1.0).with_source_text("It hisses.\n"),
        lore("huge", &huge, 3.0).with_source_text("{{words}}"),
    ];
    let stages = |sent: &Assembled, entry: &str| {
        let block = sent
            .blocks
            .iter()
            .find(|block| block.source.key().ends_with(entry))
            .unwrap();
        (block.written.clone(), block.own.clone(), block.text.clone())
    };
    let sent = first(&frame, 200).unwrap();
    let (written, own, text) = stages(&sent, "lamp");
    assert_eq!(
        (written.as_deref(), own.as_deref()),
        (
            Some("{{char}} burns\nwhale oil."),
            Some("Mira burns\nwhale oil.")
        )
    );
    assert_eq!(text, "[CONTEXT]\nLore:\n- Mira burns\n  whale oil.");
    assert_eq!(stages(&sent, "plain").0, None);
    assert_eq!(
        stages(&sent, "huge"),
        (Some("{{words}}".into()), None, huge)
    );
    assert_eq!(
        stages(&sent, "builtIn").0.as_deref(),
        Some("You are ${character.name}.")
    );
    assert_eq!(stages(&sent, "builtIn").1, None, "it has no text around it");

    store(&mut frame.history, &sent);
    frame.context.clear();
    frame.history.extend([
        said(1, Role::Character, "Indeed."),
        said(2, Role::User, "Go on."),
    ]);
    let next = with(&frame, budget(200), &sent.window).unwrap();
    assert_eq!(stages(&next, "lamp"), stages(&sent, "lamp"));
}

/// The best candidates first; those that do not fit are skipped.
#[test]
fn fills_budget_by_score_and_skips_long_items() {
    let mut frame = frame(chat(1, 2), "", "");
    frame.context = vec![
        lore("low", &words(6), 1.0),
        lore("huge", &words(900), 3.0),
        lore("best", &words(8), 5.0),
    ];
    let sent = first(&frame, 200).unwrap();
    assert_eq!(
        ["best", "huge", "low"].map(|entry| dropped(&sent, entry)),
        [None, Some(Dropped::NoRoom), None]
    );
    let order: Vec<_> = sent.blocks.iter().filter_map(|block| block.score).collect();
    assert_eq!(order, [5.0, 3.0, 1.0]);
}

/// Lore gets half of the rest, and more if the other shares do not need theirs.
#[test]
fn unused_share_goes_to_the_others() {
    let mut frame = frame(chat(1, 2), "", "");
    frame.context = (0..20)
        .map(|entry| lore(&format!("{entry}"), &words(20), entry as f32))
        .collect();
    let only_lore = first(&frame, 400).unwrap();
    let lore_tokens = |sent: &Assembled| -> u32 {
        let of_lore = |block: &&context::PlannedBlock| {
            block.kind == BlockKind::Lore && block.dropped.is_none()
        };
        sent.blocks
            .iter()
            .filter(of_lore)
            .map(|block| block.tokens)
            .sum()
    };
    frame
        .context
        .extend((0..20).map(|id| fact(&format!("{id}"), &words(20), 1.0)));
    let both = first(&frame, 400).unwrap();
    assert!(
        lore_tokens(&only_lore) > lore_tokens(&both) && lore_tokens(&both) > 60,
        "{}",
        plan(&both)
    );
    assert!(only_lore.shares.retrieval_used * 10 >= only_lore.shares.retrieval_budget * 8);
}

/// In an append-only window excerpts stay until the epoch ends, so by default they get only a third
/// of the budget.
#[test]
fn retrieval_cap_lifts_limit_on_excerpts() {
    let mut frame = frame(chat(1, 2), "", "");
    let excerpt = |at: u128| {
        let source = Source::Message {
            id: id(900 + at),
            speaker: "Sam".into(),
        };
        Candidate::new(
            BlockKind::Excerpt,
            source,
            context::Reasons::default(),
            words(20),
        )
        .with_score(at as f32)
    };
    frame.context = (0..20).map(excerpt).collect();
    let used = |retrieval_cap: Option<u32>| {
        let chosen = Budget {
            retrieval_cap,
            ..budget(2_000)
        };
        let sent = with_setup(&frame, 2_000, &WindowState::default(), |setup| {
            setup.budget = chosen
        });
        (sent.shares.retrieval_used, sent.shares.retrieval_budget)
    };
    let (used_by_default, budget) = used(None);
    assert!(
        used_by_default * 20 <= budget * 9,
        "{used_by_default} of {budget}"
    );
    let (used_by_choice, chosen) = used(Some(budget));
    assert!(
        chosen == budget && used_by_choice * 10 >= budget * 8,
        "{used_by_choice} of {budget}"
    );
}

/// The texts of a template section go around the entries of its place; the entries stay separate
/// blocks.
#[test]
fn places_lore_at_template_section() {
    let mut frame = frame(chat(1, 1), "A keeper.", "An example.");
    let entry = |order, text| Placed {
        constant: true,
        ..placed(
            InsertionPoint::BeforeCharacter,
            PromptRole::System,
            order,
            text,
        )
    };
    frame.placed = vec![entry(2, "second"), entry(1, "first"), entry(3, "third")];
    let beside = with_setup(&frame, 1_000, &WindowState::default(), |_| {});
    let (before, after) = ("[World: ".to_owned(), "]".to_owned());
    frame.lore = vec![LoreSection {
        place: InsertionPoint::BeforeCharacter,
        at: 2,
        before,
        after,
    }];
    let again = with_setup(&frame, 1_000, &beside.window, |_| {});
    assert_eq!(
        again.new_epoch,
        Some(EpochReason::Head),
        "a changed text must begin an epoch"
    );

    for placement in [Placement::CacheFirst, Placement::Classic] {
        let head = |without: &[&str]| {
            let template = ChatTemplate::chatml();
            let without: Vec<String> = without
                .iter()
                .map(|entry| format!("lore:book/{entry}"))
                .collect();
            let setup = Setup {
                placement,
                without: &without,
                ..Setup::new(Some(&template), "model", budget(1_000))
            };
            let sent = assemble(&frame, &setup, &WindowState::default(), &Words).unwrap();
            let kept = sent
                .blocks
                .iter()
                .filter(|block| block.kind == BlockKind::Lore && block.dropped.is_none());
            assert_eq!(kept.count(), 3 - without.len(), "{}", plan(&sent));
            let head = sent.prompt.messages[0].text.clone();
            let end = head.find("\n\nExamples of").unwrap();
            head[..end]
                .strip_prefix("You are Mira, talking with Sam.\n\nA keeper.")
                .unwrap()
                .to_owned()
        };
        assert_eq!(head(&[]), "\n\n[World: first\n\nsecond\n\nthird]");
        assert_eq!(head(&["first", "third"]), "\n\n[World: second]");
        assert_eq!(
            head(&["first", "second", "third"]),
            "",
            "without entries there must be no section text"
        );
    }
}

/// Lore whose place the template has switched off is reported but not sent, in any placement.
#[test]
fn lore_at_disabled_place_is_not_sent() {
    let mut frame = frame(chat(1, 1), "A keeper.", "");
    let entry = |text, constant| Placed {
        constant,
        ..placed(InsertionPoint::BeforeCharacter, PromptRole::System, 1, text)
    };
    let elsewhere = placed(
        InsertionPoint::AfterCharacter,
        PromptRole::System,
        1,
        "elsewhere",
    );
    frame.placed = vec![entry("always", true), entry("woken", false), elsewhere];
    frame.without_lore = vec![InsertionPoint::BeforeCharacter];
    for placement in [Placement::CacheFirst, Placement::Classic] {
        let sent = with_setup(&frame, 1_000, &WindowState::default(), |setup| {
            setup.placement = placement
        });
        let off = Some(Dropped::SwitchedOff);
        assert_eq!(
            [
                dropped(&sent, "always"),
                dropped(&sent, "woken"),
                dropped(&sent, "elsewhere")
            ],
            [off, off, None]
        );
        let text: String = sent
            .segments
            .iter()
            .map(|segment| segment.text.as_str())
            .collect();
        assert!(
            text.contains("elsewhere") && !text.contains("always") && !text.contains("woken"),
            "{text}"
        );
    }
}

#[test]
fn important_message_stays_as_excerpt() {
    let mut history = chat(61, 12);
    history[4].text = "The key is under the third stone.".into();
    history[4].importance = Some(9);
    let sent = first(&frame(history, "A keeper.", ""), 600).unwrap();
    let excerpts: Vec<_> = sent
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Pinned)
        .collect();
    assert_eq!(excerpts.len(), 1);
    assert_eq!(
        (excerpts[0].zone, excerpts[0].dropped),
        (Zone::Digest, None)
    );
    assert!(
        sent.prompt.messages[0]
            .text
            .contains("Words to remember:\n- Mira: The key is under the third stone.")
            || sent.prompt.messages[0]
                .text
                .contains("Words to remember:\n- Sam: The key is under the third stone.")
    );
}

/// An important message among sixty stays verbatim, with the reason for its rating.
#[test]
fn rates_and_keeps_important_messages() {
    let mut history = chat(61, 12);
    for (at, message) in history.iter_mut().enumerate() {
        message.text =
            format!("{at} is nothing but small talk about the weather of this and other days");
    }
    history[4].text = "I promise: we meet Anna at the mill on the 3rd of May.".into();
    history[6].text = "Do not forget the lamp oil.".into();
    history[6].pinned = true;
    let frame = frame(history, "A keeper.", "");
    let sent = first(&frame, 600).unwrap();
    let excerpts: Vec<_> = sent
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Pinned)
        .collect();
    let reported: Vec<_> = excerpts
        .iter()
        .map(|block| (block.reasons.to_string(), block.dropped))
        .collect();
    let why = "important: a promise, decision or secret, numbers, names, concise";
    assert_eq!(
        reported,
        [(why.to_owned(), None), ("pinned by you".to_owned(), None)],
        "{}",
        plan(&sent)
    );
    assert_eq!(sent.judged, [(id(4), 9)]);
    // If only one fits, the pinned message is kept.
    let tight = with_setup(&frame, 600, &WindowState::default(), |setup| {
        setup.budget.history_cap = 140
    });
    assert_eq!(
        [
            dropped(&tight, &id(4).to_string()),
            dropped(&tight, &id(6).to_string())
        ],
        [Some(Dropped::NoRoom), None]
    );
}

/// The last two summaries of messages that left; summaries of messages in the window wait.
#[test]
fn digest_has_two_newest_summaries() {
    let mut frame = frame(chat(81, 10), "", "");
    let summary = |number: usize| {
        let about = frame.history[(number - 1) * 20..number * 20]
            .iter()
            .map(|message| message.id)
            .collect();
        let source = Source::Keyframe {
            id: format!("k{number}"),
        };
        Candidate::new(
            BlockKind::Keyframe,
            source,
            context::Reasons::default(),
            format!("Part {number}."),
        )
        .with_source_messages(about)
    };
    frame.digest = (1..=4).map(summary).collect();
    let sent = with_setup(&frame, 2_000, &WindowState::default(), |setup| {
        setup.budget.message_trim = Some(20)
    });
    let fates = ["k1", "k2", "k3", "k4"].map(|key| dropped(&sent, key));
    assert_eq!(
        fates,
        [
            Some(Dropped::NewerSummaries),
            None,
            None,
            Some(Dropped::InWindow)
        ]
    );
    let window = sent
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Message && block.dropped.is_none());
    assert!((10..=20).contains(&window.count()));
}

#[test]
fn digest_is_frozen_between_epochs() {
    let mut frame = frame(chat(1, 3), "", "");
    frame.digest = vec![fact("1", "Sam is a baker.", 1.0)];
    let sent = first(&frame, 400).unwrap();
    store(&mut frame.history, &sent);
    frame.history.extend([
        said(5, Role::Character, "Yes."),
        said(6, Role::User, "And?"),
    ]);
    frame.digest = vec![fact("2", "Sam moved to the sea.", 1.0)];
    let next = with(&frame, budget(400), &sent.window).unwrap();
    assert!(text(&next).contains("Facts:\n- Sam is a baker.") && !text(&next).contains("sea"));
    assert_eq!(dropped(&next, "memory:2"), Some(Dropped::NextEpoch));
    assert_eq!(next.shares.digest_used, sent.shares.digest_used);
}

/// A chat whose window has just used up its share of a limit of 700 tokens, and the previous window
/// state.
fn a_full_share() -> (Frame, WindowState) {
    let mut frame = frame(chat(20, 20), "", "");
    let state = first(&frame, 700).unwrap().window;
    frame.history.extend((20..25).map(|n| {
        said(
            n,
            if n % 2 == 0 {
                Role::Character
            } else {
                Role::User
            },
            &words(20),
        )
    }));
    frame.history.push(said(30, Role::User, "Now?"));
    (frame, state)
}

/// More lore than the retrieval budget allows.
fn much_lore() -> Vec<Candidate> {
    (0..20)
        .map(|entry| lore(&format!("{entry}"), &words(20), entry as f32))
        .collect()
}

/// History uses free tokens until retrieval needs them; retrieval then gets its full share.
#[test]
fn window_grows_into_unused_retrieval_budget() {
    let (mut frame, state) = a_full_share();
    frame.context = much_lore()[..2].to_vec();
    let grown = with_setup(&frame, 700, &state, |_| {});
    assert!(
        grown.shares.history_used > grown.shares.history_budget,
        "{:?}",
        grown.shares
    );
    assert_eq!((grown.new_epoch, grown.left.len()), (None, 0));
    let recalled = |sent: &Assembled| {
        sent.blocks
            .iter()
            .filter(|block| block.score.is_some() && block.dropped.is_none())
            .count()
    };
    assert_eq!(recalled(&grown), 2);

    let mut again = frame.clone();
    store(&mut again.history, &grown);
    let again = with_setup(&again, 700, &grown.window, |_| {});
    assert_eq!(
        (again.new_epoch, text(&again)),
        (None, text(&grown)),
        "a swipe must use the same prompt"
    );

    let capped = with_setup(&frame, 700, &state, |setup| {
        setup.budget.history_cap = grown.shares.history_budget
    });
    assert!(capped.shares.history_used <= grown.shares.history_budget);

    frame.context = much_lore();
    let moved = with_setup(&frame, 700, &state, |_| {});
    assert_eq!(moved.new_epoch, Some(EpochReason::Full), "{}", plan(&moved));
    assert!(recalled(&moved) > 4 && moved.shares.history_used < moved.shares.history_budget);
}

/// The messages can then be summarized before they must leave.
#[test]
fn grown_window_reports_messages_due_to_leave() {
    let (frame, state) = a_full_share();
    let grown = with_setup(&frame, 700, &state, |setup| {
        setup.watermark = Watermark::Nothing
    });
    assert_eq!((grown.new_epoch, grown.left.len()), (None, 0));
    let full = Frame {
        context: much_lore(),
        ..frame
    };
    assert_eq!(grown.uncovered, with_setup(&full, 700, &state, |_| {}).left);
    assert!(!grown.uncovered.is_empty());
}

/// Messages without a summary stay while the limit allows it, and are reported.
#[test]
fn uncovered_messages_stay_while_they_fit() {
    let (mut frame, state) = a_full_share();
    frame.context = much_lore();
    let cut = with_setup(&frame, 700, &state, |_| {});
    assert!(!cut.left.is_empty() && cut.uncovered.is_empty());
    let waits = with_setup(&frame, 700, &state, |setup| {
        setup.watermark = Watermark::Nothing
    });
    assert_eq!(
        (waits.left.len(), waits.new_epoch),
        (0, None),
        "{}",
        plan(&waits)
    );
    assert_eq!(waits.uncovered, cut.left);
    let covered = with_setup(&frame, 700, &state, |setup| {
        setup.watermark = Watermark::Upto(id(19))
    });
    assert_eq!((covered.left, covered.uncovered), (cut.left, vec![]));
    let hard = with_setup(
        &frame,
        420,
        &WindowState {
            epoch: 1,
            ..WindowState::default()
        },
        |setup| {
            setup.watermark = Watermark::Nothing;
        },
    );
    assert!(hard.total <= hard.budget.room() && !hard.uncovered.is_empty());
}

/// At any limit, head, last exchange and question stay whole. If they do not fit, the error states
/// the exact number of missing tokens.
#[test]
fn keeps_required_or_reports_missing_tokens() {
    let mut frame = frame(chat(31, 9), "A keeper of lamps.", "Examples of talk.");
    frame.context = much_lore();
    frame.digest = vec![fact("1", "Sam is a baker.", 1.0)];
    frame.history[2].pinned = true;
    let at = |limit| {
        let budget = Budget {
            reserve: 10,
            ..budget(limit)
        };
        with(&frame, budget, &WindowState::default())
    };
    let mut missing = Vec::new();
    for limit in (20..400).rev() {
        match at(limit) {
            Ok(sent) => {
                assert!(
                    missing.is_empty(),
                    "{limit} fits, but a larger limit did not"
                );
                let kept = |kind| {
                    sent.blocks
                        .iter()
                        .filter(|block| block.kind == kind && block.dropped.is_none())
                        .count()
                };
                assert!(
                    kept(BlockKind::Description) == 1 && kept(BlockKind::Message) >= 3,
                    "{}",
                    plan(&sent)
                );
                let character = kept(BlockKind::Rules) + kept(BlockKind::Description);
                assert!(
                    character == 2 && (kept(BlockKind::Lore) == 0 || kept(BlockKind::Message) >= 3)
                );
            }
            Err(AssembleError::Overflow(overflow)) => {
                missing.push((overflow.missing(), overflow.needed))
            }
            Err(error) => panic!("{error}"),
        }
    }
    let (least, needed) = missing[0];
    assert_eq!(
        (least, missing.last().unwrap().0),
        (1, missing.len() as u32)
    );
    assert!(missing.iter().all(|(_, all)| *all == needed) && at(needed).is_ok());
}

#[test]
fn only_edits_far_back_start_an_epoch() {
    let mut frame = frame(chat(41, 5), "", "");
    let state = first(&frame, 4_000).unwrap().window;
    frame.history[40].text = "Other words.".into();
    assert_eq!(with(&frame, budget(4_000), &state).unwrap().new_epoch, None);
    frame.history[3].text = "Long ago it was otherwise.".into();
    assert_eq!(
        with(&frame, budget(4_000), &state).unwrap().new_epoch,
        Some(EpochReason::Edited)
    );
}

fn placed(place: InsertionPoint, role: PromptRole, order: i32, text: &str) -> Placed {
    Placed {
        candidate: lore(text, text, 1.0),
        place,
        role,
        order,
        injection_order: USUAL_ORDER,
        constant: false,
    }
}

#[test]
fn classic_places_texts_as_their_authors_intended() {
    let mut frame = frame(chat(3, 1), "A keeper.", "An example.");
    frame.placed = vec![
        placed(
            InsertionPoint::BeforeCharacter,
            PromptRole::System,
            1,
            "before",
        ),
        placed(
            InsertionPoint::AfterCharacter,
            PromptRole::System,
            2,
            "after-two",
        ),
        placed(
            InsertionPoint::AfterCharacter,
            PromptRole::System,
            1,
            "after-one",
        ),
        placed(
            InsertionPoint::BeforeExamples,
            PromptRole::System,
            1,
            "above-examples",
        ),
        placed(InsertionPoint::Depth(1), PromptRole::System, 2, "depth-two"),
        placed(InsertionPoint::Depth(1), PromptRole::System, 1, "depth-one"),
        placed(InsertionPoint::Depth(0), PromptRole::User, 1, "last"),
        placed(InsertionPoint::Depth(99), PromptRole::System, 1, "oldest"),
    ];
    let sent = with_setup(&frame, 1_000, &WindowState::default(), |setup| {
        setup.placement = Placement::Classic
    });
    let shown: Vec<String> = sent
        .prompt
        .messages
        .iter()
        .map(|message| format!("{:?}: {}", message.role, message.text))
        .collect();
    insta::assert_snapshot!(shown.join("\n---\n"), @r"
    System: You are Mira, talking with Sam.

    before

    A keeper.

    after-one

    after-two

    above-examples

    Examples of how they talk: An example.
    ---
    System: oldest
    ---
    User: word
    ---
    Character: word
    ---
    System: depth-one
    depth-two
    ---
    User: word
    ---
    User: last
    ");
    frame
        .placed
        .retain(|placed| placed.role == PromptRole::System);
    let cache_first = first(&frame, 1_000).unwrap();
    let input = &cache_first.prompt.messages.last().unwrap().text;
    assert!(
        ["before", "depth-two", "oldest"]
            .iter()
            .all(|text| input.contains(text)),
        "{input}"
    );
    assert!(
        cache_first.context_blocks[0]
            .1
            .iter()
            .all(|block: &FrozenBlock| block.kind == BlockKind::Lore)
    );
}

/// Texts at depths, in both placements: injection order first, then the role; lore keeps its own
/// order.
#[test]
fn texts_at_a_depth_have_order_and_role() {
    use PromptRole::{Character, System, User};
    let section = |depth, injection_order, role, text: &str| Placed {
        candidate: Candidate::new(
            BlockKind::Section,
            Source::Note,
            context::Reasons::default(),
            text,
        ),
        injection_order,
        constant: true,
        ..placed(InsertionPoint::Depth(depth), role, 100, text)
    };
    let entry = |depth, role, order, text: &str| Placed {
        constant: true,
        ..placed(InsertionPoint::Depth(depth), role, order, text)
    };
    let shown = |placed: &[Placed], placement| {
        let mut frame = frame(chat(3, 1), "A keeper.", "");
        frame.placed = placed.to_vec();
        let sent = with_setup(&frame, 1_000, &WindowState::default(), |setup| {
            setup.placement = placement
        });
        let messages = sent.prompt.messages[1..]
            .iter()
            .map(|message| format!("{:?}: {}", message.role, message.text));
        messages.collect::<Vec<_>>().join(" | ")
    };
    for placement in [Placement::CacheFirst, Placement::Classic] {
        let of_preset = [
            section(1, 200, User, "c"),
            section(1, 50, System, "a"),
            section(1, 100, System, "b"),
            section(6, 100, System, "six"),
        ];
        assert_eq!(
            shown(&of_preset, placement),
            "System: six | User: word | Character: word | System: a\nb | User: c | User: word",
            "{placement:?}"
        );
        let one_order = [
            section(0, 100, System, "s"),
            section(0, 100, Character, "c"),
            section(0, 100, User, "u"),
        ];
        assert_eq!(
            shown(&one_order, placement),
            "User: word | Character: word | User: word | Character: c | User: u | System: s",
            "{placement:?}"
        );
        let of_book = [
            entry(1, Character, 2, "answer"),
            entry(1, User, 1, "question"),
            entry(1, System, 3, "rule"),
        ];
        assert_eq!(
            shown(&of_book, placement),
            "User: word | Character: word | User: question | Character: answer | System: rule | User: word",
            "{placement:?}"
        );
    }
}

/// Texts that stay in the context block are sorted by depth, after the others.
#[test]
fn context_block_is_ordered_by_depth() {
    let mut frame = frame(chat(1, 1), "A keeper.", "");
    frame.placed = [(1, "one"), (6, "six"), (0, "zero"), (4, "four")]
        .map(|(depth, text)| placed(InsertionPoint::Depth(depth), PromptRole::System, 1, text))
        .into();
    frame.placed.push(placed(
        InsertionPoint::BeforeCharacter,
        PromptRole::System,
        1,
        "beside",
    ));
    let sent = first(&frame, 1_000).unwrap();
    let input = &sent.prompt.messages.last().unwrap().text;
    let found = ["beside", "six", "four", "one", "zero"].map(|text| input.find(text).unwrap());
    assert!(found.is_sorted(), "{input}");
}

/// The prompt ends with the beginning of the reply, unless a reply is continued or has used tools.
#[test]
fn reply_begins_with_its_start() {
    let mut frame = frame(chat(3, 1), "A keeper.", "");
    frame.reply_start = "*She nods.* ".into();
    let sent = first(&frame, 1_000).unwrap();
    assert!(sent.prompt.continues);
    let last = sent.prompt.messages.last().unwrap();
    assert_eq!(
        (last.role, last.text.as_str()),
        (PromptRole::Character, "*She nods.*")
    );
    assert!(
        sent.segments.last().unwrap().text.ends_with("*She nods.*"),
        "{:?}",
        sent.segments.last()
    );
    frame.history.push(said(9, Role::Character, "Yes, and"));
    let continued = first(&frame, 1_000).unwrap();
    assert!(!text(&continued).contains("nods"));
}

/// Excluded sources are not sent, and the plan reports them.
#[test]
fn excluded_blocks_are_reported_but_not_sent() {
    let mut frame = frame(chat(1, 2), "A keeper.", "");
    frame.context = vec![lore("lamp", "Whale oil.", 1.0)];
    let without = [
        "lore:book/lamp".to_owned(),
        "card:Mira/description".to_owned(),
    ];
    let template = ChatTemplate::chatml();
    let setup = Setup {
        without: &without,
        ..Setup::new(Some(&template), "model", budget(400))
    };
    let sent = assemble(&frame, &setup, &WindowState::default(), &Words).unwrap();
    assert!(!text(&sent).contains("Whale") && !text(&sent).contains("keeper"));
    assert_eq!(
        sent.blocks
            .iter()
            .filter(|block| block.dropped == Some(Dropped::LeftOut))
            .count(),
        2
    );
}
