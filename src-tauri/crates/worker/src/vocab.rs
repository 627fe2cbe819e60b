//! Tokenization. Only this module decides which text may become a control token.

mod alphabet;

use std::borrow::Cow;
use std::ops::Range;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;
use llama_cpp_2::vocab::LlamaVocab;
use worker::protocol::WireSegment;

use self::alphabet::Alphabet;

/// Tokens of a prompt, and where its messages are.
#[derive(Debug, Default)]
pub(crate) struct TokenizedPrompt {
    pub(crate) tokens: Vec<LlamaToken>,
    /// Ranges of tokens that are plain text or pictures, each with control text before and after
    /// it: the messages.
    pub(crate) texts: Vec<Range<usize>>,
    /// Ranges of the tokens of pictures, in order.
    pub(crate) pictures: Vec<Range<usize>>,
}

/// The tokens of a picture, and the index of the segment after it.
pub(crate) struct PlacedPicture {
    pub(crate) before: usize,
    pub(crate) tokens: Vec<LlamaToken>,
}

impl TokenizedPrompt {
    fn push(&mut self, mut tokens: Vec<LlamaToken>, control: bool) {
        let start = self.tokens.len();
        self.tokens.append(&mut tokens);
        let end = self.tokens.len();
        match self.texts.last_mut() {
            _ if control || start == end => {}
            Some(text) if text.end == start => text.end = end,
            _ => self.texts.push(start..end),
        }
    }

    fn push_picture(&mut self, tokens: Vec<LlamaToken>) {
        let start = self.tokens.len();
        self.push(tokens, false);
        self.pictures.push(start..self.tokens.len());
    }

    /// Moves everything behind a new first token.
    fn begin_with(&mut self, token: LlamaToken) {
        self.tokens.insert(0, token);
        let ranges = self.texts.iter_mut().chain(&mut self.pictures);
        ranges.for_each(|range| *range = range.start + 1..range.end + 1);
    }

    /// Index of the picture that starts at the token `position`.
    pub(crate) fn picture_at(&self, position: usize) -> Option<usize> {
        self.pictures
            .iter()
            .position(|picture| picture.start == position)
    }

    /// The end of the text that contains the token `position`: the next picture, or the end of the
    /// prompt.
    pub(crate) fn end_of_text(&self, position: usize) -> usize {
        let next = self
            .pictures
            .iter()
            .find(|picture| picture.start > position);
        next.map_or(self.tokens.len(), |picture| picture.start)
    }

    /// Positions that a later prompt is likely to share: the starts of the last messages, and the
    /// end of the last one. The last token comes after all of them, because the same prompt needs
    /// its logits again.
    pub(crate) fn message_boundaries(&self) -> Vec<usize> {
        let near = &self.texts[self.texts.len().saturating_sub(NEAR)..];
        let mut boundaries: Vec<usize> = near.iter().map(|text| text.start).collect();
        boundaries.extend(near.last().map(|text| text.end.min(self.tokens.len() - 1)));
        boundaries
    }
}

/// Number of messages before the reply whose starts get a checkpoint: editing one of them reads
/// only what follows.
const NEAR: usize = 3;

/// The loaded model's vocabulary.
pub(crate) struct Vocab<'model> {
    model: &'model LlamaModel,
    vocab: LlamaVocab<'model>,
    bos: Option<LlamaToken>,
    /// Tokens that end a reply: end of turn, end of text and others.
    ends: Vec<LlamaToken>,
    /// Role and tool markers that the file declares as user-defined, which llama.cpp would also
    /// find in plain text.
    markup_tokens: Vec<(LlamaToken, String)>,
    /// The characters that the vocabulary has, if it cannot represent every text.
    alphabet: Option<Alphabet>,
}

impl<'model> Vocab<'model> {
    pub(crate) fn of(model: &'model LlamaModel) -> Self {
        let vocab = model.vocab();
        let bos = Some(vocab.bos()).filter(|bos| vocab.should_add_bos() && bos.0 >= 0);
        let ends = vocab
            .tokens()
            .filter(|token| vocab.is_eog(*token))
            .collect();
        let markup_tokens = markup_tokens(&vocab);
        let alphabet = Alphabet::of(model);
        Self {
            model,
            vocab,
            bos,
            ends,
            markup_tokens,
            alphabet,
        }
    }

