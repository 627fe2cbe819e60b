//! Lists and edits a card's assets: their kinds, names and locations. Edits preserve all other
//! fields of an asset.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::assets::{AssetLocation, MAX_PICTURE};
use super::{CardError, charx, png};
use crate::card::data::Card;

/// Maximum number of pictures that are offered to a model.
const MAX_PICTURE_NAMES: usize = 60;
/// Extensions of pictures. An asset without a stated extension may be a picture.
const PICTURE_EXTENSIONS: [&str; 8] = ["", "unknown", "png", "jpg", "jpeg", "webp", "gif", "avif"];
/// Maximum length of a name in `${image.NAME}`, in characters. The UI has the same limit.
const MAX_TOKEN_NAME: usize = 120;

/// One asset, as the card lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardAsset<'a> {
    /// `icon`, `background`, `user_icon`, `emotion`, or a custom kind.
    pub kind: &'a str,
    pub name: &'a str,
    /// File extension without a dot. Empty or `unknown` if the card does not state one.
    pub ext: &'a str,
    pub uri: &'a str,
    pub place: AssetPlace<'a>,
}

/// Location of an asset, from its URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetPlace<'a> {
    /// In the same file as the card, under this path.
    Embedded(&'a str),
    /// Inline, as a `data:` URI.
    Inline,
    /// The picture that contains the card (`ccdefault:`).
    OwnPicture,
    /// At a remote or unknown address. It is never fetched.
    External,
}

impl Card {
    /// Lists the card's assets. An entry that is not an object has no name and an unknown location.
    pub fn asset_list(&self) -> Vec<CardAsset<'_>> {
        self.assets().iter().map(CardAsset::of).collect()
    }

    /// The names of pictures that a reply may show with `${image.NAME}`: stored with the card,
    /// neither an icon nor an emotion, and usable inside the braces. Without repetitions (ignoring
    /// case), at most 60.
    pub fn picture_names(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        let pictures = self
            .assets()
            .iter()
            .map(CardAsset::of)
            .filter(|asset| asset.is_shown_on_request());
        let names = pictures
            .map(|asset| asset.name.trim())
            .filter(|name| known.insert(name.to_lowercase()));
        names.take(MAX_PICTURE_NAMES).collect()
    }

    /// Returns the bytes of the asset at `index`, from its `data:` URI or from `file`, the file the
    /// card came from. Returns `None` if neither contains them.
    ///
    /// # Errors
    /// [`CardError`] if the file is damaged or the asset is too large.
    pub fn asset_bytes(
        &self,
        index: usize,
        file: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CardError> {
        let uri = self
            .assets()
            .get(index)
            .and_then(|asset| asset.get("uri")?.as_str())
            .unwrap_or_default();
        match (AssetLocation::of(uri), file) {
            (AssetLocation::Data(base64), _)
                if base64::decoded_len_estimate(base64.len()) as u64 <= MAX_PICTURE =>
            {
                Ok(png::decoded(base64.as_bytes()))
            }
            (AssetLocation::Inside(path), Some(file)) if png::is_png(file) => {
                Ok(png::assets(file)?
                    .into_iter()
                    .find(|(name, _)| name == path)
                    .map(|(_, bytes)| bytes))
            }
            (AssetLocation::Inside(path), Some(file)) if charx::may_be(file) => {
                charx::member(file, path)
            }
            _ => Ok(None),
        }
    }

    /// Returns the asset paths in a card file.
    ///
    /// # Errors
    /// [`CardError`] if the file is damaged.
    pub fn files_in(file: &[u8]) -> Result<HashSet<String>, CardError> {
        if png::is_png(file) {
            return png::asset_paths(file);
        }
        if charx::may_be(file) {
            charx::members(file)
        } else {
            Ok(HashSet::new())
        }
    }

    /// Sets the kind and name of the asset at `index`. Returns `false` if there is none.
    pub fn set_asset(&mut self, index: usize, kind: &str, name: &str) -> bool {
        self.change_assets(|assets| {
            let Some(Value::Object(asset)) = assets.get_mut(index) else {
                return false;
            };
            for (field, text) in [("type", kind), ("name", name)] {
                if asset.get(field).and_then(Value::as_str) != Some(text) {
                    asset.insert(field.to_owned(), text.into());
                }
            }
            true
        })
    }

    /// Removes an asset and returns it. [`Card::put_asset`] restores it.
    pub fn remove_asset(&mut self, index: usize) -> Option<Value> {
        self.change_assets(|assets| (index < assets.len()).then(|| assets.remove(index)))
    }

    /// Inserts an asset at `index`, or at the end.
    pub fn put_asset(&mut self, index: usize, asset: Value) {
        self.change_assets(|assets| assets.insert(index.min(assets.len()), asset));
    }

    /// Appends an asset stored under `path` in the card's file. A card without an asset list uses
    /// its own picture as the icon, so this also lists that picture when needed. The first added
    /// icon therefore does not replace it.
    pub fn add_asset(&mut self, kind: &str, name: &str, ext: &str, path: &str) {
        let is_first = self.assets().is_empty() || (kind == "icon" && self.main_icon().is_none());
        self.change_assets(|assets| {
            if is_first {
                assets.push(asset("icon", "main", "png", "ccdefault:"));
            }
            assets.push(asset(kind, name, ext, &format!("embeded://{path}")));
        });
    }

    /// Returns a copy of the card with embedded files as `data:` URIs, for formats that cannot
    /// contain other files. `files` holds path, MIME type and base64 data.
    #[must_use]
    pub fn with_inline_assets(&self, files: &[(String, String, String)]) -> Self {
        let mut card = self.clone();
        card.change_assets(|assets| {
            for asset in assets {
                let Some(AssetLocation::Inside(path)) = asset
                    .get("uri")
                    .and_then(Value::as_str)
                    .map(AssetLocation::of)
                else {
                    continue;
                };
                if let Some((_, mime, base64)) = files.iter().find(|(known, ..)| known == path) {
                    asset["uri"] = format!("data:{mime};base64,{base64}").into();
                }
            }
        });
        card
    }

    /// Changes the asset list. Creates the list only if the change adds an asset.
    fn change_assets<T>(&mut self, change: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        let listed = self.fields.get("assets").is_some_and(Value::is_array);
        let mut assets = match self
            .fields
            .get_mut("assets")
            .filter(|assets| assets.is_array())
            .map(Value::take)
        {
            Some(Value::Array(assets)) => assets,
            _ => Vec::new(),
        };
        let done = change(&mut assets);
        if listed || !assets.is_empty() {
            self.fields
                .insert("assets".to_owned(), Value::Array(assets));
        }
        done
    }
}

