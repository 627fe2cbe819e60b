//! Checks the shell's configuration: the page may load, call and reach only what it needs.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

fn security() -> Value {
    json("tauri.conf.json")["app"]["security"].take()
}

fn sources(directive: &str) -> BTreeSet<String> {
    sources_of(&security()["csp"], directive)
}

fn sources_of(csp: &Value, directive: &str) -> BTreeSet<String> {
    let sources = csp[directive]
        .as_str()
        .unwrap_or_else(|| panic!("the CSP has no directive {directive}"));
    sources.split_whitespace().map(str::to_owned).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn allows_scripts_from_the_bundle_only() {
    assert_eq!(sources("script-src"), set(&["'self'"]));
    for directive in [
        "default-src",
        "object-src",
        "base-uri",
        "form-action",
        "frame-ancestors",
    ] {
        assert_eq!(sources(directive), set(&["'none'"]), "{directive}");
    }
}

#[test]
fn page_can_reach_the_shell_but_no_network() {
    assert_eq!(sources("connect-src"), set(&["ipc:"]));
    assert_eq!(sources("font-src"), set(&["'self'"]));
    assert_eq!(
        sources("img-src"),
        set(&["'self'", "nook:", "data:", "blob:"])
    );
}

/// WebView2 serves the schemes `nook:` and `ipc:` as `http://nook.localhost` and
/// `http://ipc.localhost`. On other systems these are ordinary requests, which a proxy may forward
/// to another machine.
#[test]
fn only_windows_allows_the_http_form_of_our_schemes() {
    let windows = json("tauri.windows.conf.json");
    let csp = &windows["app"]["security"]["csp"];
    assert_eq!(
        sources_of(csp, "img-src"),
        set(&["'self'", "http://nook.localhost", "data:", "blob:"])
    );
    assert_eq!(
        sources_of(csp, "connect-src"),
        set(&["http://ipc.localhost"])
    );
    assert_eq!(csp.as_object().unwrap().len(), 2);
    assert_eq!(windows["app"]["security"].as_object().unwrap().len(), 1);
    assert_eq!(windows["app"].as_object().unwrap().len(), 1);
    let everywhere = security().to_string();
    assert!(!everywhere.contains("http:"), "{everywhere}");
}

#[test]
fn inline_styles_are_the_only_relaxation() {
    assert_eq!(sources("style-src"), set(&["'self'", "'unsafe-inline'"]));
    assert_eq!(
        security()["dangerousDisableAssetCspModification"],
        serde_json::json!(["style-src"])
    );
    assert_eq!(security()["devCsp"], Value::Null);
}

#[test]
fn page_has_no_global_api_and_frozen_prototypes() {
    let app = json("tauri.conf.json")["app"].take();
    assert_eq!(app["withGlobalTauri"], false);
    assert_eq!(app["security"]["freezePrototype"], true);
    assert_eq!(app["security"]["assetProtocol"]["enable"], false);
    assert_eq!(app["security"].get("dangerousRemoteDomainIpcAccess"), None);
}

#[test]
fn one_capability_allows_commands_in_our_window() {
    let files =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities")).unwrap();
    assert_eq!(files.count(), 1);
    assert_eq!(security()["capabilities"], serde_json::json!(["main"]));
    let capability = json("capabilities/main.json");
    assert_eq!(capability["identifier"], "main");
    assert_eq!(
        capability["windows"],
        serde_json::json!([crate::window::LABEL])
    );
    assert_eq!(capability.get("remote"), None);
    assert_eq!(
        capability["permissions"],
        serde_json::json!([
            "own-commands",
            "core:event:allow-listen",
            "core:event:allow-unlisten"
        ])
    );
}

#[test]
fn one_window_is_declared_and_created_by_us() {
    let windows = json("tauri.conf.json")["app"]["windows"].take();
    let windows = windows.as_array().unwrap();
    assert_eq!(windows.len(), 1);
    assert_eq!(windows[0]["label"], crate::window::LABEL);
    // Tauri would open it without our navigation filter.
    assert_eq!(windows[0]["create"], false);
}

/// Older versions have vulnerabilities that the page or a hostile file could use.
#[test]
fn dependency_versions_are_above_their_minimum() {
    let lock = text("../Cargo.lock");
    for (name, floor) in [
        ("tauri", [2, 11, 1]),
        ("rusqlite", [0, 41, 0]),
        ("rustls", [0, 23, 18]),
    ] {
        let versions = versions(&lock, name);
        assert!(!versions.is_empty(), "{name} is not in Cargo.lock");
        assert!(
            versions.iter().all(|version| *version >= floor),
            "{name} {versions:?} is below {floor:?}"
        );
    }
    for (name, floor) in [("zip", [2, 3, 0]), ("ammonia", [4, 1, 4])] {
        assert!(
            versions(&lock, name)
                .iter()
                .all(|version| *version >= floor),
            "{name} is below {floor:?}"
        );
    }
}

fn versions(lock: &str, name: &str) -> Vec<[u32; 3]> {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let found = lock
        .split(&entry)
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let number = |part: Option<&str>| part.and_then(|part| part.parse().ok()).unwrap_or(0);
    found
        .map(|version| {
            let mut parts = version.split(['.', '-', '+']);
            [
                number(parts.next()),
                number(parts.next()),
                number(parts.next()),
            ]
        })
        .collect()
}

/// The desktop opens these with the app. They are the last resort for pictures and JSON, which
/// other programs own.
#[test]
fn desktop_opens_cards_and_links_with_the_app() {
    let config = json("tauri.conf.json");
    let associations = config["bundle"]["fileAssociations"]
        .as_array()
        .unwrap()
        .clone();
    let of = |ending: &str| {
        associations
            .iter()
            .find(|one| one["ext"] == serde_json::json!([ending]))
            .unwrap()
            .clone()
    };
    assert_eq!(of("charx")["rank"], "Owner");
    for shared in ["png", "json"] {
        assert_eq!(of(shared)["rank"], "Alternate", "{shared}");
    }
    assert_eq!(
        config["plugins"]["deep-link"]["desktop"]["schemes"],
        serde_json::json!(["inglenook"])
    );
}

/// Own types are those that the app adds to the system, and its links.
#[test]
fn linux_desktop_opens_every_own_type() {
    let desktop = text("linux/org.inglenook.app.desktop");
    let metainfo = text("linux/org.inglenook.app.metainfo.xml");
    let types = text("linux/inglenook-mime.xml");
    let added = types.split("<mime-type type=\"").skip(1);
    let mut own: Vec<&str> = added.filter_map(|rest| rest.split('"').next()).collect();
    own.push("x-scheme-handler/inglenook");
    assert!(own.contains(&"application/x-charx"), "{own:?}");
    let opened = desktop
        .lines()
        .find_map(|line| line.strip_prefix("MimeType="));
    let opened = set(&opened.unwrap().split_terminator(';').collect::<Vec<_>>());
    for own in own {
        assert!(opened.contains(own), "the desktop file misses {own}");
        let element = format!("<mediatype>{own}</mediatype>");
        assert!(metainfo.contains(&element), "the metainfo misses {own}");
    }
}

#[test]
fn metainfo_has_a_release_of_this_version() {
    let release = concat!("<release version=\"", env!("CARGO_PKG_VERSION"), "\"");
    assert!(text("linux/org.inglenook.app.metainfo.xml").contains(release));
}
