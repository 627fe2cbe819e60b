//! Servers that are real processes: shell scripts that speak just enough of the protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp::{Limits, McpError, Server, ServerConfig, ServerState};
use secrecy::SecretString;
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use crate::small;

/// Answers every request; `tools/call` answers with what `$tool` prints.
const SERVER: &str = r#"
tool="$1"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result="{\"content\":[{\"type\":\"text\",\"text\":\"$(eval "$tool")\"}]}" ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn shell(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> ServerConfig {
    ServerConfig::Process {
        command: "sh".into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
            .collect(),
        folder: folder.to_owned(),
    }
}

/// A server whose tool prints the output of `tool`.
fn server(folder: &Path, tool: &str, env: &[(&str, &str)]) -> Arc<Server> {
    Server::new(shell(folder, &["-c", SERVER, "sh", tool], env), small())
}

async fn run(server: &Arc<Server>) -> Result<String, McpError> {
    server
        .call("run", Map::new(), &CancellationToken::new())
        .await
        .map(|output| output.text)
}

/// Whether the process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(PathBuf::from("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| {
        !status
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .starts_with('Z')
    })
}

async fn until_dead(pid: &str) {
    let dead = async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), dead)
        .await
        .unwrap_or_else(|_| panic!("{pid} still runs"));
}

#[tokio::test]
async fn process_gets_a_clean_environment() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(
        folder.path(),
        "env | cut -d= -f1 | tr '\\n' ' '",
        &[("DECLARED", "yes")],
    );
    let names = run(&server).await.unwrap();
    let names: BTreeSet<&str> = names.split_whitespace().collect();
    assert!(
        names.contains("DECLARED") && names.contains("PATH"),
        "{names:?}"
    );
    // The shell sets the last three itself.
    let allowed = [
        "DECLARED", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM",
        "TMPDIR", "TZ",
    ];
    let allowed = BTreeSet::from_iter(
        allowed
            .into_iter()
            .chain(["USER", "PWD", "OLDPWD", "SHLVL", "_"]),
    );
    assert!(
        std::env::vars().any(|(name, _)| !allowed.contains(name.as_str())),
        "this process has variables to hide"
    );
    assert_eq!(
        names.difference(&allowed).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
}

#[tokio::test]
async fn process_starts_in_its_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("servers/one");
    assert_eq!(
        run(&server(&own, "pwd -P", &[])).await.unwrap(),
        own.canonicalize().unwrap().to_str().unwrap()
    );
}

#[tokio::test]
async fn dropped_server_ends_its_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), "sleep 600 >/dev/null 2>&1 & echo $! $$", &[]);
    let pids = run(&server).await.unwrap();
    let pids: Vec<&str> = pids.split_whitespace().collect();
    assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
    drop(server);
    for pid in pids {
        until_dead(pid).await;
    }
}

#[tokio::test]
async fn stopped_server_starts_again_when_needed() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), "echo $$", &[]);
    assert_eq!(server.state(), ServerState::Stopped);
    let first = run(&server).await.unwrap();
    assert_eq!(server.state(), ServerState::Running);
    server.stop().await;
    assert_eq!(server.state(), ServerState::Stopped);
    until_dead(&first).await;
    assert_ne!(run(&server).await.unwrap(), first);
}

#[tokio::test]
async fn stop_ends_a_start_in_progress() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(
        shell(folder.path(), &["-c", "read -r line; sleep 600"], &[]),
        small(),
    );
    let (listed, ()) = tokio::join!(server.tools(), async {
        while server.state() != ServerState::Starting {
            tokio::task::yield_now().await;
        }
        server.stop().await;
    });
    assert_eq!(listed.unwrap_err(), McpError::Cancelled);
    assert_eq!(server.state(), ServerState::Stopped);
}

#[tokio::test]
async fn idle_server_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        idle: Duration::from_millis(100),
        ..small()
    };
    let server = Server::new(
        shell(folder.path(), &["-c", SERVER, "sh", "echo $$"], &[]),
        limits,
    );
    let pid = run(&server).await.unwrap();
    until_dead(&pid).await;
    while server.state() != ServerState::Stopped {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn last_words_of_a_failed_start_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo first >&2; echo 'missing key: API_KEY' >&2; exit 3";
    let server = Server::new(shell(folder.path(), &["-c", script], &[]), small());
    let error = server.tools().await.unwrap_err();
    assert_eq!(
        error,
        McpError::Ended {
            stderr: "first / missing key: API_KEY".into()
        }
    );
    assert_eq!(server.state(), ServerState::Failed(error));
}

#[tokio::test]
async fn endless_error_output_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "i=0; while [ $i -lt 20000 ]; do echo noise >&2; i=$((i+1)); done; echo end >&2; exit 1";
    let server = Server::new(shell(folder.path(), &["-c", script], &[]), small());
    let McpError::Ended { stderr } = server.tools().await.unwrap_err() else {
        panic!("another error")
    };
    assert!(
        stderr.ends_with("noise / end") && stderr.len() < 700,
        "{stderr}"
    );
}

#[tokio::test]
async fn server_that_keeps_dying_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(shell(folder.path(), &["-c", "exit 1"], &[]), small());
    for _ in 0..small().deaths {
        assert!(matches!(server.tools().await, Err(McpError::Ended { .. })));
    }
    assert!(matches!(
        server.tools().await,
        Err(McpError::TooManyDeaths { .. })
    ));
    server.forgive();
    assert!(matches!(server.tools().await, Err(McpError::Ended { .. })));
}

#[tokio::test]
async fn death_during_a_call_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), "echo gone >&2; kill -9 $$", &[]);
    assert_eq!(
        run(&server).await,
        Err(McpError::Ended {
            stderr: "gone".into()
        })
    );
    assert!(server.tools().await.is_ok(), "the next use starts it again");
}

#[tokio::test]
async fn missing_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let config = ServerConfig::Process {
        command: "no-such-program".into(),
        args: Vec::new(),
        env: Vec::new(),
        folder: folder.path().to_owned(),
    };
    let error = Server::new(config, small()).tools().await.unwrap_err();
    assert_eq!(
        error,
        McpError::ProgramNotFound {
            program: "no-such-program".into()
        }
    );
}

#[tokio::test]
async fn nothing_at_an_address_is_an_error() {
    let config = ServerConfig::Http {
        url: "http://127.0.0.1:9/mcp?key=secret".into(),
        headers: Vec::new(),
    };
    let error = Server::new(config, small()).tools().await.unwrap_err();
    assert!(
        matches!(&error, McpError::Unreachable { host, .. } if host == "127.0.0.1:9"),
        "{error:?}"
    );
}
