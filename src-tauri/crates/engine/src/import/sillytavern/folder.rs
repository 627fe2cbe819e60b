//! Finds the files in a SillyTavern folder. Only names are read here. Links that lead outside the
//! folder are not followed, because they could import unrelated files of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

use crate::api::Skipped;
use crate::base::error::{ApiResult, bad_input};

/// Possible places of the user's own folder, relative to the chosen one.
const USERS: [&str; 4] = ["", "data/default-user", "default-user", "public"];
/// Maximum number of files of one kind.
const MAX_FILES: usize = 50_000;
/// Extensions of files that may be cards.
const CARDS: [&str; 7] = ["png", "apng", "json", "charx", "byaf", "yaml", "yml"];

/// Extensions of files that may be pictures.
const PICTURES: [&str; 6] = ["png", "apng", "jpg", "jpeg", "webp", "gif"];

/// Folders that are not imported, with the reasons.
const LEFT: [(&str, &str); 9] = [
    ("themes", "themes of SillyTavern are not supported"),
    ("movingUI", "themes of SillyTavern are not supported"),
    (
        "assets",
        "sounds and pictures of extensions are not supported",
    ),
    ("extensions", "extensions of SillyTavern cannot run here"),
    ("workflows", "generating pictures is not supported"),
    ("user/images", "pictures of old messages are not imported"),
    (
        "user/files",
        "files attached to old messages are not imported",
    ),
    (
        "reasoning",
        "thoughts in replies are detected automatically",
    ),
    ("vectors", "data computed from chats is computed again here"),
];

/// The files of a SillyTavern folder, by kind.
#[derive(Debug, Default)]
pub(crate) struct SillyTavernFolder {
    /// The folder's path without links.
    pub(crate) root: PathBuf,
    pub(crate) cards: Vec<PathBuf>,
    /// In folders with the names of the characters' files.
    pub(crate) chats: Vec<PathBuf>,
    pub(crate) groups: Vec<PathBuf>,
    pub(crate) group_chats: Vec<PathBuf>,
    pub(crate) worlds: Vec<PathBuf>,
    pub(crate) quick_replies: Vec<PathBuf>,
    /// Pictures of personas.
    pub(crate) avatars: Vec<PathBuf>,
    /// Expression pictures, by the folder that has the name of the character's file.
    pub(crate) faces: Vec<(String, Vec<PathBuf>)>,
    pub(crate) backgrounds: Vec<PathBuf>,
    /// Files that are not imported.
    pub(crate) left: Vec<Skipped>,
}

struct FolderEntry {
    path: PathBuf,
    folder: bool,
}

impl SillyTavernFolder {
    /// Whether `folder` has SillyTavern's characters and settings, so that a person who imports it
    /// means all of it.
    pub(crate) fn is_whole(folder: &Path) -> bool {
        let mut roots = USERS.iter().map(|user| folder.join(user));
        roots.any(|root| root.join("characters").is_dir() && root.join(SETTINGS).is_file())
    }

    /// Searches `folder`, or the user's own folder in it. Blocks.
    ///
    /// # Errors
    /// `BadInput` if the folder contains no characters.
    pub(crate) fn look(folder: &Path) -> ApiResult<Self> {
        let root = USERS
            .iter()
            .map(|user| folder.join(user))
            .find(|root| root.join("characters").is_dir());
        let root = root
            .and_then(|root| root.canonicalize().ok())
            .ok_or_else(|| {
                let message = format!(
                    "{} is not a SillyTavern folder: it has no characters.",
                    folder.display()
                );
                bad_input(
                    message,
                    "Choose the folder of SillyTavern, or its data/default-user.",
                )
            })?;
        let mut tavern = Self {
            root,
            ..Self::default()
        };
        tavern.cards = tavern.cards();
        tavern.chats = tavern.chats();
        tavern.groups = tavern.files("groups", &["json"]);
        tavern.group_chats = tavern.files("group chats", &["jsonl"]);
        tavern.worlds = tavern.files("worlds", &["json"]);
        tavern.quick_replies = tavern.files("QuickReplies", &["json"]);
        tavern.avatars = tavern.files("User Avatars", &PICTURES);
        tavern.backgrounds = tavern.files("backgrounds", &PICTURES);
        for (name, why) in LEFT {
            let count = tavern.entries(name).len();
            if count > 0 {
                tavern.leave(name.to_owned(), format!("{}: {why}", files_skipped(count)));
            }
        }
        Ok(tavern)
    }

