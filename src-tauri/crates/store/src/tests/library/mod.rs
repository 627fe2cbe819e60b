//! Characters, lorebooks, documents, groups, assets and the trash.

mod assets;
mod characters;
mod document_owners;
mod documents;
mod forgetting;
mod group_leads;
mod groups;
mod item_searching;
mod listings;
mod lorebooks;
mod private_characters;
mod purging;
mod sources;
mod trash;
