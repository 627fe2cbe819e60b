//! Writes the licences of everything in the packages that is not ours into one text.
//!
//! Each licence text occurs once, after the names of what it covers. Equal sources give equal bytes.

mod bundled_data;
mod cargo_packages;
pub(super) mod component;
pub(super) mod components;
mod mingw;
mod npm_packages;
mod parts;
mod texts;

use anyhow::{Context, Result};
use component::Component;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use texts::LicenceTexts;

/// Line before each licence text. The UI splits the text here; see
/// `ui/src/lib/state/licences.svelte.ts`.
const RULE: &str = "====================================================================================================";

const INTRODUCTION: &str = "\
Third-party licences of Inglenook

Inglenook contains software, models and data of others. Before each licence text are the names of
what it covers.
";

const WITHOUT_TEXT: &str = "\
These state their licence, but contain no text of it. Its general text follows, if there is one.";

/// Longest line of a list of names, in characters.
const WIDTH: usize = 100;

/// Writes the text into the file `into`.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn write_third_party(components: &[Component], into: &Path) -> Result<()> {
    let mut texts = LicenceTexts::default();
    for component in components {
        for file in &component.licence_files {
            texts.add(component, file, &texts::read(file)?);
        }
    }
    fs::write(into, document(components, &texts))
        .with_context(|| format!("cannot write {}", into.display()))
}

fn document(components: &[Component], texts: &LicenceTexts) -> String {
    let mut document = INTRODUCTION.to_owned();
    for text in texts.sorted() {
        let names: Vec<&str> = text.covers.iter().map(String::as_str).collect();
        push_entry(&mut document, &wrapped(&names), &text.text);
    }
    let without: Vec<&Component> = components
        .iter()
        .filter(|component| component.licence_files.is_empty())
        .collect();
    if !without.is_empty() {
        let lines: Vec<String> = without.iter().map(|component| stated(component)).collect();
        push_entry(&mut document, WITHOUT_TEXT, &lines.join("\n"));
        for id in ids_of(&without) {
            if let Some(text) = texts.standard(&id) {
                push_entry(&mut document, &format!("General text of {id}"), &text);
            }
        }
    }
    document
}

fn push_entry(document: &mut String, heading: &str, text: &str) {
    document.push_str(&format!("\n{RULE}\n{heading}\n\n{text}\n"));
}

/// A line such as `specta 2.0.0: MIT, by Ida Quay`.
fn stated(component: &Component) -> String {
    let licence = component.licence.as_deref().unwrap_or("no licence stated");
    let authors = if component.authors.is_empty() {
        String::new()
    } else {
        format!(", by {}", component.authors.join(", "))
    };
    format!("{}: {licence}{authors}", component.label())
}

fn ids_of(components: &[&Component]) -> BTreeSet<String> {
    let expressions = components.iter().filter_map(|it| it.licence.as_deref());
    expressions
        .flat_map(texts::ids)
        .map(str::to_owned)
        .collect()
}

/// Joins names with commas, in lines of at most [`WIDTH`] characters if the names allow it.
fn wrapped(names: &[&str]) -> String {
    let mut lines = vec![String::new()];
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        let is_full = lines
            .last()
            .is_some_and(|line| !line.is_empty() && line.len() + name.len() + 2 > WIDTH);
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{space}{name}{comma}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIT: &str = "MIT License\n\nCopyright (c) 2020 Ida Quay\n\nPermission is granted.";

    fn component(name: &str, licence: &str, files: &[&str]) -> Component {
        Component {
            version: Some("1.0.0".to_owned()),
            licence: Some(licence.to_owned()),
            licence_files: files.iter().map(Into::into).collect(),
            ..Component::library(name)
        }
    }

    #[test]
    fn equal_texts_occur_once_with_all_names() {
        let components = [
            component("lamp", "MIT", &["lamp/LICENSE"]),
            component("oil", "MIT", &["oil/LICENSE"]),
        ];
        let mut texts = LicenceTexts::default();
        texts.add(&components[0], Path::new("lamp/LICENSE"), MIT);
        let wide = MIT.replace('\n', "\n  ");
        texts.add(&components[1], Path::new("oil/LICENSE"), &wide);
        let document = document(&components, &texts);
        assert_eq!(document.matches("Permission").count(), 1, "{document}");
        assert!(document.contains("lamp 1.0.0, oil 1.0.0\n\nMIT License"));
    }

    #[test]
    fn missing_text_comes_from_another_package() {
        let components = [
            component("lamp", "MIT", &["lamp/LICENSE"]),
            component("wick", "MIT OR Zlib", &[]),
        ];
        let mut texts = LicenceTexts::default();
        texts.add(&components[0], Path::new("lamp/LICENSE"), MIT);
        let document = document(&components, &texts);
        assert!(document.contains("wick 1.0.0: MIT OR Zlib"), "{document}");
        let (_, general) = document.split_once("General text of MIT").unwrap();
        assert!(general.contains("Permission"));
        assert!(!general.contains("Ida Quay"), "{general}");
        assert!(!document.contains("General text of Zlib"));
    }

    #[test]
    fn names_are_wrapped_between_words() {
        let names = vec!["lamplighter 10.20.30"; 9];
        let text = wrapped(&names);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.replace('\n', " "), names.join(", "));
    }
}
