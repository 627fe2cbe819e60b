//! The `endpoints` verbs. No test contacts an endpoint.

use crate::world::World;

#[test]
fn a_service_is_added_listed_and_removed() {
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
    assert_eq!(added.json()["headers"], serde_json::json!(["x-team", "x-title"]));
    let listed = world.run(&["endpoints", "list"]);
    assert!(listed.out.contains("Fast") && !listed.out.contains("lamps"), "{listed:?}");
    assert!(world.run(&["endpoints", "models", "fast"]).out.contains("qwen"));
    assert_eq!(world.run(&["endpoints", "default", "fast/qwen"]).code, 0);
    assert!(world.run(&["endpoints", "list"]).out.starts_with('*'));
    assert_eq!(world.run(&["endpoints", "remove", "Fast"]).code, 0);
    assert_eq!(world.run(&["endpoints", "list"]).out, "");
}

#[test]
fn a_default_model_is_shown_by_its_name() {
    let world = World::without_model();
    world.json(&["endpoints", "add", "--url", "http://127.0.0.1:1/v1", "--name", "Shut", "--model", "small"]);
    let listed = &world.json(&["endpoints", "list"])["items"][0];
    assert_eq!(listed["default_model"], serde_json::Value::Null);
    assert_eq!(world.run(&["endpoints", "default", "Shut"]).out, "Shut answers from now on\n");
    assert_eq!(world.json(&["endpoints", "list"])["items"][0]["default_model"], "small");
}

#[test]
fn services_are_listed_with_their_need_of_a_key() {
    let world = World::without_model();
    let listed = world.run(&["endpoints", "services"]).out;
    assert!(listed.contains("http://127.0.0.1:11434/v1 (no key)"), "{listed}");
    assert!(listed.contains("https://openrouter.ai/api/v1 (needs a key)"), "{listed}");
}

#[test]
fn an_unknown_service_or_header_line_is_refused() {
    let world = World::without_model();
    assert_ne!(world.run(&["endpoints", "add", "--service", "moonbase"]).code, 0);
    let headers = world.file("headers", "no colon here\n");
    let url = "http://127.0.0.1:1/v1";
    assert_ne!(world.run(&["endpoints", "add", "--url", url, "--headers-from", &headers]).code, 0);
    assert_eq!(world.run(&["endpoints", "list"]).out, "");
}

#[test]
fn doctor_asks_endpoints_on_request_only() {
    let world = World::without_model();
    assert_eq!(world.run(&["endpoints", "add", "--url", "http://127.0.0.1:1/v1", "--name", "Shut"]).code, 0);
    assert!(!world.run(&["doctor"]).out.contains("endpoint Shut"));
    assert!(world.run(&["doctor", "--endpoints"]).out.contains("NO  endpoint Shut"));
}
