//! The values of `${variables}` for one turn.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::catalogue::{CATALOGUE, Definition, ValueSource};
use super::compose::ComposeError;
use super::graph::{self, Cycle};
use super::schema::{OwnVariable, SectionRole};
use super::text;

/// Maximum number of lines of details.
const MAX_DETAILS: usize = 200;

/// A text, or a list whose size a condition can check.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Text(String),
    List(Vec<String>),
}

impl Value {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(items) => Cow::Owned(items.join(", ")),
        }
    }
}

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

/// The inputs of a derived variable. It can read only the variables that it declares.
pub(super) struct Inputs<'v> {
    declared: &'static [&'static str],
    values: &'v BTreeMap<String, Value>,
}

impl Inputs<'_> {
    /// The trimmed text; empty if absent.
    pub(super) fn text(&self, name: &str) -> Cow<'_, str> {
        match self.value(name) {
            Some(Value::Text(text)) => Cow::Borrowed(text.trim()),
            Some(list) => list.text(),
            None => Cow::Borrowed(""),
        }
    }

    pub(super) fn list(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(
            self.declared.contains(&name),
            "{name} is read but not declared"
        );
        self.declared
            .contains(&name)
            .then(|| self.values.get(name))
            .flatten()
    }
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

pub(super) fn known(name: &str) -> bool {
    BY_NAME.contains_key(name)
}

pub(super) fn is_list(name: &str) -> bool {
    matches!(
        BY_NAME.get(plain(name)).map(|definition| &definition.made),
        Some(ValueSource::GivenList | ValueSource::DetailList)
    )
}

/// True for variables of earlier versions, which are always empty.
pub(super) fn retired(name: &str) -> bool {
    matches!(
        BY_NAME.get(name).map(|definition| &definition.made),
        Some(ValueSource::Retired)
    )
}

