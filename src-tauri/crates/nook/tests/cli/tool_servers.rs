//! Tests of `tool-servers`.

use serde_json::{Value, json};

use crate::world::World;

/// Lists one tool, and answers each call with `done`.
const SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"run","description":"Runs.","inputSchema":{"type":"object","properties":{"what":{}}}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"done"}]}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done"#;

/// Adds a server. Options precede the command of the server.
fn add(world: &World, args: &[&str]) -> Value {
    let done = world.run(&[&["--json", "tool-servers", "add"], args].concat());
    assert_eq!(done.code, 0, "{done:?}");
    done.json()
}

#[test]
fn server_is_added_used_and_removed() {
    let world = World::without_model();
    let values = world.file("values.txt", "API_KEY=abc\n");
    let added = add(
        &world,
        &["Shell", "--values-from", &values, "--", "sh", "-c", SERVER],
    );
    assert_eq!(
        (&added["enabled"], &added["state"]["kind"]),
        (&json!(false), &json!("off")),
        "{added}"
    );
    world
        .run(&["tool-servers", "call", "shell", "run", "--json"])
        .assert_failed("badInput");

    let again = world.run(&[
        "tool-servers",
        "add",
        "Other",
        "--values-from",
        &values,
        "--",
        "sh",
    ]);
    assert!(again.err.contains("no keychain"), "{again:?}");
    world.json(&["tool-servers", "remove", "Other"]);

    // Values last until the program ends, because the tests hide the keychain.
    world
        .run(&["tool-servers", "on", "Shell", "--json"])
        .assert_failed("badInput");
    world.json(&["tool-servers", "remove", "Shell"]);
    add(&world, &["Shell", "--", "sh", "-c", SERVER]);
    let on = world.json(&["tool-servers", "on", "Shell"]);
    assert_eq!(
        (&on["tools"][0]["model_name"], &on["tools"][0]["grant"]),
        (&json!("Shell__run"), &json!("ask"))
    );

    let answer = world.json(&["tool-servers", "call", "Shell", "run", "{\"what\": 1}"]);
    assert_eq!(answer, json!({ "text": "done", "error": false }));
    let granted = world.json(&["tool-servers", "grant", "Shell", "run", "never"]);
    assert_eq!(granted["tools"][0]["grant"], "never");
    let tools = world.run(&["tool-servers", "tools", "Shell"]);
    assert!(tools.out.contains("run(what)  [never]  Runs."), "{tools:?}");
    let test = world.json(&["tool-servers", "test", "Shell"]);
    assert_eq!(
        (&test["name"], &test["resources"]),
        (&json!("sh"), &json!([]))
    );
    world.json(&["tool-servers", "remove", "Shell"]);
    assert_eq!(world.json(&["tool-servers", "list"])["items"], json!([]));
}

#[test]
fn odd_tool_is_left_out_and_named() {
    let world = World::without_model();
    let odd = SERVER.replace(
        r#"[{"name":"run""#,
        r#"[{"name":"bad","inputSchema":null},{"name":"run""#,
    );
    add(&world, &["Shell", "--", "sh", "-c", &odd]);
    let on = world.run(&["tool-servers", "on", "Shell"]);
    assert!(
        on.out.contains("run(what)") && on.out.contains("left out: bad ("),
        "{on:?}"
    );
    let test = world.json(&["tool-servers", "test", "Shell"]);
    assert_eq!(
        (
            &test["server"]["left_out"][0]["name"],
            &test["server"]["tools"][0]["name"]
        ),
        (&json!("bad"), &json!("run"))
    );
}

#[test]
fn pasted_text_reports_what_was_not_added() {
    let world = World::without_model();
    let file = world.file(
        "mcp.json",
        r#"{"mcpServers":{"a":{"command":"x"},"b":{"type":"sse","url":"https://b.example"}}}"#,
    );
    let report = world.json(&["tool-servers", "paste", &file]);
    assert_eq!(
        (&report["added"][0]["name"], &report["skipped"][0]["name"]),
        (&json!("a"), &json!("b"))
    );
    world
        .run(&[
            "tool-servers",
            "paste",
            &world.file("no.json", "{}"),
            "--json",
        ])
        .assert_failed("badInput");
}

#[test]
fn failed_start_is_a_failure() {
    let world = World::without_model();
    add(
        &world,
        &["Broken", "--", "sh", "-c", "echo lost >&2; exit 1"],
    );
    let done = world.run(&["tool-servers", "on", "Broken"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("The server ended: lost."), "{done:?}");
    world
        .run(&["tool-servers", "test", "Broken", "--json"])
        .assert_failed("toolServer");
}
