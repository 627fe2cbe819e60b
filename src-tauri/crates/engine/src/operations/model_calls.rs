//! Calls about models, endpoints and tool servers that no page can make.

use std::path::PathBuf;

use domain::{EndpointId, ModelId, ToolArguments};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::api;
use crate::api::{LayeredSettings, ModelRef, SettingOwner};
use crate::base::error::ApiResult;
use crate::base::tool_source::ToolOutput;
use crate::operations::engine::Engine;
use crate::settings::counting::text_counts::TokenCount;
use crate::settings::tool_servers::OfferedServerTool;

impl Engine {
    /// Uses this `tokenizer.json` to count the tokens of an endpoint's model.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file is not a tokenizer. The endpoint does not change then.
    pub fn set_endpoint_tokenizer(
        &self,
        id: EndpointId,
        json: Vec<u8>,
    ) -> BoxFuture<'_, ApiResult<api::Endpoint>> {
        Box::pin(self.config.endpoints.set_endpoint_tokenizer(id, json))
    }

    /// Works like [`Engine::set_endpoint_tokenizer`], with a file on this machine.
    ///
    /// # Errors
    /// The same errors, and `BadInput` if the file cannot be read.
    pub fn set_endpoint_tokenizer_file(
        &self,
        id: EndpointId,
        path: PathBuf,
    ) -> BoxFuture<'_, ApiResult<api::Endpoint>> {
        Box::pin(self.config.endpoints.set_endpoint_tokenizer_file(id, path))
    }

    /// Downloads a GGUF file and adds it to the library. An interrupted download resumes. A file
    /// that is not a model, or does not match the checksum (SHA-256 in hexadecimal), is deleted.
    /// `progress` receives the bytes so far, and the total if the server states it.
    ///
    /// # Errors
    /// `BadInput` for an invalid address, a file that already exists, and a file that is not the
    /// expected model; `Provider` if the download fails; `Storage` if the file cannot be written.
    pub async fn get_model(
        &self,
        address: &str,
        sha256: Option<&str>,
        progress: impl Fn(u64, Option<u64>),
    ) -> ApiResult<api::Model> {
        self.config.hub.get_model(address, sha256, progress).await
    }

    /// Works like [`Engine::set_setting`], with the value as users enter it: `off`, `4096`, `0.8`.
    ///
    /// # Errors
    /// The errors of [`Engine::set_setting`].
    pub fn set_setting_in_words(
        &self,
        owner: SettingOwner,
        key: String,
        text: String,
    ) -> BoxFuture<'_, ApiResult<LayeredSettings>> {
        Box::pin(
            self.config
                .setting_edits
                .set_setting_in_words(owner, key, text),
        )
    }

    /// Adds a GGUF file, which stays in its folder. The first model becomes the default.
    ///
    /// # Errors
    /// `BadInput` if the file is not a chat model.
    pub fn add_model(&self, path: PathBuf) -> BoxFuture<'_, ApiResult<api::Model>> {
        Box::pin(self.config.models.add_model(path))
    }

    /// Adds the model files in a folder and its subfolders to the library, without copying them,
    /// and remembers the folder.
    ///
    /// # Errors
    /// `BadInput` if it is not a folder.
    pub fn add_model_folder(&self, folder: PathBuf) -> BoxFuture<'_, ApiResult<api::AddedModels>> {
        Box::pin(self.config.hub.add_model_folder(folder))
    }

    /// Resumes the downloads that ran when the app ended. For front ends that stay open.
    pub fn resume_interrupted_downloads(&self) {
        self.config.hub.resume_interrupted_downloads()
    }

    /// Goes on with the moves of models that ran when the app ended. For front ends that stay open.
    pub fn resume_interrupted_moves(&self) {
        self.config.model_moves.resume_interrupted_moves()
    }

    /// Returns the SHA-256 of a model's file, or of all its parts, as the library stores it.
    ///
    /// # Errors
    /// `Storage` if the file cannot be read.
    pub fn model_checksum(&self, path: PathBuf) -> BoxFuture<'_, ApiResult<String>> {
        Box::pin(self.config.models.model_checksum(path))
    }

    /// Loads a model with one more adapter (LoRA) from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file is not an adapter for this model, or if there are too
    /// many.
    pub fn add_model_adapter(
        &self,
        id: ModelId,
        path: PathBuf,
    ) -> BoxFuture<'_, ApiResult<api::ModelState>> {
        Box::pin(self.config.models.add_model_adapter(id, path))
    }

    /// Uses the embedding model in a file from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `BadInput` if it is not an embedding model that works here.
    pub fn choose_embedding_model(
        &self,
        path: PathBuf,
    ) -> BoxFuture<'_, ApiResult<api::EmbeddingModel>> {
        Box::pin(self.recall.choose_embedding_model(path))
    }

    /// Lets a model read pictures with this file (mmproj) from now on. The file stays in its
    /// folder.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the file reads no pictures for this model.
    pub fn set_model_projector(
        &self,
        id: ModelId,
        path: PathBuf,
    ) -> BoxFuture<'_, ApiResult<api::ModelState>> {
        Box::pin(self.config.models.set_model_projector(id, path))
    }

    /// Counts the tokens of `text` with `model`, or else with the default model: exactly for local
    /// models, approximately for remote ones.
    ///
    /// # Errors
    /// `NoModel`; `Provider` if the model cannot be loaded.
    pub fn count_tokens(
        &self,
        model: Option<ModelRef>,
        text: String,
        ids: bool,
    ) -> BoxFuture<'_, ApiResult<TokenCount>> {
        Box::pin(self.config.counting.count_tokens(model, text, ids))
    }

    /// Uses the key for an endpoint until the app ends, without storing it.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the key cannot be sent.
    pub fn give_key(&self, endpoint: EndpointId, key: String) -> BoxFuture<'_, ApiResult<()>> {
        Box::pin(self.config.endpoints.give_key(endpoint, key))
    }

    /// Uses the access token for the model hub until the app ends, without storing it.
    ///
    /// # Errors
    /// `BadInput` if the token cannot be sent.
    pub fn give_hub_token(&self, token: &str) -> ApiResult<()> {
        self.config.hub.give_hub_token(token)
    }

    /// The tools of all tool servers that are switched on.
    ///
    /// # Errors
    /// `Storage`.
    pub fn server_tools(&self) -> BoxFuture<'_, ApiResult<Vec<OfferedServerTool>>> {
        Box::pin(self.config.tool_servers.server_tools())
    }

    /// Calls a tool of a tool server for the user, who needs no permission. Every failure is an
    /// answer.
    pub fn call_server_tool<'a>(
        &'a self,
        tool: &'a OfferedServerTool,
        arguments: &'a ToolArguments,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(
            self.config
                .tool_servers
                .call_server_tool(tool, arguments, cancel),
        )
    }

    /// Process id of the running worker, for tests and the health report.
    pub fn worker_pid(&self) -> BoxFuture<'_, Option<u32>> {
        Box::pin(self.config.models.worker_pid())
    }
}
