//! Messages that try to run scripts or reach the network, rendered in the real window.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::desk::{TestEnvironment, until};
use crate::stories::first_light::greeted;
use crate::stories::walls::Listener;

/// Hosts that must receive no requests. WebKitGTK resolves `*.localhost` to this machine, and the
/// first three hosts look like the addresses of our own schemes on Windows.
const HOSTS: [&str; 6] = [
    "http://nook.localhost/",
    "http://ipc.localhost/",
    "http://tauri.localhost/",
    "http://asset.localhost/",
    "//nook.localhost/",
    "LISTENER",
];

/// `ADDRESS` is replaced with an address of one of [`HOSTS`].
const FETCHES: [&str; 30] = [
    "![a](ADDRESSp.png)",
    "![a](<ADDRESSp.png> 'title')",
    "[![a](ADDRESSp.png)](ADDRESSq)",
    "![a][r]\n\n[r]: ADDRESSp.png",
    "<img src=ADDRESSp.png>",
    "<img srcset='ADDRESSp.png 2x' src=x>",
    "<IMG\nSRC='ADDRESSp.png'>",
    "<picture><source srcset=ADDRESSp.png><img src=x></picture>",
    "<video poster=ADDRESSp.png src=ADDRESSv.mp4 autoplay></video>",
    "<audio src=ADDRESSa.mp3 autoplay></audio>",
    "<iframe src=ADDRESS></iframe>",
    "<iframe srcdoc='<img src=ADDRESSp.png>'></iframe>",
    "<object data=ADDRESSo></object>",
    "<embed src=ADDRESSe>",
    "<link rel=stylesheet href=ADDRESSs.css>",
    "<link rel=prefetch href=ADDRESSf>",
    "<style>@import 'ADDRESSs.css'; body { background: url(ADDRESSb.png) }</style>",
    "<div style='background-image:url(ADDRESSb.png)'>words</div>",
    "<p style=\"list-style: url('ADDRESSl.png')\">words</p>",
    "<table background=ADDRESSt.png><tr><td background=ADDRESSt.png>words</table>",
    "<svg><image href=ADDRESSi.png /></svg>",
    "<svg><use xlink:href=ADDRESSu.svg#a /></svg>",
    "<svg><feImage href=ADDRESSf.png /></svg>",
    "<svg><style>@import url(ADDRESSs.css)</style></svg>",
    "<math><mi xlink:href=ADDRESSm>x</mi></math>",
    "<input type=image src=ADDRESSi.png>",
    "<form action=ADDRESS><button autofocus>words</button></form>",
    "<meta http-equiv=refresh content='0;url=ADDRESS'>",
    "<base href=ADDRESS><img src=p.png>",
    "<bgsound src=ADDRESSs.wav><body background=ADDRESSb.png>",
];

/// Each payload sets `window.ran` if it runs.
const SCRIPTS: [&str; 24] = [
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<svg onload='window.ran = 1'></svg>",
    "<svg><script>window.ran = 1</script></svg>",
    "<svg><animate onbegin='window.ran = 1' attributeName=x dur=1s></svg>",
    "<svg><a xlink:href='javascript:window.ran = 1'><text y=20>words</text></a></svg>",
    "<details open ontoggle='window.ran = 1'>words</details>",
    "<input autofocus onfocus='window.ran = 1'>",
    "<body onload='window.ran = 1'>",
    "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    "<iframe src='javascript:parent.ran = 1'></iframe>",
    "<object data='data:text/html,<script>parent.ran = 1</script>'></object>",
    "<math><mtext><table><mglyph><style><img src=x onerror='window.ran = 1'>",
    "<math><mi//xlink:href='data:x,<script>window.ran = 1</script>'>",
    "<noscript><p title='</noscript><img src=x onerror=window.ran=1>'>",
    "<template><img src=x onerror='window.ran = 1'></template>",
    "<form id=a></form><button form=a formaction='javascript:window.ran = 1'>words</button>",
    "<p style='animation: x 1s' onanimationstart='window.ran = 1'>words</p>",
    "<style>@keyframes x {}</style><p style='animation-name: x' onanimationend='window.ran = 1'>words</p>",
    "[words](javascript:window.ran=1)",
    "[words](  JaVaScRiPt:window.ran=1)",
    "<javascript:window.ran=1>",
    "![x](x\" onerror=\"window.ran=1)",
    "```\"><img src=x onerror='window.ran = 1'>\nwords\n```",
];

