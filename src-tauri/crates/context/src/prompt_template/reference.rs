//! Reference of all variables and flags, for completion in the editor and for
//! `presets/prompts/VARIABLES.md`.

use super::flags::Flag;
use crate::prompt_template::variables::catalogue::{CATALOGUE, GROUPS, ValueSource};

/// Documentation of a variable for template authors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableDoc {
    pub name: &'static str,
    pub group: &'static str,
    pub description: &'static str,
    /// True if conditions can use its `.size`.
    pub list: bool,
    pub source: VariableSource,
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSource {
    /// The chat, the card, the persona or the settings.
    Given,
    SameAs(&'static str),
    /// The `details` setting of the chat.
    Detail,
    /// Derived from these variables.
    MadeOf(&'static [&'static str]),
}

/// Documentation of a flag for template authors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagDoc {
    pub name: &'static str,
    pub description: &'static str,
}

/// Every variable, group by group.
pub fn reference() -> Vec<VariableDoc> {
    let doc = |definition: &crate::prompt_template::variables::catalogue::Definition| VariableDoc {
        name: definition.name,
        group: definition.group,
        description: definition.description,
        list: matches!(
            definition.made,
            ValueSource::GivenList | ValueSource::DetailList
        ),
        source: match definition.made {
            ValueSource::Given | ValueSource::GivenList | ValueSource::Retired => {
                VariableSource::Given
            }
            ValueSource::Detail | ValueSource::DetailList => VariableSource::Detail,
            ValueSource::Alias(of) => VariableSource::SameAs(of),
            ValueSource::Derived { inputs, .. } => VariableSource::MadeOf(inputs),
        },
    };
    let named = |definition: &&crate::prompt_template::variables::catalogue::Definition| {
        !matches!(definition.made, ValueSource::Retired)
    };
    CATALOGUE.iter().filter(named).map(doc).collect()
}

/// The groups with their descriptions, in the order of the reference.
pub fn variable_groups() -> &'static [(&'static str, &'static str)] {
    GROUPS
}

/// Every flag that conditions can use.
pub fn flag_reference() -> Vec<FlagDoc> {
    let doc = |flag: Flag| FlagDoc {
        name: flag.name(),
        description: flag.description(),
    };
    Flag::ALL.into_iter().map(doc).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::schema::PromptTemplate;
    use super::*;

    /// Rewrites a generated file if `UPDATE_GENERATED` is set; otherwise compares it.
    fn in_sync(path: &str, generated: &str) {
        let path = format!("{}/../../../presets/{path}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert!(
            committed == generated,
            "{path} is stale; run this test with UPDATE_GENERATED=1"
        );
    }

    fn row(doc: &VariableDoc) -> String {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (what, source) = match doc.source {
            VariableSource::Given => (doc.description.to_owned(), String::new()),
            VariableSource::Detail => (doc.description.to_owned(), "the chat's details".to_owned()),
            VariableSource::SameAs(of) => (format!("Same as `{of}`"), String::new()),
            VariableSource::MadeOf(inputs) => (doc.description.to_owned(), names(inputs)),
        };
        let list = if doc.list { " (a list)" } else { "" };
        format!("| `${{{}}}`{list} | {what} | {source} |\n", doc.name)
    }

    fn markdown() -> String {
        let mut text = String::from(concat!(
            "# Variables and conditions of prompt templates\n\n",
            "Written by the test `the_reference_is_in_sync`; do not edit.\n",
            "A variable without a value is empty. A sentence with an empty variable is left out, and a line, heading or section of \
             which nothing is left vanishes. Parentheses that contain only an empty variable, such as \
             `(${persona.about})`, vanish with it, and the sentence stays. `$${` stands for `${` itself.\n",
        ));
        for (group, about) in GROUPS {
            write!(
                text,
                "\n## {group}\n\n{about}.\n\n| variable | what it is | made of |\n|---|---|---|\n"
            )
            .unwrap();
            for doc in reference().iter().filter(|doc| doc.group == *group) {
                text.push_str(&row(doc));
            }
        }
        text.push_str("\n## Conditions\n\n");
        text.push_str(
            "Flags and variables with `!`, `&&`, `||`, `==`, `!=`, `<`, `<=`, `>`, `>=`, parentheses and quoted ",
        );
        text.push_str("texts; `list.size` counts a list.\nEmpty, `0` and `false` do not hold.\n\n| flag | holds when |\n|---|---|\n");
        for flag in flag_reference() {
            writeln!(text, "| `{}` | {} |", flag.name, flag.description).unwrap();
        }
        text
    }

    #[test]
    fn the_reference_is_in_sync() {
        in_sync("prompts/VARIABLES.md", &markdown());
    }

    #[test]
    fn the_json_schema_is_in_sync() {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(PromptTemplate)).unwrap();
        in_sync("schemas/prompt-template.schema.json", &(schema + "\n"));
    }
}
