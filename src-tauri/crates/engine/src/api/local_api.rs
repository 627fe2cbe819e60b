/// What a key of the local API may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiGrant {
    /// Name of the key.
    pub name: String,
    /// Ids of the characters that it may use; `None` allows all.
    pub characters: Option<Vec<String>>,
    /// It may use models without a character.
    pub raw_models: bool,
    /// Its requests store nothing.
    pub read_only: bool,
}