    pub(crate) fn model(&self) -> &'model LlamaModel {
        self.model
    }

    /// Whether the model requires a beginning-of-sequence token.
    pub(crate) fn adds_bos(&self) -> bool {
        self.bos.is_some()
    }

    pub(crate) fn len(&self) -> i32 {
        self.vocab.n_tokens()
    }

    /// Returns the tokens that end a reply.
    pub(crate) fn ends(&self) -> &[LlamaToken] {
        &self.ends
    }

    pub(crate) fn ends_reply(&self, token: LlamaToken) -> bool {
        self.ends.contains(&token)
    }

    pub(crate) fn is_control(&self, token: LlamaToken) -> bool {
        self.vocab.is_control(token)
    }

    /// Returns the bytes of a generated token; empty for a control token.
    pub(crate) fn piece(&self, token: LlamaToken) -> Vec<u8> {
        self.vocab.token_to_piece(token, false, None)
    }

    /// Returns the tokens of one segment. A prompt is the concatenation of its segments, so counts
    /// add up.
    pub(crate) fn tokenize(&self, segment: &WireSegment) -> Vec<LlamaToken> {
        if segment.text.is_empty() {
            return Vec::new();
        }
        if segment.control {
            return self
                .vocab
                .tokenize(self.readable(&segment.text).as_bytes(), false, true);
        }
        let tokens = self.plain(&segment.text);
        if tokens.iter().any(|token| self.is_markup(*token)) {
            self.plain_without_markup(&segment.text)
        } else {
            tokens
        }
    }

    /// Returns the tokens of a whole prompt with its pictures, which are in the order of their
    /// places. Adds the beginning-of-sequence token if the model requires it and the template did
    /// not write it.
    pub(crate) fn prompt(
        &self,
        segments: &[WireSegment],
        pictures: Vec<PlacedPicture>,
    ) -> TokenizedPrompt {
        let mut prompt = TokenizedPrompt::default();
        let mut pictures = pictures.into_iter().peekable();
        for (index, segment) in segments.iter().enumerate() {
            while let Some(picture) = pictures.next_if(|picture| picture.before <= index) {
                prompt.push_picture(picture.tokens);
            }
            prompt.push(self.tokenize(segment), segment.control);
        }
        pictures.for_each(|picture| prompt.push_picture(picture.tokens));
        if let Some(bos) = self.bos.filter(|bos| prompt.tokens.first() != Some(bos)) {
            prompt.begin_with(bos);
        }
        prompt
    }

    /// Returns the tokens of a complete text with the model's markers around it; at most `limit`,
    /// including the last marker.
    pub(crate) fn with_markers(&self, text: &str, limit: usize) -> Vec<LlamaToken> {
        let mut tokens = self
            .vocab
            .tokenize(self.readable(text).as_bytes(), true, false);
        if let Some(last) = tokens.last().copied().filter(|_| tokens.len() > limit) {
            tokens.truncate(limit);
            tokens.pop();
            tokens.push(last);
        }
        tokens
    }

    fn plain(&self, text: &str) -> Vec<LlamaToken> {
        self.vocab
            .tokenize(self.readable(text).as_bytes(), false, false)
    }

    fn readable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.alphabet
            .as_ref()
            .map_or(Cow::Borrowed(text), |alphabet| alphabet.readable(text))
    }

    fn is_markup(&self, token: LlamaToken) -> bool {
        self.markup_tokens
            .binary_search_by_key(&token, |(mark, _)| *mark)
            .is_ok()
    }

    /// Splits every marker after its first character, so that the tokenizer does not recognise it.
    fn plain_without_markup(&self, text: &str) -> Vec<LlamaToken> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while let Some(at) = self
            .markup_tokens
            .iter()
            .filter_map(|(_, mark)| rest.find(mark))
            .min()
        {
            let (head, tail) = rest.split_at(at + 1);
            tokens.append(&mut self.plain(head));
            rest = tail;
        }
        if !rest.is_empty() {
            tokens.append(&mut self.plain(rest));
        }
        tokens
    }
}

/// Returns the user-defined tokens that look like markup, sorted by id.
fn markup_tokens(vocab: &LlamaVocab<'_>) -> Vec<(LlamaToken, String)> {
    vocab
        .tokens()
        .filter(|token| vocab.attr(*token).contains(LlamaTokenAttr::UserDefined))
        .filter_map(|token| {
            let text = vocab.text(token)?.to_str().ok()?;
            (text.len() > 2 && text.starts_with('<') && text.ends_with('>'))
                .then(|| (token, text.to_owned()))
        })
        .collect()
}
