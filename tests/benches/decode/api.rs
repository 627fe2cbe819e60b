//! The way of a reply through `nook serve --api`: its own process, HTTP and server-sent events.

use std::process::Stdio;

use provider::{EndpointClient, EndpointConfig, SecretString, probe};
use serde_json::Value;
use tempfile::TempDir;
use tests::headless::{models_dir, program, worker};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::window::SETTINGS;

pub(super) struct ApiWay {
    process: Child,
    pub(super) client: EndpointClient,
    _data: TempDir,
}

impl ApiWay {
    /// Starts `nook` with an empty data folder and connects a client for the small model.
    pub(super) async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(program("nook"))
            .arg("--json")
            .arg("--data-dir")
            .arg(data.path())
            .args(["serve", "--port", "0", "--api"])
            .env("INGLENOOK_MODELS", models_dir())
            .env("INGLENOOK_WORKER", worker())
            .envs(SETTINGS)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("an address");
        let started: Value = serde_json::from_str(&line).unwrap();
        let text = |key: &str| started[key].as_str().expect("a text").to_owned();
        let config = |model: &str| {
            let key = SecretString::from(text("token"));
            EndpointConfig::new(&text("api"), model, Some(key)).unwrap()
        };
        let models = probe(&config("")).await.unwrap().models;
        let small = models.iter().find(|model| model.contains("SmolLM2"));
        let model = small.unwrap_or_else(|| panic!("no small model among {models:?}"));
        Self {
            process,
            client: EndpointClient::new(config(model)).unwrap(),
            _data: data,
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id().expect("a running process")
    }

    pub(super) async fn close(mut self) {
        self.process.kill().await.unwrap();
    }
}
