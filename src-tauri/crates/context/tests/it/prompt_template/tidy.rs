//! Built-in templates leave no gaps for any combination of values.

use super::*;

/// Checks [`assert_no_gaps`], and that no sentence lacks a word because a variable is empty.
#[track_caller]
fn assert_tidy(composed: &Composed) {
    assert_no_gaps(composed);
    for line in composed
        .sections
        .iter()
        .flat_map(|section| section.text.lines())
    {
        if let Some(fault) = lacks_a_word(line) {
            panic!("{fault}: {line}");
        }
    }
}

/// Detects a missing word in a line.
fn lacks_a_word(line: &str) -> Option<&'static str> {
    const JOINING: [&str; 7] = ["and", "or", "nor", "with", "of", "to", "for"];
    if line.trim().contains("  ") {
        return Some("a double blank");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if words
        .iter()
        .any(|word| word.starts_with(['.', ',', ';', ':', '\'', '?']))
    {
        return Some("a mark after nothing");
    }
    let joining = |word: &str| JOINING.contains(&word);
    let dangles = words
        .windows(2)
        .any(|pair| joining(pair[0]) && ["and", "or"].contains(&pair[1]));
    let ends = words
        .last()
        .is_some_and(|last| joining(last.trim_end_matches(['.', ',', ';', ':', '!', '?'])));
    (dangles || ends).then_some("a conjunction that joins nothing")
}

#[test]
fn detects_missing_words() {
    for faulty in [
        "This is a scene with  and Traveller.",
        "This is a scene with and Traveller.",
        "This is a scene with Mira and .",
        "You are Mira, talking with.",
        "You are , talking with Tom.",
        "It is 's turn to speak.",
    ] {
        assert!(lacks_a_word(faulty).is_some(), "{faulty}");
    }
    for whole in [
        "This is a scene with Mira, Ada and Tom.",
        "1. Say what it looks, sounds and smells like: salt.",
        "- of it",
    ] {
        assert_eq!(lacks_a_word(whole), None, "{whole}");
    }
}

/// Checks for gaps in numbering, headings without text, repeated blank lines, and unresolved
/// variables.
#[track_caller]
fn assert_no_gaps(composed: &Composed) {
    for section in &composed.sections {
        let text = &section.text;
        assert!(
            !text.trim().is_empty() && text.trim() == text,
            "{section:?}"
        );
        assert!(!text.contains("\n\n\n") && !text.contains("()"), "{text}");
        assert!(
            !text.lines().last().unwrap().ends_with(':'),
            "a label alone: {text}"
        );
        let unresolved = text.replace("${image.", "").replace("${audio.", "");
        assert!(!unresolved.contains("${"), "{text}");
        let numbers: Vec<usize> = text
            .lines()
            .filter_map(|line| line.split_once(". ")?.0.parse().ok())
            .collect();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>(), "{text}");
    }
}

fn named() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text("persona.name", "Tom")
}

#[test]
fn built_in_templates_are_tidy_for_all_flags() {
    let library = built_in().unwrap();
    for one in library.iter() {
        let template = shipped(&one.id);
        let asked = serde_json::to_string(&[
            Some(one),
            one.extends.as_ref().and_then(|id| library.get(id)),
        ])
        .unwrap();
        let all: Vec<_> = Flag::ALL
            .into_iter()
            .filter(|flag| asked.contains(flag.name()))
            .collect();
        // In real prompts both names are always present.
        for (given, check) in [
            (Given::default(), assert_no_gaps as fn(&Composed)),
            (named(), assert_tidy),
            (full(), assert_tidy),
        ] {
            let variables = TemplateVariables::resolve(given).unwrap();
            for mask in 0..1_u32 << all.len() {
                let on = all
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| mask >> bit & 1 == 1)
                    .map(|(_, flag)| *flag);
                check(&compose(&template, &variables, &TemplateFlags::only(on)).unwrap());
            }
        }
    }
}

proptest! {
    /// Any subset of variables gives a tidy result.
    #[test]
    fn any_subset_of_variables_is_tidy(keep in prop::collection::vec(any::<bool>(), 40), switches in 0..16_usize) {
        let all: Vec<_> = context::prompt_template::reference().into_iter()
            .filter(|doc| doc.source == context::prompt_template::VariableSource::Given).collect();
        let mut given = named();
        for (at, doc) in all.iter().enumerate().filter(|(at, _)| keep[at % keep.len()] || at % 7 == 0) {
            let text = format!("value {at}");
            given = if doc.list { given.list(doc.name, [text]) } else { given.text(doc.name, text) };
        }
        let switches: Vec<_> = (0..4).filter(|bit| switches >> bit & 1 == 1).map(|bit| Flag::SWITCHES[bit]).collect();
        for template in built_in().unwrap().iter().map(|one| shipped(&one.id)) {
            assert_tidy(&of(&template, given.clone(), &switches));
        }
    }

    /// Any subset of rules is numbered from 1 without gaps.
    #[test]
    fn numbers_rules_without_gaps(on in prop::collection::vec(any::<bool>(), 1..20)) {
        let rules: Vec<_> = on.iter().map(|on| json!({"text": "Be kind.", "condition": if *on { "always" } else { "!always" }})).collect();
        let composed = of(&template(json!([{"name": "rules", "heading": "Rules:", "rules": rules}])), mira(), &[]);
        let expected: Vec<_> = (1..=on.iter().filter(|on| **on).count()).map(|n| format!("{n}. Be kind.")).collect();
        let text = composed.flow(SectionRole::System);
        let expected = if expected.is_empty() { String::new() } else { format!("Rules:\n{}", expected.join("\n")) };
        prop_assert_eq!(text, expected);
    }

    /// The order in the file has no effect.
    #[test]
    fn shuffled_sections_compose_the_same(keys in prop::collection::vec(any::<u32>(), 24)) {
        let library = built_in().unwrap();
        let mut template = library.get("base-roleplay").unwrap().clone();
        let expected = of(&resolve(&template, library).unwrap(), full(), &Flag::SWITCHES);
        let mut shuffled: Vec<_> = keys.into_iter().chain(0..).zip(template.sections).collect();
        shuffled.sort_by_key(|(key, _)| *key);
        template.sections = shuffled.into_iter().map(|(_, section)| section).collect();
        prop_assert_eq!(of(&resolve(&template, library).unwrap(), full(), &Flag::SWITCHES), expected);
    }

    /// Text by people is inserted unchanged and not parsed for variables.
    #[test]
    fn does_not_parse_text_by_people(description in "[${}a-z. ]{1,40}") {
        let composed = of(&shipped("base-roleplay"), mira().text("character.description", description.clone()), &[]);
        let section = composed.sections.iter().find(|section| section.name == "description");
        prop_assert_eq!(section.map(|section| section.text.as_str()).unwrap_or_default(), description.trim());
    }
}
