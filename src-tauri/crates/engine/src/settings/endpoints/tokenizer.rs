//! The `tokenizer.json` that the user chose for an endpoint's model, stored as an asset and cached
//! in memory.

use std::path::PathBuf;

use domain::EndpointId;
use provider::TokenizerJson;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::files::read_capped;
use crate::settings::endpoints::Endpoints;

impl Endpoints {
    /// Uses this `tokenizer.json` to count the tokens of an endpoint's model.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file is not a tokenizer. The endpoint does not change then.
    pub(crate) async fn set_endpoint_tokenizer(
        &self,
        id: EndpointId,
        json: Vec<u8>,
    ) -> ApiResult<api::Endpoint> {
        let endpoint = self.endpoint(id).await?;
        let parsed = tokio::task::spawn_blocking(move || (TokenizerJson::parse(&json), json));
        let (parsed, json) = parsed
            .await
            .map_err(|_| internal("a tokenizer.json could not be read"))?;
        let tokenizer = parsed.map_err(|error| refusal(&error.to_string()))?;
        let now = self.base().now();
        let hash = self
            .base()
            .store()
            .write(move |store| {
                let hash = store.assets_mut().put(&json, "application/json", now)?;
                store.endpoints_mut().set_tokenizer(id, Some(hash))?;
                Ok(hash)
            })
            .await?;
        self.token_counts
            .tokenizer_files()
            .put(hash, tokenizer)
            .await;
        self.base()
            .events()
            .changed(Changed::Endpoints, Some(id.to_string()));
        self.shown_endpoint(endpoint).await
    }

    /// Works like [`Self::set_endpoint_tokenizer`], with a file on this machine.
    ///
    /// # Errors
    /// The same errors, and `BadInput` if the file cannot be read.
    pub(crate) async fn set_endpoint_tokenizer_file(
        &self,
        id: EndpointId,
        path: PathBuf,
    ) -> ApiResult<api::Endpoint> {
        let read = tokio::task::spawn_blocking(move || {
            read_capped(&path, TokenizerJson::MAX_BYTES, "a tokenizer.json")
        });
        let json = read
            .await
            .map_err(|_| internal("a file could not be read"))?;
        self.set_endpoint_tokenizer(id, json.map_err(|(_, reason)| refusal(&reason))?)
            .await
    }

    pub(crate) async fn remove_endpoint_tokenizer(
        &self,
        id: EndpointId,
    ) -> ApiResult<api::Endpoint> {
        let endpoint = self.endpoint(id).await?;
        self.base()
            .store()
            .write(move |store| store.endpoints_mut().set_tokenizer(id, None))
            .await?;
        self.base()
            .events()
            .changed(Changed::Endpoints, Some(id.to_string()));
        self.shown_endpoint(endpoint).await
    }
}

fn refusal(reason: &str) -> api::ApiError {
    let hint =
        "Choose the tokenizer.json that is published with the model, for example on Hugging Face.";
    bad_input(format!("The tokenizer cannot be used: {reason}."), hint)
}