    /// The presets in one of its folders.
    pub(crate) fn presets(&mut self, folder: &str) -> Vec<PathBuf> {
        self.files(folder, &["json"])
    }

    /// Path of SillyTavern's settings file.
    pub(crate) fn settings(&self) -> PathBuf {
        self.root.join(SETTINGS)
    }

    /// Reports a file that is not imported.
    pub(crate) fn leave(&mut self, file: String, reason: impl Into<String>) {
        self.left.push(Skipped {
            id: String::new(),
            file,
            reason: reason.into(),
        });
    }

    fn cards(&mut self) -> Vec<PathBuf> {
        let (folders, files): (Vec<_>, Vec<_>) = self
            .entries("characters")
            .into_iter()
            .partition(|one| one.folder);
        for folder in folders {
            // A folder with a character's name contains its expressions. SillyTavern shows one with
            // each reply.
            let name = file_name(&folder.path);
            let faces = self.files(&format!("characters/{name}"), &PICTURES);
            if !faces.is_empty() {
                self.faces.push((name, faces));
            }
        }
        let (cards, others): (Vec<_>, Vec<_>) = files
            .into_iter()
            .map(|one| one.path)
            .partition(|path| is_card(path));
        for other in others {
            self.leave(file_name(&other), "its extension is not that of a card");
        }
        self.capped(cards, "characters")
    }

    fn chats(&mut self) -> Vec<PathBuf> {
        let mut chats = Vec::new();
        for entry in self.entries("chats") {
            let name = format!("chats/{}", file_name(&entry.path));
            if entry.folder {
                chats.extend(self.files(&name, &["jsonl"]));
            } else {
                self.leave(name, "it is not in the folder of a character");
            }
        }
        self.capped(chats, "chats")
    }

    /// Files with one of these extensions. Others are reported.
    fn files(&mut self, folder: &str, endings: &[&str]) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for FolderEntry {
            path,
            folder: is_folder,
        } in self.entries(folder)
        {
            let fits = |ending: &&str| {
                path.extension()
                    .is_some_and(|found| found.eq_ignore_ascii_case(ending))
            };
            if !is_folder && endings.iter().any(fits) {
                files.push(path);
            } else {
                self.leave(
                    format!("{folder}/{}", file_name(&path)),
                    "this type of file does not belong in the folder",
                );
            }
        }
        self.capped(files, folder)
    }

    fn capped(&mut self, mut files: Vec<PathBuf>, what: &str) -> Vec<PathBuf> {
        if files.len() > MAX_FILES {
            let reason = format!(
                "{} files are more than the maximum",
                files.len() - MAX_FILES
            );
            self.leave(what.to_owned(), reason);
            files.truncate(MAX_FILES);
        }
        files
    }

    /// Direct entries of one of its folders, by name. Empty if the folder is unreadable. Skips
    /// leftovers of the OS.
    fn entries(&mut self, folder: &str) -> Vec<FolderEntry> {
        let place = self.root.join(folder);
        if !self.holds(&place) {
            if place.symlink_metadata().is_ok() {
                self.leave(folder.to_owned(), OUTSIDE);
            }
            return Vec::new();
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let path = entry.path();
            if is_leftover(&entry.file_name().to_string_lossy()) {
                continue;
            }
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if link && !self.holds(&path) {
                self.leave(format!("{folder}/{}", file_name(&path)), OUTSIDE);
                continue;
            }
            let folder = path.is_dir();
            entries.push(FolderEntry { path, folder });
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        entries
    }

    /// Whether `path` exists and is inside the folder after links are followed.
    fn holds(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|real| real.starts_with(&self.root))
    }

    /// Whether its settings may be read.
    pub(crate) fn holds_settings(&self) -> bool {
        self.holds(&self.settings())
    }
}

/// SillyTavern's settings, which also contain personas, tags and bindings.
pub(crate) const SETTINGS: &str = "settings.json";
const OUTSIDE: &str = "it is a link that leads outside the folder, or nowhere";

/// The beginning of a line of the report.
pub(crate) fn files_skipped(count: usize) -> String {
    match count {
        1 => "1 file skipped".to_owned(),
        count => format!("{count} files skipped"),
    }
}

