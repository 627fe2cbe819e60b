use super::*;
use crate::sampling::{SamplerOrder, TokenRules};

#[test]
fn every_default_is_valid() {
    for setting in SETTINGS {
        assert_eq!(
            setting.kind.check(setting.default.clone()).as_ref(),
            Ok(&setting.default),
            "{}",
            setting.key
        );
        assert!(
            setting.scopes.contains(&Scope::Global),
            "{} has no global layer",
            setting.key
        );
    }
}

#[test]
fn keys_are_unique_and_name_their_variables() {
    let mut keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), SETTINGS.len());
    assert_eq!(
        setting("context_limit").unwrap().variable(),
        "INGLENOOK_CONTEXT_LIMIT"
    );
}

#[test]
fn built_in_defaults_are_pinned() {
    let built_in = Values::default();
    assert_eq!(
        (built_in.context_limit, built_in.message_ceiling),
        (None, None)
    );
    assert_eq!(
        (
            built_in.min_tail_messages,
            built_in.remind_every_messages,
            built_in.eager_load_tokens
        ),
        (10, 6, 3_000)
    );
    assert_eq!(
        (built_in.placement, built_in.start_mode),
        (PlacementMode::CacheFirst, StartMode::Character)
    );
    assert!(built_in.show_streaming && !built_in.show_thoughts);
    assert_eq!(built_in.sampling(7).temperature, 0.8);
    assert_eq!(built_in.sampling(7).order, SamplerOrder::default());
    assert_eq!(built_in.sampling(7).rules, TokenRules::default());
    assert_eq!(built_in.sampling(7).dry.breakers, ["\n", ":", "\"", "*"]);
    assert_eq!(
        (
            built_in.sampling(7).seed,
            Values {
                seed: Some(3),
                ..built_in
            }
            .sampling(7)
            .seed
        ),
        (7, 3)
    );
}
