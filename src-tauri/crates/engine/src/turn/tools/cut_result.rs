//! Cuts long results, so that they leave room for the reply.

use context::CountTokens as _;
use domain::prompt::Segment;

use crate::base::error::ApiResult;
use crate::settings::counting::token_counter::Counter;
use crate::turn::tools::turn_tools::SHOW_MORE;

/// Maximum size of a result in bytes, before tokens are counted.
const MAX_BYTES: usize = 1 << 20;
/// Attempts to find the longest beginning that fits.
const ATTEMPTS: usize = 4;

/// `text` from character `from` on, at most `limit` tokens of it. A note says how the model can
/// read on.
pub(crate) async fn cut(
    text: &str,
    call: &str,
    from: usize,
    limit: u32,
    counter: &mut Counter<'_>,
) -> ApiResult<String> {
    let whole = text.chars().count();
    let mut shown: String = text.chars().skip(from).take(MAX_BYTES).collect();
    for _ in 0..ATTEMPTS {
        let tokens = count(&shown, counter).await?;
        if tokens <= limit {
            break;
        }
        let kept = shown.chars().count() as u64 * u64::from(limit) * 9 / (u64::from(tokens) * 10);
        shown = shown
            .chars()
            .take(usize::try_from(kept).unwrap_or_default())
            .collect();
    }
    let end = from + shown.chars().count();
    if end < whole {
        shown.push_str(&format!(
            "\n[Cut at character {end} of {whole}. To read on, call {SHOW_MORE} with call \"{call}\" and from {end}.]"
        ));
    }
    Ok(shown)
}

async fn count(text: &str, counter: &mut Counter<'_>) -> ApiResult<u32> {
    let segment = Segment {
        text: text.to_owned(),
        control: false,
    };
    if let Some(count) = counter.count(&segment) {
        return Ok(count);
    }
    counter.learn(vec![segment.clone()]).await?;
    Ok(counter.count(&segment).unwrap_or(u32::MAX))
}
