//! Manifests, archives and installations on temporary folders, with keys that are made here.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod archives;
mod installing;
mod manifests;
mod signer;
mod world;
