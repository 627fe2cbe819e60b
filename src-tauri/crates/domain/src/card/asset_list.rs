//! The list of a card's assets (V3-07 to V3-16), as people edit it: what each is, where it lies, and changes to the list that
//! leave everything else of an asset as it is.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::assets::{MAX_PICTURE, Place};
use super::{Card, CardError, charx, png};

/// One file of a card, as the card tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset<'a> {
    /// `icon`, `background`, `user_icon`, `emotion`, or somebody's own (V3-16).
    pub kind: &'a str,
    pub name: &'a str,
    /// The ending of its file, without a dot; empty or `unknown` where the card does not say.
    pub ext: &'a str,
    pub uri: &'a str,
    pub place: AssetPlace<'a>,
}

/// Where a file of a card lies (V3-09).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetPlace<'a> {
    /// Beside the card, under this path.
    Beside(&'a str),
    /// In the card's text.
    InText,
    /// It is the picture that the card stands in.
    Own,
    /// On a machine elsewhere, or nobody knows where. Never fetched.
    Elsewhere,
}

impl Card {
    /// The card's list, entry by entry; what is no asset at all is nameless and elsewhere.
    pub fn asset_list(&self) -> Vec<Asset<'_>> {
        self.assets().iter().map(Asset::of).collect()
    }

    /// The bytes of the asset at `index`, from the card or from the file that it came in; `None` if they are in neither.
    ///
    /// # Errors
    /// [`CardError`] if the file is damaged, or they are more than a picture may have.
    pub fn asset_bytes(&self, index: usize, file: Option<&[u8]>) -> Result<Option<Vec<u8>>, CardError> {
        let uri = self.assets().get(index).and_then(|asset| asset.get("uri")?.as_str()).unwrap_or_default();
        match (Place::of(uri), file) {
            (Place::Data(base64), _) if base64::decoded_len_estimate(base64.len()) as u64 <= MAX_PICTURE => {
                Ok(png::decoded(base64.as_bytes()))
            }
            (Place::Inside(path), Some(file)) if png::is_png(file) => {
                Ok(png::assets(file)?.into_iter().find(|(name, _)| name == path).map(|(_, bytes)| bytes))
            }
            (Place::Inside(path), Some(file)) if charx::may_be(file) => charx::member(file, path),
            _ => Ok(None),
        }
    }

    /// Where files lie in the file that a card came in.
    ///
    /// # Errors
    /// [`CardError`] if the file is damaged.
    pub fn files_in(file: &[u8]) -> Result<HashSet<String>, CardError> {
        if png::is_png(file) {
            return png::asset_paths(file);
        }
        if charx::may_be(file) { charx::members(file) } else { Ok(HashSet::new()) }
    }

    /// Changes what the asset at `index` is and is called. `false` if there is none.
    pub fn set_asset(&mut self, index: usize, kind: &str, name: &str) -> bool {
        self.change_assets(|assets| {
            let Some(Value::Object(asset)) = assets.get_mut(index) else { return false };
            for (field, text) in [("type", kind), ("name", name)] {
                if asset.get(field).and_then(Value::as_str) != Some(text) {
                    asset.insert(field.to_owned(), text.into());
                }
            }
            true
        })
    }

    /// Takes one out of the list, as [`Card::put_asset`] takes it back.
    pub fn remove_asset(&mut self, index: usize) -> Option<Value> {
        self.change_assets(|assets| (index < assets.len()).then(|| assets.remove(index)))
    }

    /// Puts one at `index` or at the end.
    pub fn put_asset(&mut self, index: usize, asset: Value) {
        self.change_assets(|assets| assets.insert(index.min(assets.len()), asset));
    }

    /// Adds a file at the end that lies under `path` beside the card. A card that lists none has its own picture as icon
    /// (V3-07), and has it still when there is a list; nor does the first icon that is added take its place.
    pub fn add_asset(&mut self, kind: &str, name: &str, ext: &str, path: &str) {
        let is_first = self.assets().is_empty() || (kind == "icon" && self.main_icon().is_none());
        self.change_assets(|assets| {
            if is_first {
                assets.push(asset("icon", "main", "png", "ccdefault:"));
            }
            assets.push(asset(kind, name, ext, &format!("embeded://{path}")));
        });
    }

    /// The same card with files in its text that lay beside it: for forms that have room for nothing else (V3-09). `files` are
    /// paths with their kind and base64.
    #[must_use]
    pub fn with_assets_in_text(&self, files: &[(String, String, String)]) -> Self {
        let mut card = self.clone();
        card.change_assets(|assets| {
            for asset in assets {
                let Some(Place::Inside(path)) = asset.get("uri").and_then(Value::as_str).map(Place::of) else {
                    continue;
                };
                if let Some((_, mime, base64)) = files.iter().find(|(known, ..)| known == path) {
                    asset["uri"] = format!("data:{mime};base64,{base64}").into();
                }
            }
        });
        card
    }

    /// Changes the list; a card without one gets one only if there is something to list.
    fn change_assets<T>(&mut self, change: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        let listed = self.fields.get("assets").is_some_and(Value::is_array);
        let mut assets = match self.fields.get_mut("assets").filter(|assets| assets.is_array()).map(Value::take) {
            Some(Value::Array(assets)) => assets,
            _ => Vec::new(),
        };
        let done = change(&mut assets);
        if listed || !assets.is_empty() {
            self.fields.insert("assets".to_owned(), Value::Array(assets));
        }
        done
    }
}

