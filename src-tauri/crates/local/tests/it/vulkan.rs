//! A real reply through a Vulkan device. `cargo xtask test --only vulkan` builds the worker and
//! names it in `INGLENOOK_VULKAN_WORKER`; Mesa's software device is enough.

use std::time::Duration;

use domain::model::LocalModel;
use domain::token_choice::TokenChoice;
use local::{DeviceKind, Devices, LoadNote, LoadOptions, LocalHost, Policy, WorkerSettings};
use provider::{FinishReason, GenerationEvent, ProviderErrorKind};
use rustix::process::Signal;

use crate::support::*;
use crate::tiny_models;

const WORKER: &str = "INGLENOOK_VULKAN_WORKER";

fn vulkan_host() -> LocalHost {
    let worker = std::env::var_os(WORKER)
        .unwrap_or_else(|| panic!("{WORKER} is not set"))
        .into();
    // A software device needs seconds for its first pipelines and for every token.
    let policy = Policy {
        handshake: Duration::from_secs(60),
        reply_timeout: Duration::from_secs(300),
        ..settings().policy
    };
    LocalHost::new(WorkerSettings {
        worker,
        threads: 2,
        policy,
        ..settings()
    })
    .unwrap()
}

/// The tokens of a reply of 64 tokens with the likeliest alternatives.
async fn written(host: &LocalHost, model: &LocalModel, options: LoadOptions) -> Vec<TokenChoice> {
    let provider = host.provider_with(model, 256, options);
    let mut request = request(vec![plain("The capital of France is")], 64);
    request.sampling.alternatives = 5;
    let outcome = reply(&*provider, request).await;
    assert!(outcome.end.is_ok(), "{outcome:?}");
    outcome
        .events
        .into_iter()
        .flat_map(|event| {
            if let GenerationEvent::Choices(tokens) = event {
                tokens
            } else {
                Vec::new()
            }
        })
        .collect()
}

/// The difference of the logarithms of the two tokens' probabilities, or `None` if one of them is
/// not among the likeliest.
fn margin(token: &TokenChoice, other: &TokenChoice) -> Option<f32> {
    let listed = token
        .alternatives
        .iter()
        .find(|alternative| alternative.text == other.text)?;
    Some(token.logprob - listed.logprob)
}

#[tokio::test]
#[ignore = "needs a worker with Vulkan: cargo xtask test --only vulkan"]
async fn small_model_answers_through_vulkan() {
    let host = vulkan_host();
    let Devices::Known(devices) = host.list_devices().await else {
        panic!("no list")
    };
    let device = devices
        .iter()
        .find(|device| device.kind != DeviceKind::Processor)
        .expect("a Vulkan device");
    assert_eq!(device.backend, "Vulkan", "{device:?}");
    let on_device = LoadOptions {
        device: Some(device.name.clone()),
        gpu_layers: Some(31),
        ..LoadOptions::default()
    };
    let through_vulkan = written(&host, &model(), on_device).await;
    let loaded = host.status().loaded.unwrap();
    assert_eq!((loaded.gpu_layers, loaded.layers), (31, 31));
    assert_eq!(loaded.notes, []);
    assert!(
        loaded
            .devices
            .iter()
            .any(|used| used.name == device.name && used.weights > 10 << 20),
        "{loaded:?}"
    );
    let without_device = written(&host, &model(), on_processor()).await;
    let same = agree(&through_vulkan, &without_device);
    println!(
        "{same} tokens agree\nVulkan: {:?}\nCPU: {:?}",
        text(&through_vulkan),
        text(&without_device)
    );
    assert!(
        text(&through_vulkan).contains("Paris"),
        "{through_vulkan:?}"
    );
}

/// Mesa's software device ends the process with some operations, which must not cost the reply.
#[tokio::test]
#[ignore = "needs a worker with Vulkan: cargo xtask test --only vulkan"]
async fn every_architecture_answers_through_vulkan() {
    let (host, folder) = (vulkan_host(), tempfile::tempdir().unwrap());
    for architecture in tiny_models::ARCHITECTURES {
        let model = model_at(tiny_models::write(architecture, folder.path()));
        let through_vulkan = written(&host, &model, on_device(0)).await;
        let loaded = host.status().loaded.unwrap();
        let without_device = written(&host, &model, on_processor()).await;
        let same = agree(&through_vulkan, &without_device);
        println!(
            "{architecture}: {same} tokens agree, {} layers on the device, {:?}",
            loaded.gpu_layers, loaded.notes
        );
        let fell_back = matches!(&loaded.notes[..], [LoadNote::WithoutGraphics { .. }]);
        assert_eq!(
            loaded.gpu_layers,
            if fell_back { 0 } else { loaded.layers },
            "{architecture}: {loaded:?}"
        );
    }
}

