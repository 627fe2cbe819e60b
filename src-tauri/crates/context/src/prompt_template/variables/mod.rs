//! The values of `${variables}` for one turn.

pub(crate) mod catalogue;
pub(crate) mod derive;
pub(crate) mod inputs;
pub(crate) mod perspective;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use crate::prompt_template::compose_error::ComposeError;
use crate::prompt_template::graph::Cycle;
use crate::prompt_template::schema::{OwnVariable, SectionRole};
use crate::prompt_template::variables::catalogue::{CATALOGUE, Definition, ValueSource};
use crate::prompt_template::variables::inputs::{Inputs, Value};
use crate::prompt_template::{graph, text};

/// Maximum number of lines of details.
const MAX_DETAILS: usize = 200;

/// The values that the engine supplies for a turn. Absent values are empty. A value supplied for a
/// derived variable replaces the derived one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<String, Value>);

impl Given {
    #[must_use]
    pub fn text(mut self, name: &str, text: impl Into<String>) -> Self {
        self.0.insert(name.to_owned(), Value::Text(text.into()));
        self
    }

    /// Adds the user's details about a person or a place, one per line: name, colon, text; lists
    /// are separated by commas. Returns also the names that are not details.
    #[must_use]
    pub fn details(mut self, written: &str) -> (Self, Vec<String>) {
        let mut unknown = Vec::new();
        for (name, text) in written
            .lines()
            .take(MAX_DETAILS)
            .filter_map(|line| line.split_once(':'))
        {
            let name = name.trim().trim_start_matches("${").trim_end_matches('}');
            self = match BY_NAME.get(plain(name)).map(|definition| &definition.made) {
                Some(ValueSource::Detail) => self.text(plain(name), text.trim()),
                Some(ValueSource::DetailList) => {
                    let items = text
                        .split(',')
                        .map(str::trim)
                        .filter(|item| !item.is_empty());
                    self.list(plain(name), items.map(str::to_owned))
                }
                _ => {
                    unknown.push(name.to_owned());
                    self
                }
            };
        }
        (self, unknown)
    }

    /// The names of the supplied values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    #[must_use]
    pub fn list(mut self, name: &str, items: impl IntoIterator<Item = String>) -> Self {
        self.0
            .insert(name.to_owned(), Value::List(items.into_iter().collect()));
        self
    }
}

/// There is no variable with this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no variable `{name}`; see VARIABLES.md for the list")]
pub struct UnknownVariable {
    pub name: String,
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static Definition>> = LazyLock::new(|| {
    CATALOGUE
        .iter()
        .map(|definition| (definition.name, definition))
        .collect()
});

/// The canonical name of an alias, else the name itself.
fn plain(name: &str) -> &str {
    match BY_NAME.get(name).map(|definition| &definition.made) {
        Some(ValueSource::Alias(of)) => of,
        _ => name,
    }
}

pub(crate) fn known(name: &str) -> bool {
    BY_NAME.contains_key(name)
}

pub(crate) fn is_list(name: &str) -> bool {
    matches!(
        BY_NAME.get(plain(name)).map(|definition| &definition.made),
        Some(ValueSource::GivenList | ValueSource::DetailList)
    )
}

/// True for variables of earlier versions, which are always empty.
pub(crate) fn retired(name: &str) -> bool {
    matches!(
        BY_NAME.get(name).map(|definition| &definition.made),
        Some(ValueSource::Retired)
    )
}

/// False for empty texts, `0` and `false`.
pub(crate) fn is_true(text: &str) -> bool {
    !matches!(text.trim(), "" | "0" | "false")
}

/// The order in which the variables of the catalogue are computed.
static ORDER: LazyLock<Result<Vec<usize>, Cycle>> = LazyLock::new(|| order_of(CATALOGUE));

fn order_of(definitions: &[Definition]) -> Result<Vec<usize>, Cycle> {
    let nodes: Vec<_> = definitions
        .iter()
        .map(|definition| (definition.name, definition.inputs().to_vec()))
        .collect();
    graph::order(&nodes)
}

/// The value of every variable for one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariables {
    values: BTreeMap<String, Value>,
}

