//! Settings that environment variables override.

use std::collections::BTreeMap;

use domain::settings::{ENVIRONMENT_PREFIX, IgnoredValue, Layer};

/// The variables of this process that may override settings, for [`crate::Options::environment`].
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX))
        .collect()
}

/// Address of the model hub, instead of the one in the settings.
const HUB: &str = "INGLENOOK_HUB";

/// The settings layer of the environment, read once at startup.
#[derive(Default)]
pub(crate) struct Environment {
    pub(crate) layer: Layer,
    pub(crate) problems: Vec<IgnoredValue>,
    pub(crate) hub: Option<String>,
}

impl Environment {
    pub(crate) fn read(variables: &BTreeMap<String, String>) -> Self {
        let hub = variables
            .get(HUB)
            .map(|address| address.trim().to_owned())
            .filter(|address| !address.is_empty());
        let variables = variables
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()));
        let (layer, problems) = Layer::from_environment(variables);
        for problem in &problems {
            tracing::warn!(%problem, "an environment variable has an invalid value and is ignored");
        }
        Self {
            layer,
            problems,
            hub,
        }
    }
}
