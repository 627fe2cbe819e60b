use proptest::prelude::*;

use super::*;

/// Pushes `pieces` and joins the results; `|` marks a stop, and the last item is the result of
/// `finish`.
fn check(stops: &[&str], pieces: &[&[u8]]) -> String {
    let stops: Vec<String> = stops.iter().map(|&stop| stop.into()).collect();
    let mut outlet = TextFilter::new(&stops, &[]);
    let mut shown = Vec::new();
    for piece in pieces {
        let Released { text, found } = outlet.push(piece);
        let stopped = found.is_some();
        shown.push(if stopped { format!("{text}|") } else { text });
        if stopped {
            return shown.join(",");
        }
    }
    shown.push(outlet.finish());
    shown.join(",")
}

#[test]
fn releases_a_split_character_when_complete() {
    let crab = "🦀".as_bytes();
    assert_eq!(
        check(&[], &[b"a", &crab[..3], &crab[3..], b"b"]),
        "a,,🦀,b,"
    );
}

#[test]
fn replaces_invalid_utf8() {
    assert_eq!(check(&[], &[b"a\xFFb", b"\xF0\x9F"]), "a\u{FFFD}b,,");
}

#[test]
fn holds_a_partial_stop_text() {
    assert_eq!(check(&["\nUser:"], &[b"Hi\nUs", b"ually"]), "Hi,\nUsually,");
    assert_eq!(check(&["\nUser:"], &[b"Hi\nUs", b"er", b": you"]), "Hi,,|");
    assert_eq!(check(&["\nUser:"], &[b"Hi\nUs"]), "Hi,\nUs");
}

#[test]
fn first_complete_stop_text_wins() {
    assert_eq!(check(&["END", "stop", ""], &[b"a stop END"]), "a |");
}

/// A scripted model: its tokens by place, and for each place the tokens it takes when earlier
/// ones are banned.
fn write(script: &[Vec<&[u8]>], stops: &[String], banned: &[String]) -> (Vec<String>, bool) {
    let mut filter = TextFilter::new(stops, banned);
    let mut refused = vec![0; script.len()];
    let (mut at, mut shown) = (0, Vec::new());
    while at < script.len() {
        let Some(piece) = script[at].get(refused[at]) else {
            return (shown, true);
        };
        let Released { text, found } = filter.push(piece);
        shown.push(text);
        at += 1;
        match found {
            Some(Found::Stop) => return (shown, true),
            Some(Found::Banned { token }) => {
                filter.roll_back(token);
                refused[token] += 1;
                refused[token + 1..].fill(0);
                at = token;
            }
            None => {}
        }
    }
    shown.push(filter.finish());
    (shown, false)
}

#[test]
fn goes_back_to_the_token_of_a_banned_text() {
    let script: Vec<Vec<&[u8]>> = vec![
        vec![b"A"],
        vec![b" voice barely", b" shout"],
        vec![b" above", b" over"],
        vec![b" a whisper"],
    ];
    let (shown, _) = write(&script, &[], &["BARELY above".to_owned()]);
    assert_eq!(shown, ["A", "", "", " shout", " above", " a whisper", ""]);
}

#[test]
fn earlier_end_wins_of_stop_and_ban() {
    let run = |text: &[u8]| {
        let mut filter = TextFilter::new(
            &["\nUser:".to_owned()],
            &["user: no".to_owned(), "x\nu".to_owned()],
        );
        filter.push(text).found
    };
    assert_eq!(run(b"Hm.\nUser: no"), Some(Found::Stop));
    assert_eq!(run(b"x\nUser:"), Some(Found::Banned { token: 0 }));
}

#[test]
fn a_split_character_rolls_back_as_a_whole() {
    let crab = "🦀".as_bytes();
    let mut filter = TextFilter::new(&[], &["🦀!".to_owned()]);
    for piece in [b"a", &crab[..2], &crab[2..]] {
        assert_eq!(filter.push(piece).found, None);
    }
    assert_eq!(filter.push(b"!").found, Some(Found::Banned { token: 1 }));
    filter.roll_back(1);
    assert_eq!(filter.push(b"b").text, "b");
    assert_eq!(filter.finish(), "");
}

proptest! {
    #[test]
    fn result_is_independent_of_token_boundaries(
        text in "[aébc🦀\n]{0,40}",
        stops in proptest::collection::vec("[aéb\n]{1,4}", 0..3),
        cuts in proptest::collection::vec(1usize..5, 0..60),
    ) {
        let at_once = {
            let mut outlet = TextFilter::new(&stops, &[]);
            let Released { text: mut out, found } = outlet.push(text.as_bytes());
            if found.is_none() {
                out += &outlet.finish();
            }
            out
        };
        let mut outlet = TextFilter::new(&stops, &[]);
        let (mut rest, mut out, mut ended) = (text.as_bytes(), String::new(), false);
        for cut in cuts.into_iter().chain([usize::MAX]) {
            let (piece, tail) = rest.split_at(cut.min(rest.len()));
            rest = tail;
            let Released { text, found } = outlet.push(piece);
            out += &text;
            if found.is_some() {
                ended = true;
                break;
            }
        }
        if !ended {
            out += &outlet.finish();
        }
        prop_assert_eq!(out, at_once);
    }

    /// No streamed prefix contains a banned text or a stop text, and nothing else is lost.
    #[test]
    fn banned_text_is_never_shown(
        script in proptest::collection::vec(proptest::collection::vec("[abAé🦀 ]{0,4}", 1..4), 0..25),
        cuts in proptest::collection::vec(0usize..6, 25),
        banned in proptest::collection::vec("[abé🦀]{1,4}", 0..3),
        stops in proptest::collection::vec("[aé ]{2,4}", 0..2),
    ) {
        // Tokens may end in the middle of a character; the next one then completes it.
        let mut bytes: Vec<Vec<Vec<u8>>> = Vec::new();
        for (place, cut) in script.iter().zip(cuts) {
            let split = place[0].len().saturating_sub(cut);
            if place.len() == 1 && cut > 0 && split > 0 {
                bytes.push(vec![place[0].as_bytes()[..split].to_vec()]);
                bytes.push(vec![place[0].as_bytes()[split..].to_vec()]);
            } else {
                bytes.push(place.iter().map(|text| text.as_bytes().to_vec()).collect());
            }
        }
        let script: Vec<Vec<&[u8]>> =
            bytes.iter().map(|place| place.iter().map(Vec::as_slice).collect()).collect();
        let (shown, ended) = write(&script, &stops, &banned);
        let shown = shown.concat();
        let folded: String = shown.chars().map(fold).collect();
        for text in &banned {
            prop_assert!(!folded.contains(text), "{shown:?} contains {text:?}");
        }
        for stop in &stops {
            prop_assert!(!shown.contains(stop), "{shown:?} contains {stop:?}");
        }
        if banned.is_empty() && !ended {
            let whole: Vec<u8> = script.iter().flat_map(|place| place[0].iter().copied()).collect();
            prop_assert_eq!(shown, String::from_utf8_lossy(&whole));
        }
    }
}
