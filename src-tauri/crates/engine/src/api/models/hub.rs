//! The model hub, downloads and moves.

use domain::ModelId;
pub use local::GraphicsFit;
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::Fits;

/// The model hub and the folders of model files. The token is never shown again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HubSettings {
    pub address: String,
    /// An environment variable sets the address, so it cannot be changed here.
    pub address_is_fixed: bool,
    pub has_token: bool,
    /// The token is kept only until the app ends, because this machine has no keychain.
    pub token_is_for_session: bool,
    /// Folders whose model files are in the library.
    pub folders: Vec<String>,
    /// The folder that receives downloads.
    pub download_folder: String,
}

/// A model of the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HubModel {
    /// Owner and name, such as `Qwen/Qwen3-4B-GGUF`.
    pub repo: String,
    #[specta(type = f64)]
    pub downloads: u64,
    #[specta(type = f64)]
    pub likes: u64,
    /// The authors ask users to accept their terms on the model's page before the download.
    pub gated: bool,
    /// Identifier such as `apache-2.0`; `null` if the authors state no licence.
    pub licence: Option<String>,
    /// Language codes, such as `en`.
    pub languages: Vec<String>,
    /// Date of the last change, `YYYY-MM-DD`.
    pub updated: Option<String>,
    /// The model's page, for a browser.
    pub page: String,
}

/// One page of a search on the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HubSearch {
    pub models: Vec<HubModel>,
    /// Cursor of the next page; `null` on the last one.
    pub next: Option<String>,
}

/// A model file of the hub, or all parts of a split one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HubFile {
    /// Path of the first part inside the repository. It identifies the file.
    pub path: String,
    pub parts: u32,
    /// Size of all parts; `null` if the hub does not state it.
    #[specta(type = Option<f64>)]
    pub bytes: Option<u64>,
    /// SHA-256 of the first part, as the hub states it.
    pub sha256: Option<String>,
    /// Quantisation from the name, such as `Q4_K_M`.
    pub quantisation: Option<String>,
    /// A guess from the size; `hub_fit` reads the file's header. `null` without a size.
    pub fits: Option<Fits>,
    /// The same file is in the library.
    pub installed: bool,
}

/// A model of the hub with its files, smallest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HubRepository {
    pub model: HubModel,
    pub files: Vec<HubFile>,
    /// Files that let the model read pictures (mmproj).
    pub projectors: Vec<HubFile>,
    /// Path of the file that suits this machine best; `null` if none is known to fit.
    pub recommended: Option<String>,
}

/// Memory that a model needs, in bytes, next to the memory of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FitReport {
    pub fits: Fits,
    #[specta(type = f64)]
    pub weights: u64,
    /// KV cache at `context`; 0 if the header lacks the figures.
    #[specta(type = f64)]
    pub cache: u64,
    /// Compute buffers, by a rule of thumb.
    #[specta(type = f64)]
    pub working: u64,
    #[specta(type = f64)]
    pub needed: u64,
    /// Memory that is available now, with that of discrete graphics devices; `null` if the system
    /// does not say.
    #[specta(type = Option<f64>)]
    pub available: Option<u64>,
    /// The part that graphics devices would compute; `null` without one.
    pub graphics: Option<GraphicsFit>,
    /// Context in tokens that the figures are for.
    pub context: u32,
    /// Context in tokens that the model was trained for.
    pub trained_context: u32,
    /// The largest context in tokens that fits; `null` if unknown.
    pub largest_context: Option<u32>,
    pub architecture: String,
    #[specta(type = f64)]
    pub parameters: u64,
    /// The file contains a chat template.
    pub has_template: bool,
    /// Expected speed in words of English text, rounded to two digits; `null` until the memory of
    /// this machine is measured.
    pub words_per_minute: Option<u32>,
}

