use proptest::prelude::*;

use super::*;
use crate::prompt_template::variables::catalogue::GROUPS;

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
    let written =
        "character.age: 31\nsystem.gender: female\n${imageTags}: smile, sea,\nnote: x\nno line\n";
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
        TemplateVariables::resolve(Given::default().text("system.fullName", "Ada King")).unwrap();
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
