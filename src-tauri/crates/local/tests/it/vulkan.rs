//! A real reply through a Vulkan device. `cargo xtask test --only vulkan` builds the worker and names it in
//! `INGLENOOK_VULKAN_WORKER`; Mesa's software device is enough.

use std::time::Duration;

use local::{DeviceKind, Devices, LoadOptions, LocalHost, Policy, WorkerSettings};

use crate::support::*;

const WORKER: &str = "INGLENOOK_VULKAN_WORKER";

fn vulkan_host() -> LocalHost {
    let worker = std::env::var_os(WORKER).unwrap_or_else(|| panic!("{WORKER} is not set")).into();
    // A software device needs seconds for its first pipelines and for every token.
    let policy =
        Policy { handshake: Duration::from_secs(60), reply_timeout: Duration::from_secs(300), ..settings().policy };
    LocalHost::new(WorkerSettings { worker, threads: 2, policy, ..settings() }).unwrap()
}

async fn written(host: &LocalHost, options: LoadOptions) -> String {
    let provider = host.provider_with(&model(), 256, options);
    let outcome = reply(&*provider, request(vec![plain("The capital of France is")], 64)).await;
    assert!(outcome.end.is_ok(), "{outcome:?}");
    outcome.text
}

#[tokio::test]
#[ignore = "needs a worker with Vulkan: cargo xtask test --only vulkan"]
async fn small_model_answers_through_vulkan() {
    let host = vulkan_host();
    let Devices::Known(devices) = host.list_devices().await else { panic!("no list") };
    let device = devices.iter().find(|device| device.kind != DeviceKind::Processor).expect("a Vulkan device");
    assert_eq!(device.backend, "Vulkan", "{device:?}");
    let on_device = LoadOptions { device: Some(device.name.clone()), gpu_layers: Some(31), ..LoadOptions::default() };
    let through_vulkan = written(&host, on_device).await;
    let loaded = host.status().loaded.unwrap();
    assert_eq!((loaded.gpu_layers, loaded.layers), (31, 31));
    assert_eq!(loaded.notes, []);
    assert!(loaded.devices.iter().any(|used| used.name == device.name && used.weights > 10 << 20), "{loaded:?}");
    let on_processor = written(&host, LoadOptions { gpu_layers: Some(0), ..LoadOptions::default() }).await;
    let same = through_vulkan.bytes().zip(on_processor.bytes()).take_while(|(a, b)| a == b).count();
    println!("{same} of {} bytes agree\nVulkan: {through_vulkan:?}\nCPU: {on_processor:?}", on_processor.len());
    // Both round differently, so a close choice between two tokens can go either way after a while.
    assert!(same >= 8 && through_vulkan.contains("Paris") == on_processor.contains("Paris"), "{through_vulkan:?}");
}
