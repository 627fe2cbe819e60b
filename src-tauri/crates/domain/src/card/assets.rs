//! Locates the files that belong to a card, and its main picture.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{CardError, charx, exif, png};
use crate::card::data::Card;

/// Maximum size of a picture taken from a card's file, in bytes.
pub(super) const MAX_PICTURE: u64 = 32 << 20;

/// Returns the picture of a card file. A PNG, JPEG or WebP file is the picture itself. An archive
/// has a main icon or follows a picture. A JSON file may contain a `data:` URI. Remote pictures are
/// never fetched. A borrowed result is the file itself.
///
/// # Errors
/// [`CardError`] if the card names a picture that is damaged or too large.
pub fn picture<'a>(file: &'a [u8], card: &Card) -> Result<Option<Cow<'a, [u8]>>, CardError> {
    if png::is_png(file) {
        return Ok(Some(file.into()));
    }
    let icon = card
        .main_icon()
        .and_then(|icon| Some(AssetLocation::of(icon.get("uri")?.as_str()?)));
    if let Some(AssetLocation::Data(base64)) = icon {
        return Ok(STANDARD.decode(base64.trim()).ok().map(Cow::Owned));
    }
    if !charx::may_be(file) {
        let is_picture = file.starts_with(charx::JPEG) || exif::is_webp(file);
        return Ok(is_picture.then_some(Cow::Borrowed(file)));
    }
    let path = if let Some(AssetLocation::Inside(path)) = icon {
        Some(path)
    } else {
        None
    };
    charx::picture(file, path)
}

/// Location of an asset's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AssetLocation<'a> {
    /// In the card's own file, under this path.
    Inside(&'a str),
    /// In the card's JSON, as base64.
    Data(&'a str),
    /// At a remote or unknown address, or the picture that contains the card.
    Elsewhere,
}

impl<'a> AssetLocation<'a> {
    /// Accepts the specified `embeded://`, the spelling `embedded://`, and `__asset:` from PNG
    /// cards.
    pub(super) fn of(uri: &'a str) -> Self {
        let inside = ["embeded://", "embedded://", "__asset:"]
            .iter()
            .find_map(|scheme| uri.strip_prefix(scheme));
        let data = || uri.strip_prefix("data:")?.split_once(";base64,");
        match (inside, data()) {
            (Some(path), _) => Self::Inside(path),
            (_, Some((_, base64))) => Self::Data(base64),
            _ => Self::Elsewhere,
        }
    }
}

impl Card {
    /// Number of assets that are separate files in the card's own file. Formats without room for
    /// files lose them.
    pub fn embedded_file_count(&self) -> usize {
        self.embedded_paths().len()
    }

    pub(super) fn embedded_paths(&self) -> HashSet<&str> {
        let uris = self
            .assets()
            .iter()
            .filter_map(|asset| asset.get("uri")?.as_str());
        uris.filter_map(|uri| {
            if let AssetLocation::Inside(path) = AssetLocation::of(uri) {
                Some(path)
            } else {
                None
            }
        })
        .collect()
    }

    /// Whether the main icon is a separate file in the card's own file.
    pub fn icon_is_embedded(&self) -> bool {
        let uri = self.main_icon().and_then(|icon| icon.get("uri")?.as_str());
        uri.is_some_and(|uri| matches!(AssetLocation::of(uri), AssetLocation::Inside(_)))
    }

    /// Name of the card's picture for a user with this name.
    pub fn user_icon(&self, user: &str) -> Option<&str> {
        let icons = self
            .assets()
            .iter()
            .filter(|asset| asset.get("type").and_then(Value::as_str) == Some("user_icon"));
        let mut names = icons.filter_map(|icon| icon.get("name")?.as_str().map(str::trim));
        names.find(|name| *name == user.trim())
    }

    /// Returns the icon named `main`, or else the first icon.
    pub(super) fn main_icon(&self) -> Option<&Value> {
        self.main_icon_index().map(|at| &self.assets()[at])
    }

    /// Updates the paths of embedded assets. Assets without an entry in `new_paths` stay unchanged.
    pub(super) fn move_assets(&mut self, new_paths: &HashMap<String, String>) {
        let Some(assets) = self.fields.get_mut("assets").and_then(Value::as_array_mut) else {
            return;
        };
        for asset in assets {
            let Some(uri) = asset.get("uri").and_then(Value::as_str) else {
                continue;
            };
            if let AssetLocation::Inside(path) = AssetLocation::of(uri)
                && let Some(path) = new_paths.get(path)
            {
                asset["uri"] = format!("embeded://{path}").into();
            }
        }
    }

    /// Makes the PNG at `path` the main icon.
    pub(super) fn set_main_icon(&mut self, path: &str) {
        let at = self.main_icon_index();
        let assets = self.fields.entry("assets").or_insert(Value::Null);
        if !assets.is_array() {
            *assets = Value::Array(Vec::new());
        }
        let Value::Array(assets) = assets else { return };
        let at = at.unwrap_or_else(|| {
            let named = [("type", "icon"), ("name", "main")]
                .map(|(key, value)| (key.to_owned(), value.into()));
            assets.push(Value::Object(Map::from_iter(named)));
            assets.len() - 1
        });
        assets[at]["uri"] = format!("embeded://{path}").into();
        assets[at]["ext"] = "png".into();
    }

    fn main_icon_index(&self) -> Option<usize> {
        let is = |asset: &Value, key: &str, value: &str| {
            asset.get(key).and_then(Value::as_str) == Some(value)
        };
        let assets = self.assets();
        let main = assets
            .iter()
            .position(|asset| is(asset, "type", "icon") && is(asset, "name", "main"));
        main.or_else(|| assets.iter().position(|asset| is(asset, "type", "icon")))
    }
}

#[cfg(test)]
mod tests {
    use super::AssetLocation;

    #[test]
    fn recognizes_every_spelling_of_embedded_paths() {
        for uri in ["embeded://a/b.png", "embedded://a/b.png", "__asset:a/b.png"] {
            assert_eq!(AssetLocation::of(uri), AssetLocation::Inside("a/b.png"));
        }
        assert_eq!(
            AssetLocation::of("data:image/png;base64,AAAA"),
            AssetLocation::Data("AAAA")
        );
        for uri in [
            "ccdefault:",
            "https://example.org/a.png",
            "data:text/plain,hello",
            "",
        ] {
            assert_eq!(AssetLocation::of(uri), AssetLocation::Elsewhere);
        }
    }
}
