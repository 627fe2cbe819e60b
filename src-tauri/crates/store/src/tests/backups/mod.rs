//! Backups, restores and archives.

mod archive_files;
mod backup_kills;
mod copies;
mod forgotten;
mod second_place;
