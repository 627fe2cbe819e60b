//! The JSON of a hub. Fields of another type than expected are treated as absent.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireModel {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(rename = "modelId", deserialize_with = "lenient")]
    pub(super) model_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) sha: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) downloads: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) likes: Option<u64>,
    /// `false`, `"auto"` or `"manual"`.
    #[serde(deserialize_with = "gated")]
    pub(super) gated: bool,
    #[serde(deserialize_with = "texts")]
    pub(super) tags: Vec<String>,
    #[serde(rename = "lastModified", deserialize_with = "lenient")]
    pub(super) last_modified: Option<String>,
    #[serde(rename = "cardData", deserialize_with = "lenient")]
    pub(super) card: Option<WireCard>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireCard {
    license: Value,
    license_name: Value,
}

impl WireCard {
    /// `other` says nothing; then the authors give a name.
    pub(super) fn licence(&self) -> Option<String> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(all) => all.first().and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        text(&self.license)
            .filter(|licence| licence != "other")
            .or_else(|| text(&self.license_name))
            .or_else(|| text(&self.license))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireFile {
    #[serde(deserialize_with = "lenient")]
    pub(super) path: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) size: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) lfs: Option<WireLfs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireLfs {
    #[serde(alias = "oid", deserialize_with = "lenient")]
    pub(super) sha256: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) size: Option<u64>,
}

fn lenient<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    source: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(source)?).ok())
}

fn texts<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(all) = Value::deserialize(source)? else {
        return Ok(Vec::new());
    };
    Ok(all
        .into_iter()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .take(200)
        .collect())
}

fn gated<'de, D: Deserializer<'de>>(source: D) -> Result<bool, D::Error> {
    Ok(match Value::deserialize(source)? {
        Value::Bool(gated) => gated,
        Value::String(kind) => !kind.is_empty() && kind != "false",
        _ => false,
    })
}
