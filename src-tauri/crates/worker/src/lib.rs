//! The inference worker and its frame protocol.
