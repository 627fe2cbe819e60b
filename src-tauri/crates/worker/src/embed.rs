//! Embeds texts with an encoder: one contextual vector per token, and their mean.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{LlamaContextParams, LlamaPoolingType};
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use worker::protocol::{EncodedEmbedding, ErrorCode, WorkerReply};

use crate::tuning::{FLASH_AUTO, FLASH_OFF};
use crate::vocab::Vocab;

/// Maximum tokens of one text: the training length of all-MiniLM.
const LONGEST: u32 = 256;

/// Texts with fewer tokens are read without flash attention. llama.cpp's tiled flash attention
/// needs a tile of 64 tokens. Below that, its AVX-512 kernel takes 64 numbers at a time, and
/// all-MiniLM's heads have 32: a text of 50 tokens takes 1.5 times as long as without.
const TILE: u32 = 64;

/// A loaded encoder. A text always uses the same one of the two contexts, so its vectors do not
/// depend on other texts.
pub(crate) struct Embedder<'m> {
    vocab: &'m Vocab<'m>,
    context: LlamaContext<'m>,
    /// For texts with fewer tokens than [`TILE`].
    short: LlamaContext<'m>,
    batch: LlamaBatch<'m>,
    dimensions: u32,
}

impl<'m> Embedder<'m> {
    pub(crate) fn params(model: &LlamaModel, threads: i32) -> LlamaContextParams {
        params(model, LONGEST, threads).with_flash_attention_policy(FLASH_AUTO)
    }

    /// Parameters of the context for short texts.
    pub(crate) fn short_params(model: &LlamaModel, threads: i32) -> LlamaContextParams {
        params(model, TILE, threads).with_flash_attention_policy(FLASH_OFF)
    }

    pub(crate) fn new(
        vocab: &'m Vocab<'m>,
        context: LlamaContext<'m>,
        short: LlamaContext<'m>,
    ) -> Self {
        let dimensions = u32::try_from(vocab.model().n_embd()).unwrap_or(0);
        let batch = LlamaBatch::new(LONGEST as usize, 1);
        Self {
            vocab,
            context,
            short,
            batch,
            dimensions,
        }
    }

    /// Maximum tokens of a text.
    pub(crate) fn longest(&self) -> u32 {
        self.context.n_ctx().min(LONGEST)
    }

    /// Length of a vector.
    pub(crate) fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Answers one request.
    pub(crate) fn answer(&mut self, id: u64, texts: &[String]) -> WorkerReply {
        let embedded: Result<Vec<EncodedEmbedding>, String> =
            texts.iter().map(|text| self.embed(text)).collect();
        match embedded {
            Ok(texts) => WorkerReply::Embeddings { id, texts },
            Err(message) => WorkerReply::Error {
                id: Some(id),
                code: ErrorCode::Compute,
                message,
            },
        }
    }

    fn embed(&mut self, text: &str) -> Result<EncodedEmbedding, String> {
        let tokens = self.vocab.with_markers(text, self.longest() as usize);
        let dimensions = self.dimensions as usize;
        let (mut vectors, mut mean) = (
            Vec::with_capacity(tokens.len() * dimensions),
            vec![0.0_f32; dimensions],
        );
        if !tokens.is_empty() {
            self.read(&tokens)?;
        }
        let context = self.context_for(tokens.len());
        for place in 0..tokens.len() {
            let place = i32::try_from(place).map_err(|error| error.to_string())?;
            let vector = context
                .embeddings_ith(place)
                .map_err(|error| error.to_string())?;
            mean.iter_mut()
                .zip(vector)
                .for_each(|(mean, number)| *mean += number);
            let scale = EncodedEmbedding::SCALE / length(vector);
            vectors.extend(
                vector
                    .iter()
                    .map(|number| (number * scale).round() as i8 as u8),
            );
        }
        let scale = 1.0 / length(&mean);
        let mean: Vec<u8> = mean
            .iter()
            .flat_map(|number| (number * scale).to_le_bytes())
            .collect();
        let tokens = tokens.iter().map(|token| token.0).collect();
        Ok(EncodedEmbedding {
            tokens,
            vectors: STANDARD.encode(vectors),
            mean: STANDARD.encode(mean),
        })
    }

    fn read(&mut self, tokens: &[LlamaToken]) -> Result<(), String> {
        self.batch.clear();
        self.batch
            .add_sequence(tokens, 0, true)
            .map_err(|error| error.to_string())?;
        let context = if tokens.len() < TILE as usize {
            &mut self.short
        } else {
            &mut self.context
        };
        context
            .encode(&mut self.batch)
            .map_err(|error| error.to_string())
    }

    fn context_for(&self, tokens: usize) -> &LlamaContext<'m> {
        if tokens < TILE as usize {
            &self.short
        } else {
            &self.context
        }
    }
}

fn params(model: &LlamaModel, longest: u32, threads: i32) -> LlamaContextParams {
    let longest = longest.min(model.n_ctx_train().max(1));
    LlamaContextParams::default()
        .with_embeddings(true)
        .with_pooling_type(LlamaPoolingType::None)
        .with_n_ctx(NonZeroU32::new(longest))
        // An encoder must process a text in one batch.
        .with_n_batch(longest)
        .with_n_ubatch(longest)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
}

/// Returns the vector's length, at least the smallest positive number, so that dividing by it is
/// safe.
fn length(vector: &[f32]) -> f32 {
    vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt()
        .max(f32::MIN_POSITIVE)
}
