//! Sender of a request.

use crate::shares::Holder;

/// Sender of a request.
pub(crate) enum Caller {
    /// The request shows nothing.
    Nobody,
    /// It shows the server's own token.
    Owner,
    /// It shows a valid key of the local API.
    Key {
        secret: String,
        /// Name of the key.
        name: String,
    },
}

impl Caller {
    /// The one whose places the request takes; `None` if the request shows nothing.
    pub(crate) fn holder(&self) -> Option<Holder> {
        match self {
            Self::Nobody => None,
            Self::Owner => Some(Holder::Owner),
            Self::Key { name, .. } => Some(Holder::Key(name.clone())),
        }
    }
}
