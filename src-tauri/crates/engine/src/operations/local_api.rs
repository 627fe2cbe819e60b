//! Calls of the servers of the local API.

use crate::api::{ApiGrant, ApiServerState};
use crate::base::error::ApiResult;
use crate::operations::engine::Engine;

impl Engine {
    /// What the holder of `secret` may do; `None` if it is no valid key of the local API.
    ///
    /// # Errors
    /// `Storage` if the keys cannot be read.
    pub async fn authorize_api(&self, secret: &str) -> ApiResult<Option<ApiGrant>> {
        self.config.authorize_api(secret).await
    }

    /// Reports the server that this front end runs for the local API, so that the settings page can show it.
    pub fn set_api_server(&self, state: ApiServerState) {
        self.config.set_api_server(state)
    }
}
