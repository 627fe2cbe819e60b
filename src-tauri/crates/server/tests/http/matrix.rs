//! Access control: combinations of host, origin, token and ticket for every kind of route.

use crate::world::{Answer, World, request};

/// Credentials that an address requires.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs {
    /// Own host and origin.
    Nothing,
    /// A valid token, or none.
    NoWrongToken,
    Token,
    Ticket,
}

const ROUTES: [(&str, &str, Needs); 15] = [
    ("GET", "/", Needs::Nothing),
    ("GET", "/assets/app-1a2b.js", Needs::Nothing),
    ("GET", "/health", Needs::NoWrongToken),
    ("POST", "/api/op/list_chats", Needs::Token),
    ("POST", "/api/op/get_settings", Needs::Token),
    ("OPTIONS", "/api/op/list_chats", Needs::Token),
    ("POST", "/api/op/no_such_operation", Needs::Token),
    ("POST", "/api/ticket", Needs::Token),
    ("POST", "/api/import?name=a.json", Needs::Token),
    (
        "POST",
        "/api/tokenizer/00000000-0000-0000-0000-000000000000",
        Needs::Token,
    ),
    (
        "GET",
        "/api/export/00000000-0000-0000-0000-000000000000/png",
        Needs::Token,
    ),
    ("GET", "/asset/0000", Needs::Token),
    ("DELETE", "/api/no/such/route", Needs::Token),
    ("GET", "/api/events", Needs::Ticket),
    ("GET", "/api/events?ticket=AAAA", Needs::Ticket),
];

fn hosts(port: u16) -> Vec<(Option<String>, bool)> {
    let ours =
        ["127.0.0.1", "localhost", "[::1]"].map(|name| (Some(format!("{name}:{port}")), true));
    let theirs = [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("7f000001.rebind.example:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.0.0.2:{port}"),
        format!("localhost:{port}@evil.example"),
        "localhost".to_owned(),
        format!("localhost:{}", port ^ 1),
        String::new(),
    ];
    ours.into_iter()
        .chain(theirs.map(|host| (Some(host), false)))
        .chain([(None, false)])
        .collect()
}

fn origins(host: &str, port: u16) -> Vec<(Option<String>, bool)> {
    let theirs = [
        "null".to_owned(),
        "https://evil.example".to_owned(),
        format!("http://evil.example:{port}"),
        format!("https://{host}"),
        "http://localhost:5173".to_owned(),
        format!("http://localhost.evil.example:{port}"),
        "file://".to_owned(),
        String::new(),
    ];
    let ours = [(None, true), (Some(format!("http://{host}")), true)];
    ours.into_iter()
        .chain(theirs.map(|origin| (Some(origin), false)))
        .collect()
}

fn tokens(token: &str) -> Vec<(Option<String>, bool)> {
    let wrong = [
        "Bearer ".to_owned(),
        format!("Bearer {}", "A".repeat(token.len())),
        format!("Bearer {token}A"),
        format!("Bearer {}", &token[1..]),
        format!("Basic {token}"),
        token.to_owned(),
    ];
    [(None, false), (Some(format!("Bearer {token}")), true)]
        .into_iter()
        .chain(wrong.map(|value| (Some(value), false)))
        .collect()
}

struct Case<'a> {
    host: &'a (Option<String>, bool),
    origin: &'a (Option<String>, bool),
    token: &'a (Option<String>, bool),
    needs: Needs,
}

impl Case<'_> {
    /// Returns the expected refusal.
    fn refusal(&self) -> Option<u16> {
        let wrong_token = self.token.0.is_some() && !self.token.1;
        match self.needs {
            _ if !self.host.1 || !self.origin.1 => Some(403),
            Needs::Ticket => Some(401),
            Needs::Token if !self.token.1 => Some(401),
            Needs::NoWrongToken if wrong_token => Some(401),
            _ => None,
        }
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let given = [
            ("Host", self.host),
            ("Origin", self.origin),
            ("Authorization", self.token),
        ];
        let upgrade = [
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        given
            .into_iter()
            .filter_map(|(name, (value, _))| Some((name, value.as_deref()?)))
            .chain(upgrade.into_iter().filter(|_| self.needs == Needs::Ticket))
            .collect()
    }
}

