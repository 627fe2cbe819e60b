//! Vectors of a text from an embedding model.

/// Token and sentence embeddings of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Token ids, including the model's markers at both ends.
    pub tokens: Vec<i32>,
    /// One vector per token, concatenated; each has length 1, scaled by [`Embedding::SCALE`].
    pub vectors: Vec<i8>,
    /// Mean of all token vectors, with length 1.
    pub mean: Vec<f32>,
}

impl Embedding {
    /// Factor between a vector's values and [`Embedding::vectors`].
    pub const SCALE: f32 = 127.0;
}
