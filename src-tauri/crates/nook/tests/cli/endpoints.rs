//! The `endpoints` verbs, and the keys of one command.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::world::World;

/// Starts an endpoint that refuses every request, and records the heads in small letters.
fn refusing() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            kept.lock().unwrap().push(head.join("\n").to_lowercase());
            let answer =
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, heads)
}

#[test]
#[cfg_attr(windows, ignore = "Windows always has a credential store")]
fn key_lasts_for_one_command_without_a_keychain() {
    let world = World::without_model();
    let (url, heads) = refusing();
    let key = world.file("key", "sk-from-file\n");
    let added = world.run(&[
        "endpoints",
        "add",
        "--url",
        &url,
        "--name",
        "K",
        "--model",
        "m",
        "--key-from",
        &key,
    ]);
    assert!(
        added.code == 0 && added.err.contains("no keychain") && added.err.contains("INGLENOOK_KEY"),
        "{added:?}"
    );
    world.run(&["endpoints", "default", "K"]);
    let card = world.file(
        "mira.json",
        r#"{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Mira"}}"#,
    );
    let talk = ["chat", "--character", card.as_str(), "--message", "Hi"];
    let sent = |wanted: &str| {
        heads
            .lock()
            .unwrap()
            .iter()
            .any(|head| head.contains(wanted))
    };

    world.run(&talk);
    assert!(
        !heads.lock().unwrap().is_empty() && !sent("authorization"),
        "{heads:?}"
    );
    let talked = world.run(&[&talk[..], &["--key-from", &key]].concat());
    assert!(sent("bearer sk-from-file"), "{talked:?} {heads:?}");
    world
        .command(&talk)
        .env("INGLENOOK_KEY", "sk-from-variable")
        .output()
        .unwrap();
    assert!(sent("bearer sk-from-variable"), "{heads:?}");
    world
        .command(&["endpoints", "test", "K"])
        .env("INGLENOOK_KEY", "sk-for-test")
        .output()
        .unwrap();
    assert!(sent("bearer sk-for-test"), "{heads:?}");
}

#[test]
fn adds_lists_and_removes_a_service() {
    let world = World::without_model();
    let headers = world.file("headers", "X-Team: lamps\n\nX-Title: Inglenook\n");
    let added = world.run(&[
        "endpoints",
        "add",
        "--service",
        "groq",
        "--name",
        "Fast",
        "--model",
        "qwen",
        "--headers-from",
        &headers,
        "--json",
    ]);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(added.json()["url"], "https://api.groq.com/openai/v1");
    assert_eq!(
        added.json()["headers"],
        serde_json::json!(["x-team", "x-title"])
    );
    let listed = world.run(&["endpoints", "list"]);
    assert!(
        listed.out.contains("Fast") && !listed.out.contains("lamps"),
        "{listed:?}"
    );
    assert!(
        world
            .run(&["endpoints", "models", "fast"])
            .out
            .contains("qwen")
    );
    assert_eq!(world.run(&["endpoints", "default", "fast/qwen"]).code, 0);
    assert!(world.run(&["endpoints", "list"]).out.starts_with('*'));
    assert_eq!(world.run(&["endpoints", "remove", "Fast"]).code, 0);
    assert_eq!(world.run(&["endpoints", "list"]).out, "");
}

#[test]
fn a_default_model_is_shown_by_its_name() {
    let world = World::without_model();
    world.json(&[
        "endpoints",
        "add",
        "--url",
        "http://127.0.0.1:1/v1",
        "--name",
        "Shut",
        "--model",
        "small",
    ]);
    let listed = &world.json(&["endpoints", "list"])["items"][0];
    assert_eq!(listed["default_model"], serde_json::Value::Null);
    assert_eq!(
        world.run(&["endpoints", "default", "Shut"]).out,
        "Shut is now the default\n"
    );
    assert_eq!(
        world.json(&["endpoints", "list"])["items"][0]["default_model"],
        "small"
    );
}

#[test]
fn lists_services_with_their_key_requirement() {
    let world = World::without_model();
    let listed = world.run(&["endpoints", "services"]).out;
    assert!(
        listed.contains("http://127.0.0.1:11434 (no key)"),
        "{listed}"
    );
    assert!(
        listed.contains("https://openrouter.ai/api/v1 (needs a key)"),
        "{listed}"
    );
}

#[test]
fn api_is_guessed_or_given() {
    let world = World::without_model();
    for (arguments, expected) in [
        (&["--url", "http://127.0.0.1:1/v1"][..], "openai"),
        (&["--url", "https://api.anthropic.com/v1"], "anthropic"),
        (&["--service", "ollama"], "ollama"),
        (&["--url", "http://127.0.0.1:1/v1", "--api", "text"], "text"),
        (
            &["--service", "ollama", "--url", "http://127.0.0.1:1/v1"],
            "openai",
        ),
    ] {
        let added = world.json(&[&["endpoints", "add"], arguments].concat());
        assert_eq!(added["dialect"], expected, "{arguments:?}");
    }
    assert_eq!(
        world
            .run(&[
                "endpoints",
                "add",
                "--url",
                "http://127.0.0.1:1",
                "--api",
                "telepathy"
            ])
            .code,
        2
    );
}

#[test]
fn refuses_unknown_services_and_bad_headers() {
    let world = World::without_model();
    assert_ne!(
        world
            .run(&["endpoints", "add", "--service", "moonbase"])
            .code,
        0
    );
    let headers = world.file("headers", "no colon here\n");
    let url = "http://127.0.0.1:1/v1";
    assert_ne!(
        world
            .run(&["endpoints", "add", "--url", url, "--headers-from", &headers])
            .code,
        0
    );
    assert_eq!(world.run(&["endpoints", "list"]).out, "");
}

#[test]
fn doctor_contacts_endpoints_only_on_request() {
    let world = World::without_model();
    assert_eq!(
        world
            .run(&[
                "endpoints",
                "add",
                "--url",
                "http://127.0.0.1:1/v1",
                "--name",
                "Shut"
            ])
            .code,
        0
    );
    assert!(!world.run(&["doctor"]).out.contains("endpoint Shut"));
    assert!(
        world
            .run(&["doctor", "--endpoints"])
            .out
            .contains("NO  endpoint Shut")
    );
}
