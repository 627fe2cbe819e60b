//! Tags that SillyTavern shows as folders. A closed one hides its characters from the list, so it
//! becomes a folder. An open one leaves them there, so it becomes a smart folder that shows the
//! tag. Such a tag has `folder_type` `CLOSED` or `OPEN`; all others have `NONE` or nothing.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use domain::CharacterId;
use serde_json::Value;

use crate::api::{
    Folder, FolderColor, FolderDraft, FolderKind, ImportReport, Imported, Refused, Skipped,
};
use crate::base::error::ApiResult;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{SETTINGS, stem};

/// A tag with a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TagFolder {
    name: String,
    smart: bool,
    color: Option<FolderColor>,
    /// Names of the files of its characters, without ending.
    files: Vec<String>,
}

impl FolderImports {
    /// Creates the folders that do not exist yet, and puts characters in them. A character with
    /// several folders goes into the first. One that is in a folder already stays there, and so
    /// does one that was imported earlier, unless the folder is new: the user may have moved it.
    pub(crate) async fn import_tag_folders(
        &self,
        settings: &Value,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let wanted = tag_folders(settings);
        if wanted.is_empty() || cast.is_empty() {
            return Ok(());
        }
        let known = self.library().folders.list_folders().await?;
        let new: HashSet<String> = report
            .imported
            .iter()
            .filter(|one| one.kind == "character")
            .map(|one| one.id.clone())
            .collect();
        for tag in wanted {
            let same = |folder: &&Folder| {
                folder.kind == FolderKind::Character
                    && folder.tag.is_some() == tag.smart
                    && folder.name.to_lowercase() == tag.name.to_lowercase()
            };
            let existing = known.iter().find(same);
            let members = tag.files.iter().filter_map(|file| cast.get(file).copied());
            let members: Vec<_> = members
                .filter(|id| existing.is_none() || new.contains(&id.to_string()))
                .collect();
            let folder = match existing {
                Some(folder) => {
                    let reason = format!("the folder {} exists already", folder.name);
                    report.skipped.push(Skipped {
                        id: folder.id.to_string(),
                        file: SETTINGS.to_owned(),
                        reason,
                    });
                    folder.clone()
                }
                None => match self.add_folder(&tag, report).await? {
                    Some(folder) => folder,
                    None => continue,
                },
            };
            if !tag.smart {
                let homeless = self.without_folder(members).await?;
                self.library()
                    .folders
                    .move_to_folder(FolderKind::Character, homeless, Some(folder.id))
                    .await?;
            }
        }
        Ok(())
    }

    /// `None` if the library has no room for the folder. The report says so.
    async fn add_folder(
        &self,
        tag: &TagFolder,
        report: &mut ImportReport,
    ) -> ApiResult<Option<Folder>> {
        let wanted = FolderDraft {
            id: None,
            kind: FolderKind::Character,
            parent: None,
            name: tag.name.clone(),
            color: tag.color,
            // SillyTavern shows the content of a folder only after a click.
            collapsed: true,
            tag: tag.smart.then(|| tag.name.clone()),
        };
        let kind = "folder".to_owned();
        let file = SETTINGS.to_owned();
        Ok(match self.library().folders.save_folder(wanted).await {
            Ok(folder) => {
                let id = folder.id;
                let name = folder.name.clone();
                report.imported.push(Imported {
                    kind,
                    id: id.to_string(),
                    name,
                    file,
                    warnings: Vec::new(),
                });
                Some(folder)
            }
            Err(error) => {
                let reason = format!("the folder {} could not be created: {error}", tag.name);
                report.refused.push(Refused { file, kind, reason });
                None
            }
        })
    }

    /// The ids of the characters that are in no folder.
    async fn without_folder(&self, characters: Vec<CharacterId>) -> ApiResult<Vec<String>> {
        let homeless = self.base().store().read(move |store| {
            let mut homeless = Vec::new();
            for id in characters {
                let place = store.folders().place(store::FolderKind::Character, id.0)?;
                if place.folder.is_none() && store.characters().get(id)?.is_some() {
                    homeless.push(id.to_string());
                }
            }
            Ok(homeless)
        });
        Ok(homeless.await?)
    }
}

