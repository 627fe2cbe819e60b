use super::*;
use crate::prompt_template::variables::Given;

fn holds(condition: &str, given: Given, flags: &[Flag]) -> bool {
    let variables = TemplateVariables::resolve(given).unwrap();
    let flags = TemplateFlags::only(flags.iter().copied());
    parse(condition, &|_| false)
        .unwrap()
        .holds(&variables, &flags)
}

fn error(condition: &str) -> ConditionError {
    parse(condition, &|_| false).unwrap_err()
}

#[test]
fn every_flag_is_true_when_on_and_false_when_off() {
    for flag in Flag::ALL {
        assert!(holds(flag.name(), Given::default(), &[flag]));
        assert_eq!(
            holds(flag.name(), Given::default(), &[]),
            flag == Flag::Always
        );
        assert_eq!(
            holds(&format!("!{}", flag.name()), Given::default(), &[]),
            flag != Flag::Always
        );
    }
}

#[test]
fn truth_tables_of_and_or_not() {
    use Flag::{Assist as A, IsGroup as B};
    let on = |a: bool, b: bool| {
        [a.then_some(A), b.then_some(B)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let check = |text: &str| holds(text, Given::default(), &on(a, b));
        assert_eq!(check("assist && isGroup"), a && b);
        assert_eq!(check("assist || isGroup"), a || b);
        assert_eq!(check("!assist && isGroup"), !a && b);
        assert_eq!(check("!(assist && isGroup)"), !(a && b));
        assert_eq!(check("assist == isGroup"), a == b);
        assert_eq!(check("assist != isGroup"), a != b);
        assert_eq!(check("assist || isGroup && assist"), a);
        assert_eq!(check("(assist || isGroup) && !assist"), b && !a);
    }
}

#[test]
fn compares_texts_numbers_and_sizes() {
    let given = || {
        Given::default()
            .text("mode", "Study")
            .text("memory.count", "10")
            .list("episodes", ["a".into(), "b".into()])
    };
    for truth in [
        r#"mode == "study""#,
        "mode != 'chill'",
        "memory.count > 9",
        "memory.count >= 10 && memory.count < 11",
        "episodes.size > 0",
        "episodes.size == 2",
        "episodes.size <= 2",
        "episodes",
        "mode",
        "!rating",
    ] {
        assert!(holds(truth, given(), &[]), "{truth}");
    }
    for falsehood in [
        "mode == 'stud'",
        "mode > 3",
        "episodes.size > 2",
        "imageTags.size > 0",
        "scene",
    ] {
        assert!(!holds(falsehood, given(), &[]), "{falsehood}");
    }
}

#[test]
fn zero_and_false_are_not_true() {
    assert!(!holds(
        "memory.count",
        Given::default().text("memory.count", "0"),
        &[]
    ));
    assert!(!holds(
        "scene",
        Given::default().text("scene", "false"),
        &[]
    ));
}

#[test]
fn names_what_is_wrong() {
    assert_eq!(
        error("hasEpisode"),
        ConditionError::Unknown {
            name: "hasEpisode".into()
        }
    );
    assert_eq!(
        error("mode == study"),
        ConditionError::Unknown {
            name: "study".into()
        }
    );
    assert_eq!(
        error("mode.size > 0"),
        ConditionError::NoList {
            name: "mode".into()
        }
    );
    assert_eq!(error("(assist"), ConditionError::Ends { expected: "`)`" });
    assert!(matches!(error(""), ConditionError::Ends { .. }));
    assert!(matches!(
        error("assist isGroup"),
        ConditionError::Unexpected { .. }
    ));
    assert!(matches!(
        error("assist & isGroup"),
        ConditionError::Unexpected { .. }
    ));
    assert!(matches!(
        error("mode == \"open"),
        ConditionError::Ends { .. }
    ));
    assert_eq!(error(&"!".repeat(999)), ConditionError::TooDeep);
    assert_eq!(error(&"(".repeat(999)), ConditionError::TooDeep);
    assert_eq!(error(&"a".repeat(1001)), ConditionError::TooLong);
}

proptest::proptest! {
    #[test]
    fn never_panics(text in r#"[a-z!&|=<>().'" é0-9]{0,60}"#) {
        let _ = parse(&text, &|name| name == "a");
    }
}
