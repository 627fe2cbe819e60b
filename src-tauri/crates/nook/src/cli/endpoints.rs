//! `nook endpoints`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum EndpointVerb {
    /// List the endpoints
    List,
    /// List known services and servers, with their addresses
    Services,
    /// Add an endpoint
    Add(EndpointArgs),
    /// List the models of an endpoint
    Models {
        /// Name or id
        name: String,
    },
    /// Test an endpoint and store its list of models
    Test {
        /// Name or id
        name: String,
    },
    /// Use an endpoint by default, for chats without their own model
    Default {
        /// Name or id; NAME/MODEL for a model other than its default
        name: String,
    },
    /// Remove an endpoint and its key
    Remove {
        /// Name or id
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EndpointArgs {
    /// Display name [default: the service's name or the address]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Base address, such as http://127.0.0.1:8080/v1
    #[arg(long, required_unless_present = "service")]
    pub(crate) url: Option<String>,
    /// A known service; `endpoints services` lists them
    #[arg(long)]
    pub(crate) service: Option<String>,
    /// The API of the server [default: by the address]
    #[arg(long, value_name = "API", value_parser = ["openai", "text", "anthropic", "gemini", "ollama"])]
    pub(crate) api: Option<String>,
    /// The default model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Context size of the model in tokens
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub(crate) context: u32,
    /// A file with the API key; - reads it from stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) key_from: Option<PathBuf>,
    /// A file with one header per line, such as X-Team: lamps
    #[arg(long, value_name = "FILE")]
    pub(crate) headers_from: Option<PathBuf>,
}