/// Reads the tags with folders (`tags`) and their characters (`tag_map`), in SillyTavern's order.
fn tag_folders(settings: &Value) -> Vec<TagFolder> {
    let mut files: HashMap<&str, Vec<String>> = HashMap::new();
    for (file, ids) in settings
        .get("tag_map")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        for id in ids
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            files.entry(id).or_default().push(stem(Path::new(file)));
        }
    }
    let mut tags: Vec<&Value> = settings
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    tags.sort_by_key(|tag| {
        tag.get("sort_order")
            .and_then(Value::as_i64)
            .unwrap_or(i64::MAX)
    });
    let read = |tag: &Value| {
        let text = |key: &str| {
            tag.get(key)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let smart = match text("folder_type")? {
            "CLOSED" => false,
            "OPEN" => true,
            _ => return None,
        };
        let color = text("color").and_then(color_of);
        let files = files.get(text("id")?).cloned().unwrap_or_default();
        Some(TagFolder {
            name: text("name")?.to_owned(),
            smart,
            color,
            files,
        })
    };
    tags.into_iter().filter_map(read).collect()
}

/// The colour of a folder that is next to a colour in CSS: `rgba(1, 2, 3, 1)` or `#010203`. Greys
/// have none.
fn color_of(css: &str) -> Option<FolderColor> {
    let [red, green, blue] = channels(css)?.map(f32::from);
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most - least < 24.0 {
        return None;
    }
    let span = most - least;
    let hue = if most == red {
        (green - blue) / span
    } else if most == green {
        2.0 + (blue - red) / span
    } else {
        4.0 + (red - green) / span
    };
    Some(match (hue * 60.0).rem_euclid(360.0) {
        hue if hue < 15.0 => FolderColor::Red,
        hue if hue < 45.0 => FolderColor::Orange,
        hue if hue < 70.0 => FolderColor::Yellow,
        hue if hue < 170.0 => FolderColor::Green,
        hue if hue < 255.0 => FolderColor::Blue,
        hue if hue < 330.0 => FolderColor::Purple,
        _ => FolderColor::Red,
    })
}

/// Red, green and blue of a colour; `None` if it is transparent or written in another way.
fn channels(css: &str) -> Option<[u8; 3]> {
    if let Some(hex) = css.strip_prefix('#') {
        let digits = hex.get(..6)?;
        let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        return Some([channel(0)?, channel(2)?, channel(4)?]);
    }
    let inner = css
        .strip_prefix("rgba(")
        .or_else(|| css.strip_prefix("rgb("))?
        .strip_suffix(')')?;
    let parts: Vec<f32> = inner
        .split(',')
        .map_while(|part| part.trim().parse().ok())
        .collect();
    let [red, green, blue, rest @ ..] = parts.as_slice() else {
        return None;
    };
    if rest.first().is_some_and(|alpha| *alpha <= 0.0) {
        return None;
    }
    Some([*red, *green, *blue].map(|channel| channel.clamp(0.0, 255.0) as u8))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn closed_and_open_tags_become_folders() {
        let settings = json!({
            "tags": [
                { "id": "2", "name": "Open", "folder_type": "OPEN", "sort_order": 2, "color": "#2040c0" },
                { "id": "1", "name": " Closed ", "folder_type": "CLOSED", "sort_order": 1, "color": "rgba(200,20,20,1)" },
                { "id": "3", "name": "Plain", "folder_type": "NONE" },
                { "id": "4", "name": "", "folder_type": "CLOSED" },
                { "name": "No id", "folder_type": "CLOSED" },
                { "id": "5", "name": "Odd", "folder_type": 7 },
                "text",
            ],
            "tag_map": { "Ada.png": ["1", "2", 4], "Bo.v2.png": ["1"], "Cy.png": "1" },
        });
        let folder = |name: &str, smart, color, files: &[&str]| TagFolder {
            name: name.to_owned(),
            smart,
            color: Some(color),
            files: files.iter().map(|&file| file.to_owned()).collect(),
        };
        let expected = [
            folder("Closed", false, FolderColor::Red, &["Ada", "Bo.v2"]),
            folder("Open", true, FolderColor::Blue, &["Ada"]),
        ];
        assert_eq!(tag_folders(&settings), expected);
        assert_eq!(tag_folders(&json!({ "tags": {}, "tag_map": [] })), []);
    }

    #[test]
    fn colour_in_css_becomes_the_nearest() {
        let colors = [
            "rgb(230, 120, 20)",
            "#e6d21e",
            "#20a040",
            "rgba(140, 40, 200, 0.5)",
            "#f01050",
        ]
        .map(color_of);
        let expected = [
            FolderColor::Orange,
            FolderColor::Yellow,
            FolderColor::Green,
            FolderColor::Purple,
            FolderColor::Red,
        ];
        assert_eq!(colors, expected.map(Some));
        for none in [
            "",
            "#888888",
            "rgba(200, 0, 0, 0)",
            "#12",
            "#ää0000",
            "red",
            "rgba(1,2)",
        ] {
            assert_eq!(color_of(none), None, "{none}");
        }
    }
}
