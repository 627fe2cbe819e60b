//! Tiny models with a tiny projector for pictures: a picture is read once, and the logits are those
//! of a fresh evaluation.

use std::io::{PipeWriter, Write};
use std::sync::Mutex;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use worker::frame;
use worker::protocol::{MAX_PICTURE_EDGE, Pixels, WirePicture, WorkerRequest};

use super::*;
use crate::projector::Projector;

/// The pictures of the running request.
pub(super) type Shown = Arc<Mutex<Vec<WirePicture>>>;

/// The supervisor's end of the pipes: it answers every request for pixels.
pub(super) struct PixelSource {
    requests: PipeWriter,
    shown: Shown,
    received: Vec<u8>,
}

impl PixelSource {
    pub(super) fn new(requests: PipeWriter, shown: Shown) -> Self {
        Self {
            requests,
            shown,
            received: Vec::new(),
        }
    }
}

impl Write for PixelSource {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.received.extend_from_slice(bytes);
        while let Some(head) = self.received.first_chunk() {
            let end = frame::HEAD + frame::length(*head).unwrap();
            let Some(json) = self.received.get(frame::HEAD..end) else {
                break;
            };
            let reply = frame::decode::<WorkerReply>(json).unwrap();
            self.received.drain(..end);
            if let WorkerReply::PixelsWanted { id, picture } = reply {
                let rgb = BASE64_STANDARD.encode(pixels(&self.shown.lock().unwrap()[picture]));
                frame::write(
                    &mut self.requests,
                    &WorkerRequest::Pixels(Pixels { id, picture, rgb }),
                )
                .unwrap();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Stripes that follow from the identity; nothing for a picture named `broken`.
fn pixels(picture: &WirePicture) -> Vec<u8> {
    if picture.identity == "broken" {
        return Vec::new();
    }
    let seed = picture
        .identity
        .bytes()
        .fold(7u32, |seed, byte| seed * 31 + u32::from(byte));
    let stripe = |x: u32, y: u32, channel: u32| {
        ((x * (seed % 13 + 1) + y * (seed % 7) + channel * seed) % 256) as u8
    };
    let points = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    points
        .flat_map(|(x, y)| [0, 1, 2].map(|channel| stripe(x, y, channel)))
        .collect()
}

fn picture(before: usize, identity: &str) -> WirePicture {
    WirePicture {
        before,
        identity: identity.to_owned(),
        width: 96,
        height: 64,
    }
}

/// A prompt with the pictures `shown`, each before the message with its index.
fn with_pictures(
    messages: &[&str],
    shown: &[(usize, &str)],
) -> (Vec<WireSegment>, Vec<WirePicture>) {
    // Three segments of the system message, and three of each message, of which the second is its
    // text.
    let pictures = shown
        .iter()
        .map(|(message, identity)| picture(3 + 3 * message + 1, identity))
        .collect();
    (chat(messages), pictures)
}

struct Seeing {
    folder: tempfile::TempDir,
    model: LlamaModel,
    kind: &'static str,
}

impl Seeing {
    fn new(architecture: &str, kind: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = model(architecture, folder.path());
        Self {
            folder,
            model,
            kind,
        }
    }

    fn projector(&self) -> Projector {
        let path = tiny_models::write_projector(self.kind, tiny_models::WIDTH, self.folder.path());
        Projector::open(path.to_str().unwrap(), &self.model, 1, false)
            .unwrap_or_else(|error| panic!("{}", error.message))
    }

    /// Number of KV cells of a picture.
    fn picture_tokens(&self) -> u32 {
        self.projector().size(96, 64).unwrap().tokens as u32
    }
}

type Prompt = (Vec<WireSegment>, Vec<WirePicture>);

fn read(chat: &mut Chat<'_>, (segments, pictures): &Prompt) -> (Vec<f32>, u32) {
    let (_, read) = chat.reply_to("chat", (segments, pictures), 0);
    (chat.session.context.get_logits_ith(LAST).to_vec(), read)
}

/// Plays turn, swipe, edit, chat switch and restart with pictures.
fn reads_each_picture_once(architecture: &str, kind: &'static str) {
    let seeing = Seeing::new(architecture, kind);
    let vocab = Vocab::of(&seeing.model);
    let of_picture = seeing.picture_tokens();
    println!("{architecture} with {kind}: {of_picture} tokens for a picture");
    let fresh = |prompt: &Prompt| {
        read(
            &mut Chat::with_projector(&vocab, None, Some(seeing.projector())),
            prompt,
        )
        .0
    };
    let saved = saved_in(seeing.folder.path(), None);
    let mut session = Chat::with_projector(&vocab, Some(&saved), Some(seeing.projector()));
    let check = |what: &str, (logits, read): (Vec<f32>, u32), most: u32, fresh: &[f32]| {
        let what = format!("{architecture}, {what}");
        println!("{what}: read {read}");
        assert!(
            read <= most,
            "{what}: read {read} tokens, at most {most} expected"
        );
        assert_near(&what, &(logits, read), fresh);
    };

    let question = "What is in this picture? ".repeat(8);
    let opening = with_pictures(&[&question], &[(0, "quay")]);
    let (answer, read_first) = session.reply_to("chat", (&opening.0, &opening.1), REPLY);
    assert_eq!(read_first, new_tokens(&vocab, &[], &opening.0) + of_picture);

    let turn = with_pictures(
        &[&question, &answer, "And in this one?"],
        &[(0, "quay"), (2, "lamp")],
    );
    let expected = fresh(&turn);
    let new = new_tokens(&vocab, &opening.0, &turn.0) - REPLY + of_picture;
    check("turn", read(&mut session, &turn), new, &expected);

    let last_marker = new_tokens(&vocab, &[], &turn.0[turn.0.len() - 2..]);
    check("swipe", read(&mut session, &turn), last_marker, &expected);

    let edited = with_pictures(
        &[&question, &answer, "And in that one?"],
        &[(0, "quay"), (2, "lamp")],
    );
    let new = new_tokens(&vocab, &turn.0, &edited.0) + of_picture;
    check("edit", read(&mut session, &edited), new, &fresh(&edited));
    check("edit again", read(&mut session, &turn), new, &expected);

    // Only the checksum tells this picture from the one that it replaces.
    let other = with_pictures(
        &[&question, &answer, "And in this one?"],
        &[(0, "quay"), (2, "moon")],
    );
    let of_other = fresh(&other);
    assert!(
        expected
            .iter()
            .zip(&of_other)
            .any(|(one, other)| (one - other).abs() > TOLERANCE),
        "pictures differ"
    );
    check(
        "another picture of the same size",
        read(&mut session, &other),
        new,
        &of_other,
    );
    check(
        "the first picture again",
        read(&mut session, &turn),
        new,
        &expected,
    );

    session.reply(
        "other",
        &chat(&[&"Another chat about the sea. ".repeat(20)]),
        5,
    );
    check(
        "chat switch",
        read(&mut session, &turn),
        last_marker,
        &expected,
    );

    let (answer, _) = session.reply_to("chat", (&turn.0, &turn.1), REPLY);
    session.session.save();
    let messages = [
        &question,
        &answer_of(&turn.0),
        "And in this one?",
        &answer,
        "Why?",
    ];
    let next = with_pictures(&messages, &[(0, "quay"), (2, "lamp")]);
    let mut restarted = Chat::with_projector(&vocab, Some(&saved), Some(seeing.projector()));
    let new = new_tokens(&vocab, &turn.0, &next.0) - REPLY;
    check(
        "turn after a restart",
        read(&mut restarted, &next),
        new,
        &fresh(&next),
    );
    let mut restarted = Chat::with_projector(&vocab, Some(&saved), Some(seeing.projector()));
    check(
        "swipe after a restart",
        read(&mut restarted, &turn),
        last_marker + INTERVAL as u32,
        &expected,
    );
}

#[test]
fn picture_in_order_is_read_once() {
    reads_each_picture_once("llama", "mlp");
}

/// Its tokens see each other, so they are one batch. The model also has a sliding window.
#[test]
fn picture_at_once_is_read_once() {
    reads_each_picture_once("gemma3", "gemma3");
}

#[test]
fn picture_with_two_dimensions_is_read_once() {
    reads_each_picture_once("qwen2vl", "qwen2vl_merger");
}

#[test]
fn recurrent_model_reads_a_picture_once() {
    reads_each_picture_once("qwen35", "qwen2vl_merger");
    reads_each_picture_once("lfm2", "mlp");
}

#[test]
fn counts_are_those_of_the_evaluation() {
    let seeing = Seeing::new("qwen2vl", "qwen2vl_merger");
    let vocab = Vocab::of(&seeing.model);
    let mut chat = Chat::with_projector(&vocab, None, Some(seeing.projector()));
    // The third takes several batches.
    let sizes = [
        (96, 64),
        (64, 96),
        (400, 320),
        (1, 1),
        (MAX_PICTURE_EDGE, MAX_PICTURE_EDGE),
        (MAX_PICTURE_EDGE, 3),
    ];
    let WorkerReply::Counts { counts, .. } = chat.session.count_pictures(1, &sizes) else {
        panic!("no counts")
    };
    for ((width, height), count) in sizes.into_iter().zip(counts) {
        let (segments, mut pictures) = with_pictures(&["Hm?"], &[(0, "quay")]);
        (pictures[0].width, pictures[0].height) = (width, height);
        let mut progress = ReplyProgress::default();
        let ended = chat.try_reply("chat", (&segments, &pictures), 0, &mut progress);
        let text = new_tokens(&vocab, &[], &segments);
        match ended {
            Ok(_) => assert_eq!(progress.usage.prompt, text + count, "{width} × {height}"),
            Err(ReplyError::Failed(ErrorCode::ContextOverflow, _)) => {
                assert!(text + count >= CONTEXT)
            }
            Err(_) => panic!("{width} × {height} is refused"),
        }
    }
    let refused = chat.session.count_pictures(1, &[(MAX_PICTURE_EDGE + 1, 1)]);
    assert!(matches!(
        refused,
        WorkerReply::Error {
            code: ErrorCode::Picture,
            ..
        }
    ));
}

#[track_caller]
fn refusal(chat: &mut Chat<'_>, (segments, pictures): &Prompt) -> ErrorCode {
    match chat.try_reply(
        "chat",
        (segments, pictures),
        5,
        &mut ReplyProgress::default(),
    ) {
        Err(ReplyError::Failed(code, message)) => {
            println!("{message}");
            code
        }
        _ => panic!("the reply is not refused"),
    }
}

#[test]
fn unusable_picture_costs_only_its_reply() {
    let seeing = Seeing::new("llama", "mlp");
    let vocab = Vocab::of(&seeing.model);
    let mut session = Chat::with_projector(&vocab, None, Some(seeing.projector()));
    let good = with_pictures(&["What is this?"], &[(0, "quay")]);
    let expected = read(&mut session, &good).0;
    let broken = with_pictures(&["What is this?"], &[(0, "broken")]);
    assert_eq!(refusal(&mut session, &broken), ErrorCode::Picture);
    let mut at_the_end = good.clone();
    at_the_end.1[0].before = at_the_end.0.len();
    assert_eq!(refusal(&mut session, &at_the_end), ErrorCode::Malformed);
    let many: Vec<(usize, &str)> = (0..60).map(|_| (0, "quay")).collect();
    assert_eq!(
        refusal(&mut session, &with_pictures(&["And these?"], &many)),
        ErrorCode::ContextOverflow
    );
    assert_near("after the refusals", &read(&mut session, &good), &expected);
    let mut blind = Chat::new(&vocab, None);
    assert_eq!(refusal(&mut blind, &good), ErrorCode::Picture);
}

#[test]
fn projector_of_another_model_is_refused() {
    let seeing = Seeing::new("llama", "mlp");
    let other = tiny_models::write_projector("mlp", tiny_models::WIDTH / 2, seeing.folder.path());
    let refused = Projector::open(other.to_str().unwrap(), &seeing.model, 1, false)
        .err()
        .unwrap();
    assert_eq!(refused.code, ErrorCode::Projector);
    let text_model = tiny_models::write("llama", seeing.folder.path());
    for path in [text_model.to_str().unwrap(), "/nowhere.gguf"] {
        let refused = Projector::open(path, &seeing.model, 1, false)
            .err()
            .unwrap();
        assert_eq!(refused.code, ErrorCode::Projector, "{}", refused.message);
    }
}
