//! Encryption of a data folder: its keys, its database files, and the conversion of a whole folder.

pub(crate) mod cipher;
pub(crate) mod conversion;
pub(crate) mod folder_keys;
pub(crate) mod folder_protection;
