//! Writes the list of components (SBOM) in the format CycloneDX 1.5. Equal sources give equal bytes.

use super::facts::source_date;
use super::licences::component::{Component, ComponentKind};
use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Writes the list for `version` of the app into the file `into`.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_sbom(components: &[Component], into: &Path, version: &str) -> Result<()> {
    let published = Timestamp::from_second(source_date().try_into()?)?;
    let document = document(components, version, published);
    let json = serde_json::to_string_pretty(&document)?;
    fs::write(into, json + "\n").with_context(|| format!("cannot write {}", into.display()))
}

fn document(components: &[Component], version: &str, published: Timestamp) -> Value {
    let listed: Vec<Value> = components.iter().map(described).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": serial_number(version, &listed),
        "version": 1,
        "metadata": {
            "timestamp": published.to_string(),
            "component": {
                "type": "application",
                "bom-ref": "inglenook",
                "name": "Inglenook",
                "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": listed,
    })
}

fn described(component: &Component) -> Value {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    let reference = component.purl.clone().unwrap_or_else(|| component.label());
    set("type", Some(json!(type_of(component.kind))));
    set("bom-ref", Some(json!(reference)));
    set("author", authors(component));
    set("name", Some(json!(component.name)));
    set("version", component.version.as_ref().map(|it| json!(it)));
    let package = component.part_of.as_ref();
    set(
        "description",
        package.map(|it| json!(format!("Source in {it}"))),
    );
    let sum = component.sha256.as_ref();
    set(
        "hashes",
        sum.map(|it| json!([{ "alg": "SHA-256", "content": it }])),
    );
    set("licenses", component.licence.as_deref().map(licences));
    set("purl", component.purl.as_ref().map(|it| json!(it)));
    Value::Object(fields)
}

fn type_of(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::Library => "library",
        ComponentKind::Model => "machine-learning-model",
        ComponentKind::Data => "data",
    }
}

fn authors(component: &Component) -> Option<Value> {
    let authors = &component.authors;
    (!authors.is_empty()).then(|| json!(authors.join(", ")))
}

/// SPDX replaced the separator `/` by `OR`.
fn licences(expression: &str) -> Value {
    let parts: Vec<&str> = expression.split('/').map(str::trim).collect();
    json!([{ "expression": parts.join(" OR ") }])
}

/// A UUID of version 8 made from the content, so that equal lists have equal numbers.
fn serial_number(version: &str, listed: &[Value]) -> String {
    let mut digest = Sha256::new();
    digest.update(version);
    for component in listed {
        digest.update(component.to_string());
    }
    let mut bytes = digest.finalize();
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(&bytes[..16]);
    let groups = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    format!("urn:uuid:{}", groups.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lamp() -> Component {
        Component {
            version: Some("1.0.0".to_owned()),
            licence: Some("MIT/Apache-2.0".to_owned()),
            purl: Some("pkg:cargo/lamp@1.0.0".to_owned()),
            sha256: Some("ab".repeat(32)),
            ..Component::library("lamp")
        }
    }

    fn part() -> Component {
        Component {
            part_of: Some("lamp 1.0.0".to_owned()),
            licence: Some("blessing".to_owned()),
            authors: vec!["Ida Quay".to_owned()],
            ..Component::library("wick")
        }
    }

    #[test]
    fn component_has_checksum_licence_and_url() {
        let document = document(&[lamp(), part()], "0.1.0", Timestamp::UNIX_EPOCH);
        assert_eq!(
            document["components"],
            json!([
                {
                    "type": "library",
                    "bom-ref": "pkg:cargo/lamp@1.0.0",
                    "name": "lamp",
                    "version": "1.0.0",
                    "hashes": [{ "alg": "SHA-256", "content": "ab".repeat(32) }],
                    "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                    "purl": "pkg:cargo/lamp@1.0.0",
                },
                {
                    "type": "library",
                    "bom-ref": "wick (in lamp 1.0.0)",
                    "author": "Ida Quay",
                    "name": "wick",
                    "description": "Source in lamp 1.0.0",
                    "licenses": [{ "expression": "blessing" }],
                },
            ])
        );
        assert_eq!(document["metadata"]["component"]["version"], "0.1.0");
    }

    #[test]
    fn serial_number_depends_on_the_content_alone() {
        let number = |components: &[Component], date| {
            let date = Timestamp::from_second(date).unwrap();
            let document = document(components, "0.1.0", date);
            document["serialNumber"].as_str().unwrap().to_owned()
        };
        let first = number(&[lamp()], 1);
        assert_eq!(first, number(&[lamp()], 2));
        assert_ne!(first, number(&[lamp(), part()], 1));
        let uuid = first.strip_prefix("urn:uuid:").unwrap();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.chars().nth(14), Some('8'), "{uuid}");
    }
}
