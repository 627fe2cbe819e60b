//! Files that another program asks the app to import: on the command line of a start, by a
//! double-click, or by an `inglenook:` link. Nothing is imported until the user agrees.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tauri::Url;
use tokio::sync::watch;

/// Maximum number of files that wait for an answer.
const MAX_WAITING: usize = 100;
/// Endings of files that a link may name. A file on the command line may have any.
const ENDINGS: [&str; 9] = [
    "png", "apng", "jpg", "jpeg", "charx", "json", "jsonl", "byaf", "yaml",
];

/// The files that wait for the user's answer, in the order of the requests.
#[derive(Default)]
pub(crate) struct Openings {
    waiting: Mutex<Vec<PathBuf>>,
    count: watch::Sender<usize>,
}

impl Openings {
    /// Adds files to the question. Files beyond the maximum are left out.
    pub(crate) fn add(&self, paths: Vec<PathBuf>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_WAITING.saturating_sub(waiting.len());
        if paths.len() > room {
            tracing::warn!(
                left_out = paths.len() - room,
                "too many files wait for an answer"
            );
        }
        waiting.extend(paths.into_iter().take(room));
        self.count.send_replace(waiting.len());
    }

    /// The paths that wait, as the page shows them.
    pub(crate) fn shown(&self) -> Vec<String> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .iter()
            .map(|path| engine::visible_line(&path.display().to_string()))
            .collect()
    }

    /// The paths that wait.
    pub(crate) fn waiting(&self) -> Vec<PathBuf> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.clone()
    }

    /// Takes the first `count` files: those that the user saw. Files that arrived after the
    /// question stay.
    pub(crate) fn take(&self, count: usize) -> Vec<PathBuf> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = count.min(waiting.len());
        let taken = waiting.drain(..count).collect();
        self.count.send_replace(waiting.len());
        taken
    }

    /// Changes when files arrive or are answered.
    pub(crate) fn changes(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

/// Resolves what a start names: links, `file:` addresses as Linux desktops pass them, and paths
/// relative to the folder of that start. Addresses that name no file here are left out.
pub(crate) fn requested(names: Vec<PathBuf>, folder: &Path) -> Vec<PathBuf> {
    names
        .into_iter()
        .filter_map(|name| {
            let file = match name.to_str() {
                Some(link) if has_scheme(link, "inglenook:") => file_of(link),
                Some(address) if has_scheme(address, "file:") => file_at(address),
                _ => Some(folder.join(name)),
            };
            if file.is_none() {
                tracing::warn!("a link that names no file was ignored");
            }
            file
        })
        .collect()
}

fn file_at(address: &str) -> Option<PathBuf> {
    Url::parse(address).ok()?.to_file_path().ok()
}

fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// The file that `inglenook://import?file=PATH` names. The path must be absolute, on this machine,
/// without `..`, and have the ending of a card or chat.
fn file_of(link: &str) -> Option<PathBuf> {
    let url = Url::parse(link).ok()?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.port().is_none()
        && url.fragment().is_none();
    if !plain || url.host_str() != Some("import") || !matches!(url.path(), "" | "/") {
        return None;
    }
    let mut pairs = url.query_pairs();
    let (name, file) = pairs.next()?;
    if name != "file" || pairs.next().is_some() || file.chars().any(char::is_control) {
        return None;
    }
    let path = PathBuf::from(file.as_ref());
    let ending = path.extension()?.to_str()?.to_lowercase();
    let fits = path.is_absolute() && is_local(&path) && ENDINGS.contains(&ending.as_str());
    fits.then_some(path)
}

/// Whether a path names a file on this machine directly. A share of another machine would send it
/// the user's name.
fn is_local(path: &Path) -> bool {
    let text = path.to_string_lossy();
    if text.starts_with("//") || text.starts_with("\\\\") {
        return false;
    }
    path.components().all(|part| match part {
        Component::Prefix(prefix) => matches!(prefix.kind(), std::path::Prefix::Disk(_)),
        Component::ParentDir | Component::CurDir => false,
        Component::RootDir | Component::Normal(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn link_names_a_local_file_only() {
        let file = |link: &str| file_of(link);
        assert_eq!(
            file("inglenook://import?file=%2Fcards%2FMira%20Quay.png"),
            Some("/cards/Mira Quay.png".into())
        );
        assert_eq!(
            file("INGLENOOK://import/?file=/cards/Mira.CHARX"),
            Some("/cards/Mira.CHARX".into())
        );
        for hostile in [
            "inglenook://import",
            "inglenook://import?file=",
            "inglenook://import?file=Mira.png",
            "inglenook://import?file=/cards/../../etc/passwd.json",
            "inglenook://import?file=//server/share/Mira.png",
            "inglenook://import?file=%5C%5Cserver%5Cshare%5CMira.png",
            "inglenook://import?file=/etc/passwd",
            "inglenook://import?file=/models/big.gguf",
            "inglenook://import?file=/a%0Ab.png",
            "inglenook://import?file=/a.png&file=/b.png",
            "inglenook://import?folder=/cards",
            "inglenook://import?file=https://example.org/Mira.png",
            "inglenook://restore?file=/a.json",
            "inglenook://import/more?file=/a.json",
            "inglenook://sam@import?file=/a.json",
            "inglenook://import:80?file=/a.json",
            "inglenook:import?file=/a.json",
            "inglenook://--data-dir=/elsewhere",
            "inglenook://",
        ] {
            assert_eq!(file(hostile), None, "{hostile}");
        }
    }

    #[test]
    fn paths_are_relative_to_their_start() {
        let names = vec![
            "Mira.png".into(),
            "/cards/Tom.json".into(),
            "inglenook://nothing".into(),
        ];
        let files = requested(names, Path::new("/elsewhere"));
        assert_eq!(
            files,
            [
                PathBuf::from("/elsewhere/Mira.png"),
                "/cards/Tom.json".into()
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn desktop_passes_files_as_addresses() {
        let names = ["file:///cards/Mira%20Quay.png", "file://server/Tom.json"];
        let files = requested(names.map(PathBuf::from).into(), Path::new("/"));
        assert_eq!(files, [PathBuf::from("/cards/Mira Quay.png")]);
    }

    #[test]
    fn answer_applies_to_the_files_shown() {
        let openings = Openings::default();
        openings.add(vec!["/a.png".into()]);
        let shown = openings.shown().len();
        openings.add(vec!["/late.png".into()]);
        assert_eq!(openings.take(shown), [PathBuf::from("/a.png")]);
        assert_eq!(openings.shown(), ["/late.png"]);
        let _ = openings.take(1);
        openings.add(vec!["/home/u/\u{202e}gnp.exe.json".into()]);
        assert_eq!(
            openings.shown(),
            ["/home/u/gnp.exe.json"],
            "no letter turns the name around"
        );
        assert_eq!(
            openings.take(1),
            [PathBuf::from("/home/u/\u{202e}gnp.exe.json")]
        );
        openings.add(
            (0..200)
                .map(|number| format!("/{number}.png").into())
                .collect(),
        );
        assert_eq!(openings.shown().len(), MAX_WAITING);
    }
}