impl TemplateVariables {
    /// Computes every variable of the catalogue from the `given` values, in the order of its
    /// dependency graph.
    ///
    /// Errors
    /// [`UnknownVariable`] if a given name is not in the catalogue.
    pub fn resolve(given: Given) -> Result<Self, UnknownVariable> {
        let mut values = BTreeMap::new();
        for (name, value) in given.0 {
            if !known(&name) {
                return Err(UnknownVariable { name });
            }
            values.insert(plain(&name).to_owned(), value);
        }
        for at in ORDER.iter().flatten() {
            make(&CATALOGUE[*at], &mut values);
        }
        Ok(Self { values })
    }

    /// The text of a variable; `None` if the variable does not exist.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.values.get(plain(name)) {
            Some(value) => Some(value.text()),
            None => known(name).then_some(Cow::Borrowed("")),
        }
    }

    /// Like [`Self::text`], for words that depend on the speaker: the character's own introduction
    /// says "I".
    pub(crate) fn text_in(&self, name: &str, role: SectionRole) -> Option<Cow<'_, str>> {
        match (name, role) {
            ("firstSecondToBe" | "firstSecondWho", SectionRole::Assistant) => {
                Some(Cow::Borrowed("I am"))
            }
            _ => self.text(name),
        }
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| is_true(&text))
    }

    /// Number of items of a list; `None` for a text.
    pub(crate) fn size(&self, name: &str) -> Option<usize> {
        match self.values.get(plain(name)) {
            Some(Value::List(items)) => Some(items.len()),
            Some(Value::Text(_)) => None,
            None => is_list(name).then_some(0),
        }
    }

    /// A copy in which `names` are empty.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.values
            .retain(|name, _| !names.contains(&name.as_str()));
        rest
    }

    /// A copy in which each of `names` has the value `text`.
    pub(crate) fn with(&self, names: &[&str], text: &str) -> Self {
        let mut rest = self.clone();
        rest.values.extend(
            names
                .iter()
                .map(|name| ((*name).to_owned(), Value::Text(text.to_owned()))),
        );
        rest
    }

    /// A copy with the template's own variables.
    ///
    /// Errors Like [`compose`](crate::prompt_template::compose()): an unknown variable, a cycle, or
    /// a text that is too long.
    pub(crate) fn with_own(&self, own: &[OwnVariable]) -> Result<Cow<'_, Self>, ComposeError> {
        if own.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let mut all = self.clone();
        let mut room = crate::prompt_template::MAX_COMPOSED;
        for at in own_order(own)? {
            let variable = &own[at];
            let expanded = text::expand(&variable.text, |name| all.text(name), room)?;
            room = room.saturating_sub(expanded.text.len());
            all.values
                .insert(variable.name.clone(), Value::Text(expanded.text));
        }
        Ok(Cow::Owned(all))
    }
}

/// The order in which a template's own variables are computed.
pub(crate) fn own_order(own: &[OwnVariable]) -> Result<Vec<usize>, ComposeError> {
    let mut nodes = Vec::with_capacity(own.len());
    for variable in own {
        let pieces = text::pieces(&variable.text)?.into_iter();
        let inputs = pieces.filter_map(|piece| match piece {
            text::TemplatePiece::Variable(name) => Some(name),
            text::TemplatePiece::Text(_) => None,
        });
        nodes.push((variable.name.as_str(), inputs.collect()));
    }
    Ok(graph::order(&nodes)?)
}

/// Computes a derived variable, unless a value was supplied.
fn make(definition: &Definition, values: &mut BTreeMap<String, Value>) {
    let ValueSource::Derived { inputs, make } = definition.made else {
        return;
    };
    if !values.contains_key(definition.name) {
        let text = make(&Inputs {
            declared: inputs,
            values,
        });
        values.insert(definition.name.to_owned(), Value::Text(text));
    }
}

#[cfg(test)]
mod tests;
