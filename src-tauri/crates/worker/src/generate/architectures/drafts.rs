//! Drafts from the context: they change no reply, and a measurement of what they gain.

use std::path::PathBuf;
use std::time::Duration;

use llama_cpp_2::model::LlamaModel;
use worker::protocol::{WireSampling, WireSegment};

use super::super::*;
use super::*;

/// SmolLM2-135M. `cargo xtask setup` provides it.
fn real_model() -> LlamaModel {
    let folder = std::env::var_os("INGLENOOK_MODELS").map(PathBuf::from);
    let folder = folder
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/inglenook/models")));
    let path = folder.unwrap().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    LlamaModel::load_from_file(backend(), path, &LlamaModelParams::default()).unwrap()
}

/// A session that drafts, and one that does not.
fn sessions<'m>(vocab: &'m Vocab<'m>) -> [Chat<'m>; 2] {
    [true, false].map(|drafts| {
        let mut chat = Chat::new(vocab, None);
        chat.session.drafter = drafts.then(Drafter::default);
        chat
    })
}

/// Largest lead of another token over a token of the drafting session's greedy reply, by the logits
/// of a session that reads the same reply token by token. Without rounding it would be 0.
fn largest_lead(model: &LlamaModel, prompts: &[Vec<WireSegment>], tokens: u32) -> f32 {
    let vocab = Vocab::of(model);
    let [mut drafting, mut plain] = sessions(&vocab);
    let leads = prompts.iter().flat_map(|prompt| {
        drafting.reply("chat", prompt, tokens);
        plain.reply("chat", prompt, 0);
        let start = plain.session.cache.len();
        let reply = drafting.session.cache.tokens()[start..].to_vec();
        let mut leads = Vec::new();
        for token in reply {
            let logits = plain.session.context.get_logits_ith(LAST);
            let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            leads.push(best - logits[token.0 as usize]);
            assert!(plain.session.evaluate(&[token], LogitsOf::Last).is_ok());
        }
        leads
    });
    leads.fold(0.0, f32::max)
}

const SCENE: &str = "The lamplighter walks along the quay of Marrowgate. He carries a ladder, a can of oil and a small \
    brass lamp. The harbour master waits for him at the third bridge, as on every evening, and asks him about the ships. \
    \"The Grey Heron is late,\" says the lamplighter. \"The Grey Heron is always late,\" says the harbour master.";

/// A scene, a text to correct, and questions about a text.
fn transcripts() -> [Vec<WireSegment>; 3] {
    let correct =
        format!("Correct the spelling in this text and write it again in full: {SCENE} {SCENE}");
    let again = "The lamplighter smiles and puts down his ladder. \"What will you do if the Grey Heron never comes?\"";
    [
        chat(&[
            SCENE,
            again,
            "I wait with the harbour master at the third bridge. What happens next?",
        ]),
        chat(&[&correct]),
        chat(&[
            SCENE,
            "What would you like to know?",
            "List who is in this scene, what each of them carries and says.",
        ]),
    ]
}

#[test]
fn drafts_do_not_change_a_random_reply() {
    let folder = tempfile::tempdir().unwrap();
    let prompts: Vec<_> = (2..6)
        .map(|times| chat(&[&"The lamps of the quay. ".repeat(times)]))
        .collect();
    assert!(largest_lead(&model("llama", folder.path()), &prompts, 150) <= TOLERANCE);
}

/// The sessions are new for each prompt: a cache from another reply was read in other batches,
/// which round differently.
#[test]
fn drafts_do_not_change_a_reply() {
    let model = real_model();
    let vocab = Vocab::of(&model);
    for prompt in transcripts() {
        let [mut drafting, mut plain] = sessions(&vocab);
        assert_eq!(
            drafting.reply("chat", &prompt, 150).0,
            plain.reply("chat", &prompt, 150).0
        );
    }
}

/// Processor time of this thread, which computes alone. Other processes hardly change it.
fn computed() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

#[test]
#[ignore = "a measurement: cargo test -p worker measures_drafts -- --ignored --nocapture"]
fn measures_drafts_on_three_transcripts() {
    const TOKENS: u32 = 200;
    const ROUNDS: u32 = 3;
    let model = real_model();
    let vocab = Vocab::of(&model);
    let [mut drafting, mut plain] = sessions(&vocab);
    let sampled = WireSampling {
        temperature: 0.8,
        min_p: 0.05,
        repeat_penalty: 1.1,
        seed: 7,
        ..WireSampling::default()
    };
    for (number, prompt) in transcripts().iter().enumerate() {
        for sampling in [WireSampling::default(), sampled] {
            let mut times = [Vec::new(), Vec::new()];
            let mut written = [0, 0];
            for _ in 0..ROUNDS {
                for (place, session) in [&mut drafting, &mut plain].into_iter().enumerate() {
                    session.sampling = sampling;
                    session.reply("chat", prompt, 0);
                    let start = computed();
                    written[place] = session.reply("chat", prompt, TOKENS).0.len();
                    times[place].push((computed() - start).as_secs_f64());
                }
            }
            let [with, without] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            });
            println!(
                "transcript {number}, temperature {}: {:.2} times as fast; {with:.2} s, {without:.2} s; bytes {written:?}",
                sampling.temperature,
                without / with
            );
        }
    }
}
