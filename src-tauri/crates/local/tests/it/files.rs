use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use local::{inspect, library};
use provider::ProviderErrorKind;

use crate::support::*;
use crate::tiny_models;

/// Bytes of a tiny model's settings and list of tensors, about.
const HEADER: u64 = 8_000;

#[test]
fn inspect_reads_the_model_file() {
    let mut shares = Vec::new();
    let inspected = inspect(&model_path(), |done, total| shares.push((done, total))).unwrap();
    assert_eq!(shares.last(), Some(&(98_362_432, 98_362_432)));
    assert_eq!(
        inspected.sha256,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    );
    let header = &inspected.header;
    assert_eq!(
        (header.architecture.as_str(), header.context_length),
        ("llama", Some(8192))
    );
    assert_eq!(header.file_type, Some("Q4_1"));
    assert_eq!(header.bos.as_deref(), Some("<|im_start|>"));
    assert_eq!(header.eos.as_deref(), Some("<|im_end|>"));
    // The reference results of `context` are made from the template in this file.
    let golden =
        include_str!("../../../context/tests/chat_templates/templates/smollm2-135m-instruct.jinja");
    assert_eq!(header.chat_template.as_deref(), Some(golden));
    let fit = library::fit(header, inspected.bytes, 8192, library::available_memory());
    // With a quarter for helper jobs.
    assert_eq!(fit.cache, 30 * 3 * (64 + 64) * 2 * (8192 + 2048));
    assert_eq!(fit.fits(), Some(true));
    assert_eq!(library::default_context(inspected.context()), 8192);
}

#[tokio::test]
async fn broken_file_is_a_typed_error() {
    let host = host();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.gguf");
    std::fs::copy(model_path(), &cut).unwrap();
    OpenOptions::new()
        .write(true)
        .open(&cut)
        .unwrap()
        .set_len(64 << 20)
        .unwrap();
    let unknown = folder.path().join("unknown.gguf");
    std::fs::copy(model_path(), &unknown).unwrap();
    replace(
        &unknown,
        b"general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llama",
        b"general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llamx",
    );
    for (path, why) in [
        (
            cut,
            "cut.gguf is incomplete: it ends in the tensor data, after 64 of 93 MiB",
        ),
        (unknown, "unknown.gguf"),
        (
            folder.path().join("missing.gguf"),
            "missing.gguf cannot be read",
        ),
    ] {
        let outcome = reply(&*host.provider(&model_at(path), 512), endless()).await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::Model,
            "{outcome:?}"
        );
        assert!(outcome.error().message.contains(why), "{}", outcome.error());
        is_well(&*host.provider(&model(), 512)).await;
    }
    assert_eq!(host.status().deaths, 0);
}

/// Overwrites the only occurrence of `old` in the header.
fn replace(path: &std::path::Path, old: &[u8], new: &[u8]) {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut head = vec![0; 4096];
    file.read_exact_at(&mut head, 0).unwrap();
    let at = head
        .windows(old.len())
        .position(|window| window == old)
        .unwrap();
    file.write_all_at(new, at as u64).unwrap();
}

/// The worker may die of a mutation that passes our own check, but the host must survive and load
/// the next model.
#[tokio::test]
async fn host_survives_fifty_mutated_headers() {
    let host = host();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutated.gguf");
    std::fs::copy(model_path(), &path).unwrap();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let (mut seed, mut refused) = (1u64, 0);
    for _ in 0..50 {
        let original = mutate(&file, &mut seed);
        if let Err(error) = host
            .count(&model_at(path.clone()), &[plain("a lamp")])
            .await
        {
            assert!(
                matches!(
                    error.kind,
                    ProviderErrorKind::Model | ProviderErrorKind::WorkerDied
                ),
                "{error:?}"
            );
            assert!(!error.message.is_empty() && !error.hint.is_empty());
            refused += 1;
        }
        for (at, byte) in original {
            file.write_all_at(&[byte], at).unwrap();
        }
    }
    assert!(refused > 5, "only {refused} of 50 were refused");
    is_well(&*host.provider(&model(), 512)).await;
}

/// Every kind of memory that llama.cpp has reads other settings and tensors.
#[tokio::test]
async fn host_survives_mutated_models_of_any_architecture() {
    let rounds: usize =
        std::env::var("INGLENOOK_MUTATIONS").map_or(40, |rounds| rounds.parse().unwrap());
    let (host, folder) = (host(), tempfile::tempdir().unwrap());
    let (mut seed, mut outcomes) = (7u64, [0; 3]);
    for (round, architecture) in tiny_models::ARCHITECTURES
        .iter()
        .cycle()
        .take(rounds)
        .enumerate()
    {
        // Its own path, because the host refuses a file that ended the worker too often.
        let place = folder.path().join(round.to_string());
        std::fs::create_dir(&place).unwrap();
        let path = tiny_models::write(architecture, &place);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        mutate_within(&file, HEADER, &mut seed);
        let outcome = reply(
            &*host.provider(&model_at(path), 512),
            request(vec![plain("A lamp")], 4),
        )
        .await;
        let place = match outcome.end {
            Ok(_) => 0,
            Err(error) => {
                assert!(!error.message.is_empty() && !error.hint.is_empty());
                assert!(
                    matches!(
                        error.kind,
                        ProviderErrorKind::Model
                            | ProviderErrorKind::OutOfMemory
                            | ProviderErrorKind::WorkerDied
                    ),
                    "{error:?}"
                );
                1 + usize::from(error.kind == ProviderErrorKind::WorkerDied)
            }
        };
        outcomes[place] += 1;
    }
    println!(
        "{rounds} models: {} answered, {} were refused, {} ended the worker",
        outcomes[0], outcomes[1], outcomes[2]
    );
    assert!(outcomes[1] * 4 > rounds, "{outcomes:?}");
    is_well(&*host.provider(&model(), 512)).await;
}

/// Changes three bytes among the first settings. Returns the original bytes, latest change first.
fn mutate(file: &File, seed: &mut u64) -> Vec<(u64, u8)> {
    mutate_within(file, 1_800, seed)
}

/// Changes three of the first `length` bytes.
fn mutate_within(file: &File, length: u64, seed: &mut u64) -> Vec<(u64, u8)> {
    let mut original = Vec::new();
    for _ in 0..3 {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (at, byte) = ((*seed >> 33) % length, (*seed >> 8) as u8);
        let mut old = [0];
        file.read_exact_at(&mut old, at).unwrap();
        file.write_all_at(&[byte], at).unwrap();
        original.insert(0, (at, old[0]));
    }
    original
}
