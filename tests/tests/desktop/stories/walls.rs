use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::desk::{TestEnvironment, until};
use crate::stories::first_light::greeted;
use crate::window::Window;

/// Commands of Tauri and its plugins that an attacker could use. None of them may succeed.
const COMMANDS: [(&str, &str); 20] = [
    ("no_such_command", "{}"),
    ("import_paths", r#"{"paths":["/etc/passwd"]}"#),
    ("add_model", r#"{"path":"/etc/passwd"}"#),
    ("asset", r#"{"hash":"0"}"#),
    ("shutdown", "{}"),
    ("plugin:dialog|open", r#"{"options":{}}"#),
    ("plugin:dialog|save", r#"{"options":{}}"#),
    ("plugin:dialog|message", r#"{"message":"hi"}"#),
    ("plugin:store|load", r#"{"path":"shell.json"}"#),
    ("plugin:store|set", r#"{"rid":0,"key":"window","value":1}"#),
    ("plugin:fs|read_text_file", r#"{"path":"/etc/passwd"}"#),
    ("plugin:shell|open", r#"{"path":"https://example.org"}"#),
    ("plugin:http|fetch", r#"{"url":"https://example.org"}"#),
    ("plugin:opener|open_url", r#"{"url":"https://example.org"}"#),
    ("plugin:window|close", r#"{"label":"main"}"#),
    ("plugin:window|create", r#"{"options":{"label":"other"}}"#),
    (
        "plugin:webview|create_webview_window",
        r#"{"options":{"label":"other","url":"https://example.org"}}"#,
    ),
    (
        "plugin:event|emit",
        r#"{"event":"tauri://drag-drop","payload":{"paths":["/etc/passwd"]}}"#,
    ),
    ("plugin:path|resolve_directory", r#"{"directory":1}"#),
    ("plugin:app|app_show", "{}"),
];

/// Bodies of async functions; each returns a value only if the attack succeeded.
const ACTIONS: [(&str, &str); 20] = [
    (
        "fetch a page",
        "return (await fetch('https://example.org/')).status",
    ),
    (
        "fetch from this machine",
        "return (await fetch(SERVER)).status",
    ),
    (
        "fetch without CORS",
        "return (await fetch(SERVER, { mode: 'no-cors' })).type",
    ),
    (
        "send a beacon",
        "return navigator.sendBeacon(SERVER, 'x') && (await refused())",
    ),
    (
        "ask by XMLHttpRequest",
        "return await new Promise((ok, no) => { const r = new XMLHttpRequest(); r.onload = () => ok(r.status); r.onerror = no; r.open('GET', SERVER); r.send(); })",
    ),
    (
        "open a web socket",
        "return await new Promise((ok, no) => { const s = new WebSocket(SERVER.replace('http', 'ws')); s.onopen = () => ok('open'); s.onerror = no; })",
    ),
    (
        "listen to an event source",
        "return await new Promise((ok, no) => { const s = new EventSource(SERVER); s.onopen = () => ok('open'); s.onerror = no; })",
    ),
    (
        "load a remote picture",
        "return await loaded(Object.assign(new Image(), { src: SERVER + 'p.png' }))",
    ),
    (
        "load a remote script",
        "return await loaded(Object.assign(document.createElement('script'), { src: SERVER + 's.js' }))",
    ),
    (
        "load a remote style",
        "return await loaded(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: SERVER + 's.css' }))",
    ),
    (
        "run an inline script",
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.head.append(s); return window.ran",
    ),
    (
        "run a handler in an attribute",
        "const d = document.createElement('div'); d.innerHTML = '<img src=x onerror=\"window.ran = 2\">'; document.body.append(d); await refused(); return window.ran",
    ),
    ("eval", "return (0, eval)('1 + 1')"),
    (
        "make a function of text",
        "return new Function('return 1')()",
    ),
    (
        "import a data: module",
        "return (await import('data:text/javascript,export default 1')).default",
    ),
    (
        "start a worker from a blob",
        "return await new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); w.onmessage = () => ok('ran'); w.onerror = no; })",
    ),
    (
        "open a window",
        "return window.open('https://example.org/')",
    ),
    (
        "show a page in a frame",
        "return await framed({ src: SERVER })",
    ),
    (
        "show our own page in a frame",
        "return await framed({ src: 'tauri://localhost/' })",
    ),
    (
        "send a form",
        "const f = Object.assign(document.createElement('form'), { action: SERVER, method: 'post' }); document.body.append(f); f.submit(); return await refused()",
    ),
];

/// Attempts to leave the page, which must fail.
const FLIGHTS: [&str; 6] = [
    "location.href = 'https://example.org/'",
    "location.assign('http://127.0.0.1:1/')",
    "location.href = 'data:text/html,gone'",
    "location.href = 'file:///etc/passwd'",
    "Object.assign(document.createElement('a'), { href: 'https://example.org/', target: '_blank' }).click()",
    "Object.assign(document.createElement('a'), { href: 'https://example.org/' }).click()",
];

pub(crate) async fn forbidden(desk: TestEnvironment) {
    let window = desk.open().await;
    let greeting = greeted(&window).await;
    let server = Listener::start().await;
    for (command, arguments) in COMMANDS {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let (by_itself, as_operation) = (
            window.command(command, arguments.clone()).await,
            window.invoke(command, arguments).await,
        );
        assert!(
            by_itself.is_err() && as_operation.is_err(),
            "{command} answered {by_itself:?}, {as_operation:?}"
        );
    }
    for (action, body) in ACTIONS {
        let answer = attempt(&window, body, &server.address).await;
        assert!(answer.is_null(), "the page could {action}: {answer}");
    }
    for flight in FLIGHTS {
        window.script(flight, vec![]).await;
    }
    let still = greeted(&window).await;
    assert_eq!(still.id, greeting.id, "the page is still ours");
    assert!(
        window
            .session
            .current_url()
            .await
            .unwrap()
            .as_str()
            .starts_with("tauri://localhost")
    );
    assert_eq!(window.session.windows().await.unwrap().len(), 1);
    assert_eq!(server.connections(), 0, "something reached the listener");
    assert_eq!(
        window
            .script("return typeof window.__TAURI__", vec![])
            .await,
        json!("undefined")
    );
    assert!(
        window.invoke("startup", json!({})).await.is_ok(),
        "allowed commands still work"
    );
    window.close().await;
}

/// A page that reloads in the middle of a reply shows the same chat and joins the stream.
pub(crate) async fn reload(desk: TestEnvironment) {
    let window = desk.open().await;
    greeted(&window).await;
    let reply = window.ask("Tell me a long story about the sea.").await;
    window.session.refresh().await.unwrap();
    let joined = until("the same reply after the reload", || async {
        window
            .messages()
            .await
            .into_iter()
            .find(|message| message.id == reply && !message.text.trim().is_empty())
    })
    .await;
    until("more words, or the end", || async {
        let messages = window.messages().await;
        let now = messages.iter().find(|message| message.id == reply)?;
        (now.text.len() > joined.text.len() || window.is_idle().await).then_some(())
    })
    .await;
    window.quiet().await;
    window.close().await;
}

/// Runs `body` in the page. Returns `null` if it threw, was refused, or had no result.
async fn attempt(window: &Window<'_>, body: &str, server: &str) -> Value {
    let script = format!(
        "const done = arguments[arguments.length - 1], SERVER = arguments[0];
        const refused = () => new Promise((ok) => setTimeout(() => ok(null), 300));
        const loaded = (element) => new Promise((ok) => {{
            element.onload = () => ok('loaded'); element.onerror = () => ok(null); setTimeout(() => ok(null), 2000);
            document.head.append(element); }});
        const framed = (from) => new Promise((ok) => {{
            const frame = Object.assign(document.createElement('iframe'), from);
            frame.onload = () => {{ let seen = null; try {{ seen = frame.contentWindow.location.href; }} catch {{}}
                ok(seen === null || seen === 'about:blank' ? null : seen); }};
            setTimeout(() => ok(null), 2000); document.body.append(frame); }});
        delete window.ran;
        (async () => {{ {body} }})().then((got) => done(got ?? null), () => done(null));"
    );
    window
        .session
        .execute_async(&script, vec![json!(server)])
        .await
        .unwrap()
}

/// A local server that must not be reached.
pub(crate) struct Listener {
    pub(crate) address: String,
    connections: Arc<AtomicUsize>,
}

impl Listener {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self {
            address,
            connections,
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}
