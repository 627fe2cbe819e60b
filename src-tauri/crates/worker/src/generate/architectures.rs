//! One tiny model for each kind of memory in llama.cpp: after every kind of reuse the worker reads
//! only what is new, and the logits are those of a fresh evaluation.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use protection::DataKey;
use worker::protocol::{
    Load, LoadPurpose, SavedCacheFolder, Tuning, WirePicture, WireSampling, WireSegment,
};
use worker::saved::CacheKeys;

use super::*;
use crate::cache::checkpoints::{INTERVAL, Rollback};
use crate::cache::disk::Disk;
use crate::engine;

#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "shared with other crates"
)]
#[path = "../../../../../tests/src/tiny_models/mod.rs"]
mod tiny_models;

mod drafts;
mod sight;

const CONTEXT: u32 = 3_072;
/// Tokens of a long reply.
const REPLY: u32 = 100;
/// Largest difference of a logit from a fresh evaluation. Logits spread over about ±10. The
/// difference comes from reading the same tokens in other batches, and from keys and values stored
/// with 16 bits.
const TOLERANCE: f32 = 0.05;

fn backend() -> &'static LlamaBackend {
    static BACKEND: OnceLock<LlamaBackend> = OnceLock::new();
    BACKEND.get_or_init(|| {
        let mut backend = LlamaBackend::init().unwrap();
        backend.void_logs();
        backend
    })
}

fn model(architecture: &str, folder: &Path) -> LlamaModel {
    let path = tiny_models::write(architecture, folder);
    LlamaModel::load_from_file(backend(), path, &LlamaModelParams::default()).unwrap()
}

/// The caches below `folder`, encrypted if there are keys.
fn saved_in(folder: &Path, keys: Option<CacheKeys>) -> SavedCacheFolder {
    SavedCacheFolder {
        folder: folder.join("saved").to_str().unwrap().into(),
        budget: 64 << 20,
        keys: keys.map(Arc::new),
    }
}

/// Requests to one session, and the pipes that a session needs.
struct Chat<'m> {
    session: GenerationSession<'m>,
    inbox: Inbox,
    replies: Arc<ReplyWriter>,
    shown: sight::Shown,
    sampling: WireSampling,
}

impl<'m> Chat<'m> {
    /// Saves its caches in `saved` if it ends.
    fn new(vocab: &'m Vocab<'m>, saved: Option<&SavedCacheFolder>) -> Self {
        Self::with_projector(vocab, saved, None)
    }

    fn with_projector(
        vocab: &'m Vocab<'m>,
        saved: Option<&SavedCacheFolder>,
        mut projector: Option<Projector>,
    ) -> Self {
        const BATCH: u32 = 64;
        let load = Load {
            path: String::new(),
            context: CONTEXT,
            threads: 1,
            gpu_layers: 0,
            purpose: LoadPurpose::Replies,
            tuning: Tuning::default(),
            aside: 64 << 20,
            saved: saved.cloned(),
            projector: None,
        };
        let rollback = Rollback::of(vocab.model(), CONTEXT);
        let batch = projector
            .as_mut()
            .map_or(BATCH, |projector| projector.least_batch().max(BATCH));
        let params = engine::context_params(&load, CONTEXT, batch, rollback);
        let context = vocab.model().new_context(backend(), params).unwrap();
        let cache = SequenceCache::new(rollback, CONTEXT, load.aside, load.saved.map(Disk::new));
        let (pipe, requests) = std::io::pipe().unwrap();
        // A closed pipe would end this process.
        std::mem::forget(requests.try_clone().unwrap());
        let shown = sight::Shown::default();
        let replies = Arc::new(ReplyWriter::new(sight::PixelSource::new(
            requests,
            Arc::clone(&shown),
        )));
        let inbox = Inbox::read(pipe, Arc::clone(&replies));
        let session = GenerationSession::new(vocab, context, cache, ChunkSize::fixed(BATCH), true);
        let session = session.with_projector(projector);
        Self {
            session,
            inbox,
            replies,
            shown,
            sampling: WireSampling::default(),
        }
    }

    /// Generates up to `tokens` tokens. Returns the text of the reply and the number of prompt
    /// tokens that were read.
    fn reply(&mut self, key: &str, segments: &[WireSegment], tokens: u32) -> (String, u32) {
        self.reply_to(key, (segments, &[]), tokens)
    }

    /// Works like [`Chat::reply`], for a prompt with pictures.
    fn reply_to(
        &mut self,
        key: &str,
        (segments, pictures): (&[WireSegment], &[WirePicture]),
        tokens: u32,
    ) -> (String, u32) {
        let mut progress = ReplyProgress::default();
        let end = self.try_reply(key, (segments, pictures), tokens, &mut progress);
        assert!(end.is_ok(), "the reply ends by itself");
        let written = &self.session.cache.tokens()[progress.usage.prompt as usize..];
        let bytes: Vec<u8> = written
            .iter()
            .flat_map(|token| self.session.vocab.piece(*token))
            .collect();
        (String::from_utf8(bytes).unwrap(), progress.usage.evaluated)
    }

