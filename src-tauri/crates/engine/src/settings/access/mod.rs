//! Access by other programs: the server of the local API and its keys.

pub(crate) mod api_keys;
pub(crate) mod api_server;
pub(crate) mod local_api;

use std::sync::Arc;

use crate::base::handle::Base;
use crate::settings::access::api_server::ApiServer;
use crate::settings::app_settings::AppSettings;

/// The local API and its keys. Clones share one state.
#[derive(Clone)]
pub(crate) struct Access {
    base: Base,
    app_settings: AppSettings,
    server: Arc<ApiServer>,
}

impl Access {
    pub(super) fn new(base: &Base, app_settings: &AppSettings) -> Self {
        Self {
            base: base.clone(),
            app_settings: app_settings.clone(),
            server: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn api_server(&self) -> &ApiServer {
        &self.server
    }
}