impl<'a> CardAsset<'a> {
    fn of(asset: &'a Value) -> Self {
        let text = |field: &str| asset.get(field).and_then(Value::as_str).unwrap_or_default();
        let uri = text("uri");
        let place = match AssetLocation::of(uri) {
            AssetLocation::Inside(path) => AssetPlace::Embedded(path),
            AssetLocation::Data(_) => AssetPlace::Inline,
            AssetLocation::Elsewhere if uri.starts_with("ccdefault:") => AssetPlace::OwnPicture,
            AssetLocation::Elsewhere => AssetPlace::External,
        };
        Self {
            kind: text("type"),
            name: text("name"),
            ext: text("ext"),
            uri,
            place,
        }
    }

    fn is_shown_on_request(&self) -> bool {
        let name = self.name.trim();
        let usable = !name.is_empty()
            && name.chars().count() <= MAX_TOKEN_NAME
            && !name.contains(['{', '}', '\n', '\r']);
        let stored = matches!(self.place, AssetPlace::Embedded(_) | AssetPlace::Inline);
        let picture = PICTURE_EXTENSIONS
            .iter()
            .any(|known| self.ext.eq_ignore_ascii_case(known));
        usable && stored && picture && !matches!(self.kind, "icon" | "user_icon" | "emotion")
    }
}

