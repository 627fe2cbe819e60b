//! Pictures of a prompt: their places, their pixels and their evaluation.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use worker::protocol::{ErrorCode, Generate, Usage, WirePicture, WorkerReply};

use super::{GenerationSession, ReplyError};
use crate::inbox::{Inbox, ReplyWriter};
use crate::picture_tokens;
use crate::projector::with_beats;
use crate::vocab::{PlacedPicture, TokenizedPrompt};

impl GenerationSession<'_> {
    /// Counts the tokens of pictures by their size.
    pub(crate) fn count_pictures(&mut self, id: u64, sizes: &[(u32, u32)]) -> WorkerReply {
        let Some(projector) = &mut self.projector else {
            return refused(id, WITHOUT.to_owned());
        };
        let count = |(width, height): &(u32, u32)| {
            let size = projector.size(*width, *height)?;
            u32::try_from(size.tokens).map_err(|error| error.to_string())
        };
        match sizes.iter().map(count).collect() {
            Ok(counts) => WorkerReply::Counts { id, counts },
            Err(message) => refused(id, message),
        }
    }

    /// The request's pictures as tokens.
    pub(super) fn placed_pictures(
        &mut self,
        request: &Generate,
    ) -> Result<Vec<PlacedPicture>, ReplyError> {
        if request.pictures.is_empty() {
            return Ok(Vec::new());
        }
        if !request.pictures.is_sorted_by_key(|picture| picture.before) {
            return Err(ReplyError::Failed(
                ErrorCode::Malformed,
                "the pictures are not in order".to_owned(),
            ));
        }
        let Some(projector) = &mut self.projector else {
            return Err(unreadable(WITHOUT));
        };
        let place = |picture: &WirePicture| {
            let WirePicture {
                before,
                identity,
                width,
                height,
            } = picture;
            let size = projector
                .size(*width, *height)
                .map_err(|why| unreadable(&why))?;
            let tokens = picture_tokens::ids(&format!("{width} {height} {identity}"), size);
            Ok(PlacedPicture {
                before: *before,
                tokens,
            })
        };
        request.pictures.iter().map(place).collect()
    }

    /// Encodes and evaluates a picture of the prompt. llama.cpp does not notice a cancel meanwhile,
    /// so the progress `so_far` is sent again and again until it has ended.
    pub(super) fn read_picture(
        &mut self,
        request: &Generate,
        (prompt, index): (&TokenizedPrompt, usize),
        so_far: Usage,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        let Usage {
            prompt: total,
            reused,
            evaluated,
            ..
        } = so_far;
        let beat = WorkerReply::Prefill {
            id: request.id,
            done: reused + evaluated,
            total,
            reused,
        };
        let rgb = self.pixels(request.id, index, inbox, replies)?;
        let Some(projector) = &mut self.projector else {
            return Err(unreadable(WITHOUT));
        };
        let WirePicture { width, height, .. } = request.pictures[index];
        let place = (self.cache.positions(), self.cache.sequence());
        let batch = self.chunk.tokens();
        let context = &mut self.context;
        let read = with_beats(replies, &beat, || {
            projector.read(context, (width, height, &rgb), place, batch)
        });
        if let Err(why) = read {
            // After a failure the contents of the KV cache are undefined.
            self.cache.clear(&mut self.context);
            return Err(unreadable(&why));
        }
        self.cache
            .extend(&prompt.tokens[prompt.pictures[index].clone()]);
        Ok(())
    }

    /// Asks the supervisor for the pixels of a picture.
    fn pixels(
        &mut self,
        id: u64,
        picture: usize,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<Vec<u8>, ReplyError> {
        replies.send(&WorkerReply::PixelsWanted { id, picture })?;
        loop {
            let arrived = inbox.arriving();
            let pixels = self.accept(id, arrived, inbox, replies)?;
            if let Some(pixels) =
                pixels.filter(|pixels| (pixels.id, pixels.picture) == (id, picture))
            {
                return BASE64_STANDARD
                    .decode(pixels.rgb)
                    .map_err(|_| unreadable("its pixels are not base64"));
            }
        }
    }
}

const WITHOUT: &str = "the model is loaded without a file that reads pictures";

/// The logits after a prompt are those of its last token, so it must be text.
pub(super) fn check_end(prompt: &TokenizedPrompt) -> Result<(), ReplyError> {
    match prompt.pictures.last() {
        Some(last) if last.end == prompt.tokens.len() => Err(ReplyError::Failed(
            ErrorCode::Malformed,
            "the prompt ends with a picture".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn refused(id: u64, message: String) -> WorkerReply {
    WorkerReply::Error {
        id: Some(id),
        code: ErrorCode::Picture,
        message,
    }
}

fn unreadable(why: &str) -> ReplyError {
    ReplyError::Failed(
        ErrorCode::Picture,
        format!("a picture cannot be read: {why}"),
    )
}