    fn try_reply(
        &mut self,
        key: &str,
        (segments, pictures): (&[WireSegment], &[WirePicture]),
        tokens: u32,
        progress: &mut ReplyProgress,
    ) -> Result<FinishReason, ReplyError> {
        let request = Generate {
            id: 1,
            cache_key: key.to_owned(),
            background: key == "job",
            segments: segments.to_vec(),
            pictures: pictures.to_vec(),
            sampling: self.sampling,
            stop: Vec::new(),
            max_tokens: tokens,
            rules: Box::default(),
        };
        pictures.clone_into(&mut self.shown.lock().unwrap());
        self.session
            .run(&request, progress, &mut self.inbox, &self.replies)
    }

    /// Reads a prompt. Returns the logits after it and the number of tokens that were read.
    fn read(&mut self, segments: &[WireSegment]) -> (Vec<f32>, u32) {
        let (_, read) = self.reply("chat", segments, 0);
        (self.session.context.get_logits_ith(LAST).to_vec(), read)
    }
}

fn segment(text: &str, control: bool) -> WireSegment {
    WireSegment {
        text: text.to_owned(),
        control,
    }
}

/// A prompt with alternating messages of user and character. The character replies next.
fn chat(messages: &[&str]) -> Vec<WireSegment> {
    let mut segments = vec![
        segment("<|im_start|>system\n", true),
        segment(&"You are a lamplighter. ".repeat(20), false),
        segment("<|im_end|>\n", true),
    ];
    for (turn, message) in messages.iter().enumerate() {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        segments.push(segment(&format!("<|im_start|>{role}\n"), true));
        segments.extend([segment(message, false), segment("<|im_end|>\n", true)]);
    }
    segments.push(segment("<|im_start|>assistant\n", true));
    segments
}

/// Number of tokens of `prompt` after the segments that it shares with `before`.
fn new_tokens(vocab: &Vocab<'_>, before: &[WireSegment], prompt: &[WireSegment]) -> u32 {
    let shared = before
        .iter()
        .zip(prompt)
        .take_while(|(one, other)| one == other)
        .count();
    prompt[shared..]
        .iter()
        .map(|segment| vocab.tokenize(segment).len() as u32)
        .sum()
}

#[track_caller]
fn assert_near(what: &str, (logits, _): &(Vec<f32>, u32), fresh: &[f32]) {
    let difference = logits
        .iter()
        .zip(fresh)
        .map(|(one, other)| (one - other).abs())
        .fold(0.0, f32::max);
    println!("{what}: largest difference {difference}");
    assert!(
        difference <= TOLERANCE,
        "{what}: a logit differs by {difference}"
    );
}

/// Plays turn, swipe, edit, helper job, chat switch and restart.
fn reads_only_new(architecture: &str) {
    let folder = tempfile::tempdir().unwrap();
    let model = model(architecture, folder.path());
    let vocab = Vocab::of(&model);
    let fresh = |prompt: &[WireSegment]| Chat::new(&vocab, None).read(prompt).0;
    let saved = saved_in(folder.path(), None);
    let mut session = Chat::new(&vocab, Some(&saved));

    let question = "The lamplighter walks along the quay. ".repeat(30);
    let opening = chat(&[&question]);
    let (answer, read) = session.reply("chat", &opening, REPLY);
    assert_eq!(read, new_tokens(&vocab, &[], &opening), "{architecture}");
    let turn = chat(&[&question, &answer, "And the moon?"]);
    let expected = fresh(&turn);
    let check = |what: &str, (logits, read): (Vec<f32>, u32), most: u32, fresh: &[f32]| {
        let what = format!("{architecture}, {what}");
        println!("{what}: read {read}");
        assert!(
            read <= most,
            "{what}: read {read} tokens, at most {most} expected"
        );
        assert_near(&what, &(logits, read), fresh);
    };
    let new = new_tokens(&vocab, &opening, &turn) - REPLY;
    check("turn", session.read(&turn), new, &expected);

    let last_marker = new_tokens(&vocab, &[], &turn[turn.len() - 2..]);
    check("swipe", session.read(&turn), last_marker, &expected);

    let edited = chat(&[&question, &answer, "And the stars?"]);
    let new = new_tokens(&vocab, &turn, &edited);
    check("edit", session.read(&edited), new, &fresh(&edited));
    check("edit again", session.read(&turn), new, &expected);

    let (partial, _) = session.reply("chat", &turn, 10);
    let mut continued = turn.clone();
    continued.push(segment(&partial, false));
    let new = last_marker + REPLY_INTERVAL as u32;
    check(
        "continue",
        session.read(&continued),
        new,
        &fresh(&continued),
    );

    session.reply("job", &chat(&["Who speaks next?"]), 5);
    check(
        "turn after a helper job",
        session.read(&turn),
        last_marker,
        &expected,
    );

    session.reply(
        "other",
        &chat(&[&"Another chat about the sea. ".repeat(20)]),
        5,
    );
    check("chat switch", session.read(&turn), last_marker, &expected);

    let (answer, _) = session.reply("chat", &turn, REPLY);
    session.session.save();
    let next = chat(&[
        &question,
        &answer_of(&turn),
        "And the moon?",
        &answer,
        "Why?",
    ]);
    let mut restarted = Chat::new(&vocab, Some(&saved));
    let new = new_tokens(&vocab, &turn, &next) - REPLY;
    check(
        "turn after a restart",
        restarted.read(&next),
        new,
        &fresh(&next),
    );
    let mut restarted = Chat::new(&vocab, Some(&saved));
    check(
        "swipe after a restart",
        restarted.read(&turn),
        last_marker + INTERVAL as u32,
        &expected,
    );
}