fn assert_fits(case: &Case<'_>, answer: &Answer, what: &str) {
    let refused = [401, 403].contains(&answer.status).then_some(answer.status);
    assert_eq!(
        refused,
        case.refusal(),
        "{what} with {:?}: {answer:?}",
        case.headers()
    );
    assert!(
        !answer
            .headers
            .iter()
            .any(|(name, _)| name.starts_with("access-control") || name == "set-cookie")
    );
    assert_eq!(
        answer.header("x-content-type-options"),
        Some("nosniff"),
        "{what}"
    );
    assert!(answer.header("content-security-policy").is_some(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_own_page_with_token_is_accepted() {
    let world = World::new().await;
    let (addr, token) = (world.addr(), world.serving.token.reveal().to_owned());
    let mut asked = 0;
    for host in &hosts(addr.port()) {
        for origin in &origins(host.0.as_deref().unwrap_or_default(), addr.port()) {
            for token in &tokens(&token) {
                for (method, path, needs) in ROUTES {
                    let case = Case {
                        host,
                        origin,
                        token,
                        needs,
                    };
                    let answer = request(addr, method, path, &case.headers(), b"").await;
                    assert_fits(&case, &answer, &format!("{method} {path}"));
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 10_000, "{asked} requests");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_requires_own_page_and_fresh_ticket() {
    let world = World::new().await;
    let addr = world.addr();
    let mut opened = 0;
    for host in &hosts(addr.port()) {
        for origin in &origins(host.0.as_deref().unwrap_or_default(), addr.port()) {
            let path = format!("/api/events?ticket={}", world.ticket().await);
            let case = Case {
                host,
                origin,
                token: &(None, false),
                needs: Needs::Ticket,
            };
            let mut headers = case.headers();
            headers.push(("Connection", "Upgrade"));
            let answer = request(addr, "GET", &path, &headers, b"").await;
            let expected = if host.1 && origin.1 { 101 } else { 403 };
            assert_eq!(answer.status, expected, "{headers:?}");
            opened += u32::from(answer.status == 101);
            if answer.status == 101 {
                let again = request(addr, "GET", &path, &headers, b"").await;
                assert_eq!(again.status, 401, "a ticket works once");
            }
        }
    }
    assert_eq!(opened, 6);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn token_is_accepted_only_in_its_header() {
    let world = World::new().await;
    let (host, token) = (
        world.addr().to_string(),
        world.serving.token.reveal().to_owned(),
    );
    for path in [
        format!("/api/op/list_chats?token={token}"),
        format!("/api/events?ticket={token}"),
    ] {
        let answer = request(world.addr(), "POST", &path, &[("Host", &host)], b"{}").await;
        assert!([401, 405].contains(&answer.status), "{path}: {answer:?}");
    }
    let cookie = format!("token={token}");
    let answer = request(
        world.addr(),
        "POST",
        "/api/op/list_chats",
        &[("Host", &host), ("Cookie", &cookie)],
        b"{}",
    )
    .await;
    assert_eq!(answer.status, 401);
    let bearer = world.bearer();
    let twice = [
        ("Host", host.as_str()),
        ("Authorization", &bearer),
        ("Authorization", &bearer),
    ];
    assert_eq!(
        request(world.addr(), "POST", "/api/op/list_chats", &twice, b"{}")
            .await
            .status,
        401
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_targets_and_methods_are_checked_too() {
    let world = World::new().await;
    let (addr, host) = (world.addr(), world.addr().to_string());
    for (method, target) in [
        ("GET", "http://evil.example/"),
        ("GET", "http://evil.example/api/op/list_chats"),
        ("CONNECT", "evil.example:443"),
        ("POST", "//api/op/list_chats"),
        ("POST", "/api/op/list_chats/"),
        ("POST", "/api//op/list_chats"),
        ("POST", "/api/op/..%2flist_chats"),
        ("POST", "/%61pi/op/list_chats"),
        ("POST", "/API/op/list_chats"),
        ("OPTIONS", "*"),
        ("TRACE", "/api/op/list_chats"),
    ] {
        let answer = request(addr, method, target, &[("Host", &host)], b"{}").await;
        assert!(
            answer.status == 0 || answer.status >= 400,
            "{method} {target}: {answer:?}"
        );
    }
    world.stop().await;
}