/// The experts of a mixture stay on the processor, and the rest of it is on the device.
#[tokio::test]
#[ignore = "needs a worker with Vulkan: cargo xtask test --only vulkan"]
async fn experts_stay_on_the_processor() {
    let (host, folder) = (vulkan_host(), tempfile::tempdir().unwrap());
    for architecture in ["gpt-oss", "deepseek2"] {
        let model = model_at(tiny_models::write(architecture, folder.path()));
        let without_device = written(&host, &model, on_processor()).await;
        let mut weights = Vec::new();
        for experts in [0, 1, 99] {
            agree(
                &written(&host, &model, on_device(experts)).await,
                &without_device,
            );
            let loaded = host.status().loaded.unwrap();
            assert_eq!(
                (loaded.gpu_layers, &loaded.notes[..]),
                (loaded.layers, &[][..]),
                "{architecture}"
            );
            let of_devices = loaded
                .devices
                .iter()
                .filter(|used| !used.name.is_empty())
                .map(|used| used.weights);
            weights.push(of_devices.sum::<u64>());
        }
        println!("{architecture}: {weights:?} bytes of weights on the device");
        assert!(
            weights[0] > weights[2] && weights[1] >= weights[2],
            "{architecture}: {weights:?}"
        );
    }
}

/// Replies draft text from the context on graphics devices only.
#[tokio::test]
#[ignore = "needs a worker with Vulkan: cargo xtask test --only vulkan"]
async fn recovers_from_deaths_between_drafts() {
    let rounds: usize =
        std::env::var("INGLENOOK_DEATHS").map_or(10, |rounds| rounds.parse().unwrap());
    let (host, folder) = (vulkan_host(), tempfile::tempdir().unwrap());
    let model = model_at(tiny_models::write("llama", folder.path()));
    let provider = host.provider_with(&model, 1_024, on_device(0));
    let asked = |tokens| {
        request(
            chat(&[&"The lamplighter counts the ships. ".repeat(10)]),
            tokens,
        )
    };
    for round in 0..rounds {
        // Multiplying by 37 modulo 101 spreads the kills over loading, prompt processing and
        // generation.
        let outcome = killed_during(
            asked(600),
            &host,
            &*provider,
            Signal::KILL,
            round * 37 % 101,
        )
        .await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::WorkerDied,
            "{outcome:?}"
        );
        if round % 5 == 0 {
            assert_eq!(
                reply(&*provider, asked(20)).await.reason(),
                FinishReason::Length
            );
            assert!(
                host.status().loaded.unwrap().gpu_layers > 0,
                "a kill is not the fault of the device"
            );
        }
    }
    assert_eq!(host.status().deaths as usize, rounds);
}

fn on_processor() -> LoadOptions {
    LoadOptions {
        gpu_layers: Some(0),
        ..LoadOptions::default()
    }
}

fn on_device(experts: u32) -> LoadOptions {
    LoadOptions {
        gpu_layers: Some(99),
        processor_experts: Some(experts),
        ..LoadOptions::default()
    }
}

fn text(tokens: &[TokenChoice]) -> String {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

/// Checks that two replies differ only where rounding decides, and returns the number of tokens
/// before that.
fn agree(through_vulkan: &[TokenChoice], on_processor: &[TokenChoice]) -> usize {
    let same = through_vulkan
        .iter()
        .zip(on_processor)
        .take_while(|(a, b)| a.text == b.text)
        .count();
    // Both round differently, so they may differ only where two tokens are nearly equally likely.
    let Some((a, b)) = through_vulkan.get(same).zip(on_processor.get(same)) else {
        return same;
    };
    for margin in [margin(a, b), margin(b, a)] {
        assert!(
            margin.is_some_and(|margin| margin < 0.5),
            "{margin:?}: {a:?} {b:?}"
        );
    }
    same
}