/// Whether the OS created the file.
fn is_leftover(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with('.')
        || [
            "thumbs.db",
            "ehthumbs.db",
            "desktop.ini",
            "__macosx",
            "icon\r",
        ]
        .contains(&lower.as_str())
}

fn is_card(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    CARDS.iter().any(|known| ending == *known)
}

pub(crate) fn file_name(path: &Path) -> String {
    composed(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// The file name without its extension, which SillyTavern uses as an id.
pub(crate) fn stem(path: &Path) -> String {
    composed(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// Normalizes a name to composed characters (NFC), because file systems and programs encode "é" in
/// two ways.
pub(crate) fn composed(name: &str) -> String {
    name.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_composed_accents() {
        let apart = Path::new("chats/Zoe\u{301}.png");
        assert_eq!(
            (file_name(apart), stem(apart)),
            ("Zo\u{e9}.png".to_owned(), "Zo\u{e9}".to_owned())
        );
    }

    fn write(folder: &Path, name: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn names(files: &[PathBuf]) -> Vec<String> {
        files.iter().map(|file| file_name(file)).collect()
    }

    #[test]
    fn every_file_is_imported_or_reported() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("data/default-user");
        for name in [
            "characters/Bo.png",
            "characters/Ada.PNG",
            "characters/.hidden.png",
            "characters/old.webp",
            "characters/Ada/joy.png",
            "chats/Ada/night.jsonl",
            "chats/loose.jsonl",
            "groups/1.json",
            "group chats/2.jsonl",
            "worlds/Sea.json",
            "worlds/notes.txt",
            "characters/Ada/costume/joy.png",
            "User Avatars/me.png",
            "backgrounds/sea.jpg",
            "backgrounds/sky.mp4",
            "themes/dark.json",
            "themes/light.json",
        ] {
            write(&user, name);
        }
        let tavern = SillyTavernFolder::look(folder.path()).unwrap();
        assert_eq!(names(&tavern.cards), ["Ada.PNG", "Bo.png"]);
        assert_eq!(names(&tavern.chats), ["night.jsonl"]);
        let others = [&tavern.groups, &tavern.group_chats, &tavern.worlds]
            .map(|files| names(files).join(" "));
        assert_eq!(others, ["1.json", "2.jsonl", "Sea.json"]);
        let left: Vec<_> = tavern.left.iter().map(|one| one.file.as_str()).collect();
        let expected = [
            "characters/Ada/costume",
            "old.webp",
            "chats/loose.jsonl",
            "worlds/notes.txt",
            "backgrounds/sky.mp4",
            "themes",
        ];
        assert_eq!(left, expected);
        assert!(
            tavern.left[5].reason.starts_with("2 files skipped"),
            "{:?}",
            tavern.left[5]
        );
        assert_eq!(
            (names(&tavern.avatars), names(&tavern.backgrounds)),
            (vec!["me.png".into()], vec!["sea.jpg".into()])
        );
        assert_eq!(
            (tavern.faces[0].0.as_str(), names(&tavern.faces[0].1)),
            ("Ada", vec!["joy.png".into()])
        );

        let other = SillyTavernFolder::look(&folder.path().join("data/default-user/worlds"));
        assert!(other.is_err_and(|error| error.to_string().contains("it has no characters")));
    }

    #[cfg(unix)]
    #[test]
    fn links_outside_the_folder_are_not_followed() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let secret = tempfile::tempdir().unwrap();
        write(secret.path(), "card.png");
        write(folder.path(), "characters/Ada.png");
        symlink(
            secret.path().join("card.png"),
            folder.path().join("characters/Eve.png"),
        )
        .unwrap();
        symlink("Ada.png", folder.path().join("characters/Inside.png")).unwrap();
        symlink("gone.png", folder.path().join("characters/Nowhere.png")).unwrap();
        symlink(secret.path(), folder.path().join("chats")).unwrap();
        symlink(secret.path().join("card.png"), folder.path().join(SETTINGS)).unwrap();
        let tavern = SillyTavernFolder::look(folder.path()).unwrap();
        assert_eq!(names(&tavern.cards), ["Ada.png", "Inside.png"]);
        let left: Vec<_> = tavern.left.iter().map(|one| one.file.as_str()).collect();
        assert_eq!(
            left,
            ["characters/Eve.png", "characters/Nowhere.png", "chats"]
        );
        assert!(!tavern.holds_settings());
    }
}
