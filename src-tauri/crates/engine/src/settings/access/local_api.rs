//! The local API as the settings page shows it: the switch, the port, and the server of the front
//! end.

use crate::api::{ApiServerState, Changed, LocalApi, LocalApiSettings};
use crate::base::error::{ApiResult, bad_input};
use crate::settings::access::Access;

impl Access {
    pub(crate) async fn local_api(&self) -> ApiResult<LocalApi> {
        Ok(described(
            self.app_settings.settings().local_api,
            self.api_server().get(),
        ))
    }

    pub(crate) fn set_api_server(&self, state: ApiServerState) {
        if self.api_server().set(state) {
            self.base().events().changed(Changed::Settings, None);
        }
    }
}

/// # Errors
/// `BadInput` for port 0, which would mean another port at every start.
pub(crate) fn check(settings: LocalApiSettings) -> ApiResult<()> {
    match settings.port {
        0 => Err(bad_input(
            "The port is not valid.",
            "Enter a number from 1 to 65535.",
        )),
        _ => Ok(()),
    }
}

fn described(settings: LocalApiSettings, server: ApiServerState) -> LocalApi {
    let off = LocalApi {
        settings,
        address: None,
        fixed_port: false,
        always_on: false,
        failure: None,
    };
    match server {
        ApiServerState::Stopped => off,
        ApiServerState::Following { address } => LocalApi {
            address: Some(address),
            ..off
        },
        ApiServerState::Fixed { address, always } => LocalApi {
            address: (always || settings.enabled).then_some(address),
            fixed_port: true,
            always_on: always,
            ..off
        },
        ApiServerState::Failed(failure) => LocalApi {
            failure: Some(failure),
            ..off
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_server_offers_the_api_only_if_switched_on() {
        let off = LocalApiSettings::default();
        let on = LocalApiSettings {
            enabled: true,
            ..Default::default()
        };
        let fixed = |always| ApiServerState::Fixed {
            address: "http://127.0.0.1:9".into(),
            always,
        };
        assert_eq!(described(off, fixed(false)).address, None);
        assert!(described(on, fixed(false)).address.is_some());
        assert!(described(off, fixed(true)).address.is_some());
    }
}
