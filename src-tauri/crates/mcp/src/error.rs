//! Errors of servers: what happened, why, and what to do.

/// A server could not be started, reached or used. Texts of the server in it are cleaned and cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error("the program {program} was not found")]
    ProgramNotFound { program: String },
    #[error("the program {program} could not be started: {reason}")]
    NotStarted { program: String, reason: String },
    #[error("the address {url} is not valid: {reason}")]
    BadAddress { url: String, reason: &'static str },
    #[error("the header {name} cannot be sent")]
    BadHeader { name: String },
    #[error("the server at {host} cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    #[error("the server at {host} wants a sign-in or another key")]
    Unauthorized { host: String },
    /// The server sends people to a website to sign in (OAuth).
    #[error("the server at {host} wants you to sign in on a website, which Inglenook cannot do")]
    SignIn { host: String },
    #[error("the server at {host} answered with status {status}")]
    Status { host: String, status: u16 },
    #[error("the server at {host} no longer knows the session")]
    SessionGone { host: String },
    #[error("the server ended{}", because(.stderr))]
    Ended {
        /// The end of its error output, or its exit status.
        stderr: String,
    },
    #[error("the server did not answer within {seconds} seconds{}", because(.stderr))]
    Timeout { seconds: u64, stderr: String },
    #[error("the server sent more than {megabytes} MB {}", if *.one_message { "in one message" } else { "for one request" })]
    TooMuch { megabytes: usize, one_message: bool },
    /// The server answered a request with an error. For a tool call, the text is for the model.
    #[error("the server refused the request: {message}")]
    Refused { message: String },
    #[error("the server does not follow the protocol{}", because(.detail))]
    Protocol { detail: String },
    #[error(
        "the server ended {deaths} times within a few minutes, and may start again in {seconds} seconds"
    )]
    TooManyDeaths { deaths: usize, seconds: u64 },
    #[error("the request was cancelled")]
    Cancelled,
}

impl McpError {
    /// A hint for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ProgramNotFound { .. } => {
                "Install the program that runs the server, or enter its full path. Servers from npm need Node.js."
            }
            Self::NotStarted { .. } => "Check that the file may be run, or enter another command.",
            Self::BadAddress { .. } => {
                "Enter an https address, or an http address of this machine or your network."
            }
            Self::BadHeader { .. } => "Correct the header or remove it.",
            Self::Unreachable { .. } => "Check the address, and that the server is running.",
            Self::Unauthorized { .. } => "Add a header with your key, for example Authorization.",
            Self::SignIn { .. } => {
                "Make an access token on the website of the service. Add it as the header Authorization, with the value \
                 Bearer and the token."
            }
            Self::Status { .. } => {
                "Check the address. Servers that only offer the older SSE transport are not supported."
            }
            Self::SessionGone { .. } => {
                "Try again. If it happens again, test the server in the settings."
            }
            Self::Ended { .. } => "Check the command, its arguments and its variables.",
            Self::Timeout { .. } => {
                "Try again. The first start can take long if the program is still being downloaded."
            }
            Self::TooMuch { .. } => "Ask for less, or remove the server.",
            Self::Refused { .. } => "Check the arguments.",
            Self::Protocol { .. } => {
                "Check that the command starts a tool server (MCP), or update the server."
            }
            Self::TooManyDeaths { .. } => {
                "Check the command and its variables, then test the server."
            }
            Self::Cancelled => "Try again.",
        }
    }

    /// Whether the server has refused the request before it ran, because it no longer knows the
    /// session. Servers report that with different statuses. 429 asks to wait, and a request may
    /// have run before a 5xx.
    pub(crate) fn may_be_lost_session(&self) -> bool {
        match self {
            Self::SessionGone { .. } | Self::Unauthorized { .. } => true,
            Self::Status { status, .. } => (400..500).contains(status) && *status != 429,
            _ => false,
        }
    }

    /// Whether the server failed as such, and not one request.
    pub fn is_death(&self) -> bool {
        !matches!(
            self,
            Self::Refused { .. } | Self::Cancelled | Self::TooManyDeaths { .. }
        )
    }
}

fn because(detail: &str) -> String {
    if detail.is_empty() {
        String::new()
    } else {
        format!(": {detail}")
    }
}
