//! Imports a SillyTavern folder.

pub(crate) mod folder;
pub(crate) mod folder_settings;
pub(crate) mod group_file;
pub(crate) mod groups;
pub(crate) mod persona_backup;
pub(crate) mod persona_details;
pub(crate) mod pictures;
pub(crate) mod presets_in_use;
pub(crate) mod settings;
pub(crate) mod shipped_presets;
pub(crate) mod tag_folders;
pub(crate) mod tags;
pub(crate) mod whole_folder;
pub(crate) mod worlds;