fn asset(kind: &str, name: &str, ext: &str, uri: &str) -> Value {
    let fields = [("type", kind), ("uri", uri), ("name", name), ("ext", ext)];
    Value::Object(Map::from_iter(
        fields.map(|(field, text)| (field.to_owned(), text.into())),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(assets: Value) -> Card {
        let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Mira", "assets": assets } });
        Card::from_json(card.to_string().as_bytes()).unwrap().0
    }

    fn list(card: &Card) -> Value {
        card.to_value()["data"]["assets"].take()
    }

    #[test]
    fn names_pictures_that_a_reply_may_show() {
        let of = |kind: &str, name: &str, ext: &str, uri: &str| json!({ "type": kind, "name": name, "ext": ext, "uri": uri });
        let inside = "embeded://a/b.png";
        let card = card(json!([
            of("icon", "main", "png", "ccdefault:"),
            of("emotion", "joy", "png", inside),
            of("background", " harbour ", "PNG", inside),
            of("other", "Harbour", "png", inside),
            of(
                "x_map",
                "map of the coast",
                "",
                "data:image/png;base64,AAAA"
            ),
            of("other", "bell", "mp3", inside),
            of("other", "far", "png", "https://example.org/far.png"),
            of("other", "a}b", "png", inside),
            of("other", "", "png", inside),
            7
        ]));
        assert_eq!(card.picture_names(), ["harbour", "map of the coast"]);
        assert_eq!(Card::new("Mira").unwrap().picture_names(), [""; 0]);
    }

    #[test]
    fn lists_every_asset_location() {
        let uri = |uri: &str| json!({ "type": "emotion", "name": "joy", "ext": "png", "uri": uri });
        let card = card(json!([
            uri("embeded://a/joy.png"),
            uri("data:image/png;base64,AAAA"),
            uri("ccdefault:"),
            uri("https://example.org/joy.png"),
            7
        ]));
        let places: Vec<_> = card
            .asset_list()
            .into_iter()
            .map(|asset| asset.place)
            .collect();
        let expected = [
            AssetPlace::Embedded("a/joy.png"),
            AssetPlace::Inline,
            AssetPlace::OwnPicture,
            AssetPlace::External,
        ];
        assert_eq!(places, [&expected[..], &[AssetPlace::External]].concat());
        assert_eq!(card.asset_bytes(1, None).unwrap(), Some(vec![0, 0, 0]));
        assert_eq!(
            (
                card.asset_bytes(3, None).unwrap(),
                card.asset_bytes(9, None).unwrap()
            ),
            (None, None)
        );
    }

    #[test]
    fn edits_keep_unknown_fields_and_can_be_undone() {
        let odd = json!([{ "type": "emotion", "name": "joy", "uri": "embeded://j", "mine": [1] }, { "x": null }]);
        let mut card = card(odd.clone());
        assert!(card.set_asset(0, "x_pose", "glad") && !card.set_asset(5, "a", "b"));
        assert_eq!(
            list(&card)[0].to_string(),
            r#"{"type":"x_pose","name":"glad","uri":"embeded://j","mine":[1]}"#
        );
        card.set_asset(0, "emotion", "joy");
        let taken = card.remove_asset(0).unwrap();
        assert_eq!(
            (list(&card), card.remove_asset(4)),
            (json!([{ "x": null }]), None)
        );
        card.put_asset(0, taken);
        assert_eq!(list(&card), odd);
    }

    /// A card without an asset list uses its own picture as the icon. Adding the first asset must
    /// keep that.
    #[test]
    fn the_first_added_asset_keeps_the_default_icon() {
        let mut card = Card::new("Mira").unwrap();
        card.add_asset("emotion", "joy", "png", "assets/emotion/images/joy.png");
        let listed: Vec<_> = card
            .asset_list()
            .iter()
            .map(|one| (one.kind, one.name, one.place))
            .collect();
        let joy = AssetPlace::Embedded("assets/emotion/images/joy.png");
        assert_eq!(
            listed,
            [
                ("icon", "main", AssetPlace::OwnPicture),
                ("emotion", "joy", joy)
            ]
        );
        let files = [(
            "assets/emotion/images/joy.png".to_owned(),
            "image/png".to_owned(),
            "AAAA".to_owned(),
        )];
        assert_eq!(
            card.with_inline_assets(&files)
                .asset_bytes(1, None)
                .unwrap(),
            Some(vec![0, 0, 0])
        );
    }
}