impl<'a> Asset<'a> {
    fn of(asset: &'a Value) -> Self {
        let text = |field: &str| asset.get(field).and_then(Value::as_str).unwrap_or_default();
        let uri = text("uri");
        let place = match Place::of(uri) {
            Place::Inside(path) => AssetPlace::Beside(path),
            Place::Data(_) => AssetPlace::InText,
            Place::Elsewhere if uri.starts_with("ccdefault:") => AssetPlace::Own,
            Place::Elsewhere => AssetPlace::Elsewhere,
        };
        Self { kind: text("type"), name: text("name"), ext: text("ext"), uri, place }
    }
}

fn asset(kind: &str, name: &str, ext: &str, uri: &str) -> Value {
    let fields = [("type", kind), ("uri", uri), ("name", name), ("ext", ext)];
    Value::Object(Map::from_iter(fields.map(|(field, text)| (field.to_owned(), text.into()))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(assets: Value) -> Card {
        let card =
            json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": { "name": "Mira", "assets": assets } });
        Card::from_json(card.to_string().as_bytes()).unwrap().0
    }

    fn list(card: &Card) -> Value {
        card.to_value()["data"]["assets"].take()
    }

    /// V3-09: every place that a file may have.
    #[test]
    fn every_asset_says_where_it_lies() {
        let uri = |uri: &str| json!({ "type": "emotion", "name": "joy", "ext": "png", "uri": uri });
        let card = card(json!([
            uri("embeded://a/joy.png"),
            uri("data:image/png;base64,AAAA"),
            uri("ccdefault:"),
            uri("https://example.org/joy.png"),
            7
        ]));
        let places: Vec<_> = card.asset_list().into_iter().map(|asset| asset.place).collect();
        let expected = [AssetPlace::Beside("a/joy.png"), AssetPlace::InText, AssetPlace::Own, AssetPlace::Elsewhere];
        assert_eq!(places, [&expected[..], &[AssetPlace::Elsewhere]].concat());
        assert_eq!(card.asset_bytes(1, None).unwrap(), Some(vec![0, 0, 0]));
        assert_eq!((card.asset_bytes(3, None).unwrap(), card.asset_bytes(9, None).unwrap()), (None, None));
    }

    #[test]
    fn a_change_leaves_what_is_unknown_and_what_was_taken_out_goes_back() {
        let odd = json!([{ "type": "emotion", "name": "joy", "uri": "embeded://j", "mine": [1] }, { "x": null }]);
        let mut card = card(odd.clone());
        assert!(card.set_asset(0, "x_pose", "glad") && !card.set_asset(5, "a", "b"));
        assert_eq!(list(&card)[0].to_string(), r#"{"type":"x_pose","name":"glad","uri":"embeded://j","mine":[1]}"#);
        card.set_asset(0, "emotion", "joy");
        let taken = card.remove_asset(0).unwrap();
        assert_eq!((list(&card), card.remove_asset(4)), (json!([{ "x": null }]), None));
        card.put_asset(0, taken);
        assert_eq!(list(&card), odd);
    }

    /// V3-07, V3-12: a card without a list has its own picture as icon, and so it has with the first file that it gets.
    #[test]
    fn the_first_file_does_not_take_the_place_of_the_icon() {
        let mut card = Card::new("Mira").unwrap();
        card.add_asset("emotion", "joy", "png", "assets/emotion/images/joy.png");
        let listed: Vec<_> = card.asset_list().iter().map(|one| (one.kind, one.name, one.place)).collect();
        let joy = AssetPlace::Beside("assets/emotion/images/joy.png");
        assert_eq!(listed, [("icon", "main", AssetPlace::Own), ("emotion", "joy", joy)]);
        let files = [("assets/emotion/images/joy.png".to_owned(), "image/png".to_owned(), "AAAA".to_owned())];
        assert_eq!(card.with_assets_in_text(&files).asset_bytes(1, None).unwrap(), Some(vec![0, 0, 0]));
    }
}
