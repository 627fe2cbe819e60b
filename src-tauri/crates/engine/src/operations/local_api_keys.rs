//! Keys of the local API.

use crate::api::ApiGrant;
use crate::base::error::ApiResult;
use crate::operations::engine::Engine;

impl Engine {
    /// What the key `secret` may do; `None` if there is no such key.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn authorize_api(&self, _secret: &str) -> ApiResult<Option<ApiGrant>> {
        Ok(None)
    }
}