/// A model of the catalogue that comes with the app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedModel {
    pub id: String,
    pub name: String,
    pub repo: String,
    /// Number of weights, in billions.
    pub billions: f64,
    /// Those of them that compute each token, in billions; `null` unless the model is a mixture of
    /// experts.
    pub active_billions: Option<f64>,
    pub licence: String,
    pub licence_url: String,
    /// The licence has conditions beyond naming the authors.
    pub has_terms: bool,
    pub languages: Vec<String>,
    /// Its strengths, as names of screen texts.
    pub good_at: Vec<String>,
    /// Notes on its chat template, as names of screen texts.
    pub notes: Vec<String>,
    /// Quantisation to download.
    pub quantisation: String,
    /// Estimated size of the download. The hub states the true one.
    #[specta(type = f64)]
    pub bytes: u64,
    pub fits: Fits,
    /// Expected tokens per second on this machine; `null` until its memory is measured.
    pub tokens_per_second: Option<f64>,
    /// The same as words of English text, rounded to two digits.
    pub words_per_minute: Option<u32>,
    /// Replies of this model were measured. Otherwise the speed is an estimate.
    pub speed_is_measured: bool,
    /// It writes about as fast as people read.
    pub is_quick: bool,
    /// The one that writes best among those that fit and are quick. If none is quick, it is the
    /// fastest that fits.
    pub best: bool,
    /// A file of its repository is in the library.
    pub installed: bool,
    pub page: String,
}

/// How fast a model of the library writes on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelSpeed {
    /// Id of the model.
    pub model: ModelId,
    pub tokens_per_second: f64,
    /// The same as words of English text, rounded to two digits.
    pub words_per_minute: u32,
    /// Replies of this model were measured. Otherwise the speed is an estimate.
    pub is_measured: bool,
}

/// State of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum DownloadState {
    /// Another download goes first.
    Queued,
    Running,
    /// It failed and is tried again soon.
    Waiting,
    /// Complete; its checksum is compared.
    Checking,
    Paused,
    /// It needs the user; `reason` says why.
    Failed,
}

/// A download of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Download {
    pub id: String,
    pub repo: String,
    /// Name of the file on this machine.
    pub file: String,
    pub licence: Option<String>,
    pub state: DownloadState,
    /// Bytes of all parts so far.
    #[specta(type = f64)]
    pub done: u64,
    #[specta(type = Option<f64>)]
    pub total: Option<u64>,
    /// Bytes per second; `null` while nothing arrives.
    #[specta(type = Option<f64>)]
    pub speed: Option<u64>,
    pub seconds_left: Option<u32>,
    /// Why it waits or failed; empty otherwise.
    pub reason: String,
    /// A way to go on.
    pub hint: String,
    /// Seconds until the next try.
    pub retry_in: Option<u32>,
    /// The model becomes the default afterwards.
    pub makes_default: bool,
}

/// Model files of another app on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct OtherAppModels {
    /// Name of the app, such as `Ollama`.
    pub app: String,
    pub folder: String,
    /// Names of the models that are not in the library.
    pub models: Vec<String>,
    #[specta(type = f64)]
    pub bytes: u64,
}

/// Result of adding the models of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AddedModels {
    pub added: Vec<String>,
    /// Files that cannot be used, each with the reason.
    pub refused: Vec<String>,
}

/// State of the move of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum MoveState {
    /// Another move goes first, or the app was closed.
    Queued,
    Copying,
    /// The checksum of the copy is compared.
    Checking,
    /// The model uses its new file. The old one is deleted once its reply has ended.
    Finishing,
    /// It needs the user; `reason` says why.
    Failed,
}

/// A model whose files are on the way to another folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelMove {
    /// Id of the model.
    pub model: ModelId,
    pub name: String,
    /// The model folder that it goes to.
    pub folder: String,
    pub state: MoveState,
    /// Bytes that are copied or compared.
    #[specta(type = f64)]
    pub done: u64,
    #[specta(type = f64)]
    pub total: u64,
    /// Why it failed; empty otherwise.
    pub reason: String,
    /// A way to go on.
    pub hint: String,
}
