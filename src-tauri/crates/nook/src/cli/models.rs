//! `nook models`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// List the models
    List,
    /// Add a GGUF file; it stays in its folder
    Add { file: PathBuf },
    /// Download a GGUF file from an https address into the data folder, and add it
    Get {
        url: String,
        /// Expected SHA-256 of the file
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Search the model hub
    Search {
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// Cursor of a further page, as the page before printed it
        #[arg(long, value_name = "CURSOR")]
        page: Option<String>,
    },
    /// List the files of a model on the hub: size, quantisation, fit, checksum
    Files {
        /// OWNER/NAME
        repo: String,
    },
    /// Report the memory that a file of the hub needs, before it is downloaded
    Fit {
        /// OWNER/NAME
        repo: String,
        /// Path or quantisation
        file: String,
        /// Context size in tokens
        #[arg(long, value_name = "N")]
        context: Option<u32>,
    },
    /// Download a model from the hub and add it; an interrupted download continues
    Download {
        /// OWNER/NAME, OWNER/NAME:QUANTISATION, the address of its page, or the id of a suggested
        /// model
        repo: String,
        /// Path or quantisation [default: the file that suits this machine]
        file: Option<String>,
        /// Also download the file that lets the model read pictures
        #[arg(long)]
        pictures: bool,
        /// Use the model by default afterwards
        #[arg(long)]
        default: bool,
        /// File with the access token of the hub, for this command; - reads stdin
        #[arg(long, value_name = "FILE")]
        token_from: Option<PathBuf>,
    },
    /// List the downloads that are not complete, or cancel one
    Downloads {
        #[arg(long, value_name = "ID")]
        cancel: Option<String>,
    },
    /// List models that suit this machine
    Suggest,
    /// List the folders of model files, or add or forget one
    #[command(group = clap::ArgGroup::new("folder").multiple(false))]
    Folders {
        /// Add the model files in a folder without copying them
        #[arg(long, value_name = "DIR", group = "folder")]
        add: Option<PathBuf>,
        /// Forget a folder; its models stay in the library
        #[arg(long, value_name = "DIR", group = "folder")]
        forget: Option<String>,
    },
    /// List other apps with model files on this machine, or add the models of one without copying
    /// them
    Apps { app: Option<String> },
    /// Show or change the address of the model hub, and its access token
    Hub {
        /// Address; an empty one restores the default
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// File with the access token; an empty file removes it
        #[arg(long, value_name = "FILE")]
        token_from: Option<PathBuf>,
    },
    /// Remove a model from the library; its file is kept
    Remove { name: String },
    /// Use a model by default, for chats without their own model
    Default { name: String },
    /// List the devices that can compute models
    Devices,
    /// Load a model with its own settings, and report where it is
    Load { name: String },
    /// Change how a model is loaded, such as `gpu_layers`, `kv_cache_type` or `context_limit`;
    /// `show settings` lists all keys
    Set {
        name: String,
        key: String,
        #[arg(required_unless_present = "reset")]
        value: Option<String>,
        /// Remove the value, so that the more general value applies
        #[arg(long, conflicts_with = "value")]
        reset: bool,
    },
    /// List the adapters (LoRA) of a model, or add, weigh or remove one
    Adapter {
        name: String,
        #[arg(required_if_eq("remove", "true"))]
        file: Option<PathBuf>,
        /// Factor of its effect, from 0 to 2
        #[arg(long, requires = "file")]
        weight: Option<f32>,
        /// Load the model without this adapter; its file is kept
        #[arg(long, conflicts_with = "weight")]
        remove: bool,
    },
    /// Show, choose or switch off the file with which a model reads pictures (mmproj)
    Pictures {
        name: String,
        file: Option<PathBuf>,
        /// Read no pictures
        #[arg(long, conflicts_with = "file")]
        none: bool,
        /// Use the file in the model's folder
        #[arg(long, conflicts_with_all = ["file", "none"])]
        auto: bool,
    },
    /// Move the files of a model to another model folder, and compare their checksums
    #[command(group = clap::ArgGroup::new("what").required(true))]
    Move {
        #[arg(group = "what")]
        name: Option<String>,
        /// Move all models of this folder
        #[arg(long, value_name = "DIR", group = "what")]
        all_from: Option<String>,
        /// A model folder; an empty one is the folder inside the data folder
        #[arg(long, value_name = "DIR")]
        to: String,
    },
    /// List the moves that are not complete, or cancel one
    Moves {
        /// The model
        #[arg(long, value_name = "NAME")]
        cancel: Option<String>,
    },
    /// Show the model for search by meaning, or choose another embedding model
    Embedding {
        /// GGUF file of an embedding model; it stays in its folder
        file: Option<PathBuf>,
        /// Use the one that comes with the app
        #[arg(long, conflicts_with = "file")]
        bundled: bool,
    },
    /// Measure the speed of a model for about ten seconds, and keep the fastest settings
    Speed { name: String },
    /// Verify every model file against its stored checksum
    Check,
    /// Count the tokens of a remote model with its own tokenizer.json
    Tokenizer {
        /// The endpoint: name or id
        endpoint: String,
        #[arg(required_unless_present = "remove")]
        file: Option<PathBuf>,
        /// Remove the tokenizer and count with a matching encoding or an estimate again
        #[arg(long, conflicts_with = "file")]
        remove: bool,
    },
}
