//! Backups, restores and archives.

mod archive_files;
mod backup_kills;
mod copies;
mod second_place;
