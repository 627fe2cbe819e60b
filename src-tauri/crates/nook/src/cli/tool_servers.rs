//! Arguments of `tool-servers`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use engine::api::ServerToolGrant;

#[derive(Debug, Subcommand)]
pub(crate) enum ToolServerVerb {
    /// List the tool servers
    List,
    /// Add a tool server; it is switched off
    Add(ToolServerArgs),
    /// Add the servers of a JSON text with "mcpServers", as documentation and other apps use it;
    /// all are switched off
    Paste {
        /// The file; - reads stdin
        file: PathBuf,
    },
    /// Switch a tool server on and list its tools
    On {
        /// Name or id
        name: String,
    },
    /// Switch a tool server off
    Off {
        /// Name or id
        name: String,
    },
    /// Start a tool server and list its tools and resources
    Test {
        /// Name or id
        name: String,
    },
    /// List the tools of a server with the permissions for them
    Tools {
        /// Name or id
        name: String,
    },
    /// Decide about the calls of a tool in all chats
    Grant {
        /// Name or id of the server
        name: String,
        tool: String,
        grant: GrantArg,
    },
    /// Call a tool of a server that is on
    Call {
        /// Name or id of the server
        name: String,
        tool: String,
        /// A JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Print a resource of a server that is on
    Read {
        /// Name or id of the server
        name: String,
        uri: String,
    },
    /// Remove a tool server with its values and permissions
    Remove {
        /// Name or id
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolServerArgs {
    pub(crate) name: String,
    /// Address of a server that is not started by the app (streamable HTTP)
    #[arg(long, required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// A file with one variable or header per line, such as API_KEY=abc; - reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) values_from: Option<PathBuf>,
    /// The program and its arguments, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GrantArg {
    /// Ask each time
    Ask,
    /// Always allow
    Always,
    /// Never allow
    Never,
}

impl From<GrantArg> for ServerToolGrant {
    fn from(grant: GrantArg) -> Self {
        match grant {
            GrantArg::Ask => Self::Ask,
            GrantArg::Always => Self::Always,
            GrantArg::Never => Self::Never,
        }
    }
}