/// False for empty texts, `0` and `false`.
pub(super) fn is_true(text: &str) -> bool {
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
    pub(super) fn text_in(&self, name: &str, role: SectionRole) -> Option<Cow<'_, str>> {
        match (name, role) {
            ("firstSecondToBe" | "firstSecondWho", SectionRole::Assistant) => {
                Some(Cow::Borrowed("I am"))
            }
            _ => self.text(name),
        }
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| is_true(&text))
    }

    /// Number of items of a list; `None` for a text.
    pub(super) fn size(&self, name: &str) -> Option<usize> {
        match self.values.get(plain(name)) {
            Some(Value::List(items)) => Some(items.len()),
            Some(Value::Text(_)) => None,
            None => is_list(name).then_some(0),
        }
    }

    /// A copy in which `names` are empty.
    pub(super) fn without(&self, names: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.values
            .retain(|name, _| !names.contains(&name.as_str()));
        rest
    }

    /// A copy in which each of `names` has the value `text`.
    pub(super) fn with(&self, names: &[&str], text: &str) -> Self {
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
    /// Errors Like [`compose`](super::compose()): an unknown variable, a cycle, or a text that is
    /// too long.
    pub(super) fn with_own(&self, own: &[OwnVariable]) -> Result<Cow<'_, Self>, ComposeError> {
        if own.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let mut all = self.clone();
        let mut room = super::MAX_COMPOSED;
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
pub(super) fn own_order(own: &[OwnVariable]) -> Result<Vec<usize>, ComposeError> {
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
mod tests {
    use proptest::prelude::*;

    use super::super::catalogue::GROUPS;
    use super::*;

    fn mira() -> Given {
        Given::default()
            .text("character.name", "Mira Voss")
            .text("character.personality", "Shy and kind. Loves old maps.")
            .text("character.gender", "female")
            .text("character.age", "31")
            .text("persona.name", "Tom")
            .text("setting", "a harbour town")
            .text("goal", "find the lighthouse")
            .text("rating", "T")
            .list("episodes", ["Arrival".into(), "Storm".into()])
            .text("memory.facts", "Tom is allergic to nuts.")
    }

    #[test]
    fn catalogue_is_acyclic_complete_and_unique() {
        assert!(order_of(CATALOGUE).is_ok());
        assert_eq!(BY_NAME.len(), CATALOGUE.len());
        for definition in CATALOGUE {
            let grouped = GROUPS.iter().any(|(group, _)| *group == definition.group);
            assert_ne!(grouped, retired(definition.name), "{}", definition.name);
            for input in definition.inputs() {
                let input = BY_NAME
                    .get(input)
                    .unwrap_or_else(|| panic!("{} needs {input}", definition.name));
                assert!(
                    !matches!(input.made, ValueSource::Alias(_)),
                    "{} reads through an alias",
                    definition.name
                );
            }
        }
    }

    #[test]
    fn every_variable_has_a_value() {
        let nothing = TemplateVariables::resolve(Given::default()).unwrap();
        let everything = CATALOGUE
            .iter()
            .fold(Given::default(), |given, definition| {
                match definition.made {
                    ValueSource::Given | ValueSource::Detail => given.text(definition.name, "x"),
                    ValueSource::GivenList | ValueSource::DetailList => {
                        given.list(definition.name, ["y".into()])
                    }
                    _ => given,
                }
            });
        let everything = TemplateVariables::resolve(everything).unwrap();
        for definition in CATALOGUE {
            assert!(nothing.text(definition.name).is_some());
            let empty = everything.text(definition.name).unwrap().is_empty();
            assert_eq!(empty, retired(definition.name), "{}", definition.name);
        }
    }

    #[test]
    fn rejects_unknown_variables() {
        let error =
            TemplateVariables::resolve(Given::default().text("charcter.name", "x")).unwrap_err();
        assert_eq!(error.name, "charcter.name");
    }

    #[test]
    fn reads_details_by_variable_name() {
        let written = "character.age: 31\nsystem.gender: female\n${imageTags}: smile, sea,\nnote: x\nno line\n";
        let (given, unknown) = Given::default().details(written);
        let variables = TemplateVariables::resolve(given).unwrap();
        let text = |name| variables.text(name).unwrap().into_owned();
        assert_eq!(
            (text("character.about"), text("imageTags")),
            ("31 year old female".into(), "smile, sea".into())
        );
        assert_eq!(
            (variables.size("imageTags"), unknown),
            (Some(2), vec!["note".to_owned()])
        );
    }

    #[test]
    fn alias_sets_the_same_variable() {
        let variables =
            TemplateVariables::resolve(Given::default().text("system.fullName", "Ada King"))
                .unwrap();
        assert_eq!(variables.text("character.fullName").unwrap(), "Ada King");
    }

    #[test]
    fn own_variables_read_one_another_in_any_order() {
        let own = |name: &str, text: &str| OwnVariable {
            name: name.into(),
            text: text.into(),
            ..Default::default()
        };
        let variables = TemplateVariables::resolve(mira()).unwrap();
        let own = [
            own("hello", "${greet}!"),
            own("greet", "Hello ${persona.name}"),
        ];
        assert_eq!(
            variables.with_own(&own).unwrap().text("hello").unwrap(),
            "Hello Tom!"
        );
    }

    #[test]
    fn names_cycle_of_own_variables() {
        let own = |name: &str, text: &str| OwnVariable {
            name: name.into(),
            text: text.into(),
            ..Default::default()
        };
        let variables = TemplateVariables::resolve(mira()).unwrap();
        let error = variables
            .with_own(&[own("a", "${b}"), own("b", "${a}")])
            .unwrap_err();
        assert_eq!(
            error,
            ComposeError::Cycle(Cycle {
                path: vec!["a".into(), "b".into(), "a".into()]
            })
        );
    }

    #[test]
    fn stops_exponentially_growing_text() {
        let own = |n: usize| OwnVariable {
            name: format!("v{n}"),
            text: if n == 0 {
                "laugh".into()
            } else {
                format!("${{v{}}}", n - 1).repeat(10)
            },
            ..Default::default()
        };
        let own: Vec<_> = (0..40).map(own).collect();
        let variables = TemplateVariables::resolve(Given::default()).unwrap();
        assert!(matches!(
            variables.with_own(&own),
            Err(ComposeError::TooLong { .. })
        ));
    }

    proptest! {
        /// The values do not depend on the order of the definitions.
        #[test]
        fn values_do_not_depend_on_catalogue_order(seed in prop::collection::vec(any::<u32>(), CATALOGUE.len())) {
            let mut shuffled: Vec<(u32, &Definition)> = seed.into_iter().zip(CATALOGUE).collect();
            shuffled.sort_by_key(|(key, _)| *key);
            let shuffled: Vec<Definition> = shuffled.into_iter().map(|(_, definition)| *definition).collect();
            let mut values = mira().0;
            for at in order_of(&shuffled).unwrap() {
                make(&shuffled[at], &mut values);
            }
            prop_assert_eq!(values, TemplateVariables::resolve(mira()).unwrap().values);
        }
    }
}
