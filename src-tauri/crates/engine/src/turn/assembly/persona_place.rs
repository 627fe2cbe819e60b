//! Puts the description of a persona where the persona wants it in the prompt.

use context::prompt_template::{ComposedSection, SectionKind, SectionPlacement, SectionRole};
use domain::persona::{PersonaPlace, PersonaPosition};
use domain::prompt::PromptRole;

/// Sections that show fields of the card.
const CARD: [SectionKind; 3] = [
    SectionKind::Description,
    SectionKind::Personality,
    SectionKind::Scenario,
];

/// Moves, removes or leaves the sections with the persona's description. Only sections in the head
/// as system text are meant: an introduction in the user's words stays.
pub(crate) fn apply(sections: &mut Vec<ComposedSection>, place: PersonaPlace) {
    match place.position {
        PersonaPosition::Template => {}
        PersonaPosition::Absent => sections.retain(|section| !describes(section)),
        PersonaPosition::AfterCard => {
            let (about, mut others): (Vec<_>, Vec<_>) = sections.drain(..).partition(describes);
            let at = others.iter().rposition(of_card).map_or(0, |last| last + 1);
            others.splice(at..at, about);
            *sections = others;
        }
        PersonaPosition::InChat => {
            for section in sections.iter_mut().filter(|section| describes(section)) {
                section.placement = SectionPlacement::InChat;
                section.depth = place.depth;
                section.role = match place.role {
                    PromptRole::System => SectionRole::System,
                    PromptRole::User => SectionRole::User,
                    PromptRole::Character => SectionRole::Assistant,
                };
            }
        }
    }
}

fn describes(section: &ComposedSection) -> bool {
    in_head(section) && section.kind == SectionKind::Persona && section.role == SectionRole::System
}

fn of_card(section: &ComposedSection) -> bool {
    in_head(section) && CARD.contains(&section.kind) && section.role == SectionRole::System
}

fn in_head(section: &ComposedSection) -> bool {
    section.placement == SectionPlacement::Head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, kind: SectionKind) -> ComposedSection {
        ComposedSection {
            name: name.into(),
            role: SectionRole::System,
            kind,
            placement: SectionPlacement::Head,
            depth: 0,
            injection_order: None,
            text: name.into(),
            written: name.into(),
            original: None,
            variables: Vec::new(),
        }
    }

    fn placed(position: PersonaPosition) -> Vec<ComposedSection> {
        let mut introduction = section("introduction", SectionKind::Persona);
        introduction.role = SectionRole::User;
        let mut sections = vec![
            section("rules", SectionKind::Rules),
            section("persona", SectionKind::Persona),
            section("description", SectionKind::Description),
            section("scenario", SectionKind::Scenario),
            section("examples", SectionKind::Examples),
            introduction,
        ];
        apply(
            &mut sections,
            PersonaPlace {
                position,
                depth: 3,
                role: PromptRole::User,
            },
        );
        sections
    }

    fn names(sections: &[ComposedSection]) -> Vec<&str> {
        sections
            .iter()
            .map(|section| section.name.as_str())
            .collect()
    }

    #[test]
    fn description_moves_after_the_card() {
        let sections = placed(PersonaPosition::AfterCard);
        let expected = [
            "rules",
            "description",
            "scenario",
            "persona",
            "examples",
            "introduction",
        ];
        assert_eq!(names(&sections), expected);
    }

    #[test]
    fn absent_description_leaves_the_introduction() {
        let sections = placed(PersonaPosition::Absent);
        assert_eq!(
            names(&sections),
            [
                "rules",
                "description",
                "scenario",
                "examples",
                "introduction"
            ]
        );
    }

    #[test]
    fn description_in_chat_has_depth_and_role() {
        let sections = placed(PersonaPosition::InChat);
        let persona = &sections[1];
        assert_eq!(
            (persona.placement, persona.depth),
            (SectionPlacement::InChat, 3)
        );
        assert_eq!(persona.role, SectionRole::User);
    }

    #[test]
    fn template_decides_by_default() {
        assert_eq!(names(&placed(PersonaPosition::Template))[1], "persona");
    }
}
