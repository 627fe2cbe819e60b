use proptest::prelude::*;

use super::*;

fn one(text: &str) -> (String, PastedServer) {
    let mut servers = read_servers(text).unwrap();
    assert_eq!(servers.len(), 1);
    let Pasted { name, server } = servers.remove(0);
    (name, server.unwrap())
}

fn process(command: &str, args: &[&str], env: &[(&str, &str)]) -> PastedServer {
    PastedServer::Process {
        command: command.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

#[test]
fn claude_desktop_settings_are_read() {
    let text = r#"{ "theme": "dark", "mcpServers": { "files": { "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"], "env": { "KEY": "abc" } } } }"#;
    let args = [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/srv/notes",
    ];
    assert_eq!(
        one(text),
        ("files".into(), process("npx", &args, &[("KEY", "abc")]))
    );
}

#[test]
fn vs_code_settings_with_comments_are_read() {
    let text = "{\n // keys are asked for\n \"inputs\": [{ \"id\": \"k\" },], \"servers\": { \"web\": { \"type\": \"http\",
            \"url\": \"https://example.org/mcp\", \"headers\": { \"Authorization\": \"Bearer ${input:k}\" }, /* end */ }, } }";
    let headers = vec![("Authorization".to_owned(), String::new())];
    assert_eq!(
        one(text),
        (
            "web".into(),
            PastedServer::Http {
                url: "https://example.org/mcp".into(),
                headers
            }
        )
    );
    let nested =
        r#"{ "mcp": { "servers": { "t": { "command": "uvx", "args": ["mcp-server-time"] } } } }"#;
    assert_eq!(
        one(nested),
        ("t".into(), process("uvx", &["mcp-server-time"], &[]))
    );
}

#[test]
fn part_without_outer_braces_is_read() {
    let text = r#""time": { "command": "uvx", "args": ["mcp-server-time"] },"#;
    assert_eq!(
        one(text),
        ("time".into(), process("uvx", &["mcp-server-time"], &[]))
    );
    let whole = r#""mcpServers": { "time": { "command": "uvx" } }"#;
    assert_eq!(one(whole), ("time".into(), process("uvx", &[], &[])));
}

#[test]
fn single_server_gets_a_name() {
    let (name, _) =
        one(r#"{ "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"] }"#);
    assert_eq!(name, "server-everything");
    let (name, _) = one(r#"{ "url": "https://mcp.example.org/mcp" }"#);
    assert_eq!(name, "mcp.example.org");
}

#[test]
fn zed_settings_are_read() {
    let text =
        r#"{ "context_servers": { "z": { "command": { "path": "run-it", "args": ["-x"] } } } }"#;
    assert_eq!(one(text), ("z".into(), process("run-it", &["-x"], &[])));
}

#[test]
fn unusable_entry_has_a_reason() {
    let text = r#"{ "mcpServers": { "old": { "type": "sse", "url": "https://example.org/sse" }, "odd": { "command": [] },
            "no": 7, "good": { "command": "x", "args": [1, true], "env": { "A": null } }, "fine": { "command": "x" } } }"#;
    let servers = read_servers(text).unwrap();
    let failed: Vec<&str> = servers
        .iter()
        .filter(|one| one.server.is_err())
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(failed, ["old", "odd", "no", "good"]);
}

#[test]
fn placeholders_become_missing_values() {
    let text = r#"{ "command": "x", "env": { "A": "${env:HOME}", "B": "<your key>", "C": "YOUR_API_KEY", "D": "real" } }"#;
    let env = [("A", ""), ("B", ""), ("C", ""), ("D", "real")];
    assert_eq!(one(text).1, process("x", &[], &env));
}

#[test]
fn text_without_server_is_refused() {
    assert_eq!(read_servers("{}"), Err(PasteError::NoServer));
    assert_eq!(read_servers("[1]"), Err(PasteError::NoServer));
    assert!(matches!(
        read_servers("{\n\"mcpServers\": {"),
        Err(PasteError::NotJson { line: 2, .. })
    ));
    let many: Vec<String> = (0..60)
        .map(|index| format!(r#""s{index}": {{ "command": "x" }}"#))
        .collect();
    assert_eq!(
        read_servers(&format!("{{{}}}", many.join(","))),
        Err(PasteError::TooMany)
    );
}

proptest! {
    #[test]
    fn any_text_gives_servers_or_an_error(text in "(\\PC|[\\[\\]{}\",:/*\\\\ \n]){0,200}") {
        let _ = read_servers(&text);
    }
}