/// DOM clobbering of names that scripts on the page might look up.
const CLOBBERS: [&str; 4] = [
    "<img name=__TAURI_INTERNALS__><img id=__TAURI_INTERNALS__>",
    "<form name=body><input name=firstChild></form>",
    "<a id=ipc href='http://nook.localhost/'>words</a>",
    "<form id=test><input name=attributes></form>",
];

pub(crate) async fn inert(desk: TestEnvironment) {
    let window = desk.open().await;
    let greeting = greeted(&window).await;
    let server = Listener::start().await;
    let port_80 = Port80::listen().await;
    let hosts = HOSTS.map(|host| host.replace("LISTENER", &server.address));
    let fetches = hosts.iter().map(|host| {
        FETCHES
            .map(|payload| payload.replace("ADDRESS", host))
            .join("\n\n")
    });
    let others = [SCRIPTS.join("\n\n"), CLOBBERS.join("\n\n")];
    for (at, text) in fetches.chain(others).enumerate() {
        // A unique word shows when the message is rendered.
        let mark = format!("drawn{at}");
        let text = format!("{text}\n\n{mark}");
        window
            .invoke(
                "edit_message",
                json!({ "message": greeting.id, "text": text }),
            )
            .await
            .unwrap();
        window.session.refresh().await.unwrap();
        until("the message on the page", || async {
            window
                .messages()
                .await
                .iter()
                .any(|message| message.text.contains(&mark))
                .then_some(())
        })
        .await;
        window.painted().await;
        assert_eq!(
            window.script("return window.ran ?? null", vec![]).await,
            json!(null),
            "a script of {text} ran"
        );
        assert_eq!(
            (server.connections(), port_80.connections()),
            (0, 0),
            "something of {text} was fetched"
        );
        assert!(
            window
                .session
                .current_url()
                .await
                .unwrap()
                .as_str()
                .starts_with("tauri://localhost"),
            "{text}"
        );
    }
    assert!(
        window.invoke("startup", json!({})).await.is_ok(),
        "the page still reaches the engine"
    );
    window.close().await;
}

/// Patterns to repeat up to 64 KiB. Each one made a Markdown parser throw or run for seconds.
const PATTERNS: [&str; 16] = [
    ">", "> ", "- ", "*", "**a ", "_", "[", "[a](", "![", "`", "``` ", "<", "<b>", "| a ", "\\",
    "1. a\n  ",
];

/// Reloads the whole page for each message, so that a message that blanks or blocks the page is
/// noticed.
pub(crate) async fn readable(desk: TestEnvironment) {
    let window = desk.open().await;
    let greeting = greeted(&window).await;
    for pattern in PATTERNS {
        let text = format!(
            "first words\n\n{}",
            pattern.repeat((64 << 10) / pattern.len())
        );
        window
            .invoke(
                "edit_message",
                json!({ "message": greeting.id, "text": text }),
            )
            .await
            .unwrap();
        let started = Instant::now();
        window.session.refresh().await.unwrap();
        until("the message on the page", || async {
            window
                .messages()
                .await
                .iter()
                .any(|message| message.text.contains("first words"))
                .then_some(())
        })
        .await;
        window.painted().await;
        eprintln!(
            "{pattern:?}: the page and the message are drawn after {:?}",
            started.elapsed()
        );
        assert_eq!(
            window
                .script(
                    "return document.querySelector('[data-testid=composer]').disabled",
                    vec![]
                )
                .await,
            json!(false)
        );
    }
    window.close().await;
}

/// Counts requests to `*.localhost` without a port. Only this test's own network namespace may
/// listen on port 80.
struct Port80 {
    connections: Arc<AtomicUsize>,
}

impl Port80 {
    async fn listen() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        for address in ["127.0.0.1:80", "[::1]:80"] {
            // Without IPv6, the second address cannot be bound.
            let Ok(listener) = tokio::net::TcpListener::bind(address).await else {
                continue;
            };
            let counter = connections.clone();
            tokio::spawn(async move {
                while listener.accept().await.is_ok() {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let heard = connections.clone();
        tokio::net::TcpStream::connect("127.0.0.1:80")
            .await
            .expect("port 80 belongs to this world");
        until("the trial connection", || async {
            (heard.load(Ordering::Relaxed) == 1).then_some(())
        })
        .await;
        connections.store(0, Ordering::Relaxed);
        Self { connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}