#[test]
fn encrypted_caches_resume_like_plain_ones() {
    for architecture in ["llama", "gemma3", "mamba2", "granitehybrid"] {
        let folder = tempfile::tempdir().unwrap();
        let model = model(architecture, folder.path());
        let vocab = Vocab::of(&model);
        let key = DataKey::generate().unwrap();
        let keys = CacheKeys::new(key.cache_key(), key.name_key());
        let saved = saved_in(folder.path(), Some(keys));
        let question = "The lamplighter walks along the quay. ".repeat(30);
        let opening = chat(&[&question]);
        let mut session = Chat::new(&vocab, Some(&saved));
        let (answer, _) = session.reply("chat", &opening, REPLY);
        session.session.save();
        let next = chat(&[&question, &answer, "And the moon?"]);
        let resumed = Chat::new(&vocab, Some(&saved)).read(&next);
        let most = new_tokens(&vocab, &opening, &next) - REPLY;
        assert!(resumed.1 <= most, "{architecture}: read {}", resumed.1);
        let (fresh, _) = Chat::new(&vocab, None).read(&next);
        assert_near(architecture, &resumed, &fresh);
    }
}

/// The character's message in a prompt with three messages.
fn answer_of(turn: &[WireSegment]) -> String {
    turn[7].text.clone()
}

#[test]
fn tiny_models_are_small_and_always_the_same() {
    for architecture in tiny_models::ARCHITECTURES {
        let model = tiny_models::bytes(architecture);
        assert!(
            model.len() < 1_500_000,
            "{architecture}: {} bytes",
            model.len()
        );
        assert!(model == tiny_models::bytes(architecture), "{architecture}");
    }
    for kind in tiny_models::PROJECTORS {
        let projector = tiny_models::projector_bytes(kind, tiny_models::WIDTH);
        assert!(
            projector.len() < 250_000,
            "{kind}: {} bytes",
            projector.len()
        );
        assert!(
            projector == tiny_models::projector_bytes(kind, tiny_models::WIDTH),
            "{kind}"
        );
    }
}

#[test]
fn full_attention_reads_only_new() {
    reads_only_new("llama");
    reads_only_new("qwen2vl");
}

#[test]
fn latent_attention_reads_only_new() {
    reads_only_new("deepseek2");
}

#[test]
fn sliding_window_reads_only_new() {
    reads_only_new("gemma3");
    reads_only_new("gpt-oss");
}

#[test]
fn recurrent_model_reads_only_new() {
    reads_only_new("mamba2");
}

#[test]
fn hybrid_models_read_only_new() {
    ["granitehybrid", "lfm2", "qwen3next", "qwen35"]
        .into_iter()
        .for_each(reads_only_new);
}

/// The tiny vocabulary has ASCII only and no tokens for bytes. llama.cpp would end the process.
#[test]
fn text_without_tokens_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let model = model("llama", folder.path());
    let vocab = Vocab::of(&model);
    let read = |text: &str, control| {
        vocab.tokenize(&WireSegment {
            text: text.to_owned(),
            control,
        })
    };
    for (text, same) in [
        ("na\u{ef}ve", "na?ve"),
        ("\u{72d0}\u{1f98a}", "??"),
        ("<\u{ff5c}User\u{ff5c}>\0", "<?User?>?"),
    ] {
        assert_eq!(
            (read(text, false), read(text, true)),
            (read(same, false), read(same, true))
        );
    }
    assert_eq!(vocab.with_markers("\u{e9}", 8), vocab.with_markers("?", 8));
}
