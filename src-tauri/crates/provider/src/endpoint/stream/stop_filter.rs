//! Ends a reply at a stop text or a leaked control token, however the endpoint splits it into
//! pieces. Stop texts do not apply inside thoughts.

/// Tokens that end or begin a turn. A quoted token is ordinary text.
pub(crate) const TOKENS: [&str; 35] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|im_sep|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|start_header_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|endofturn|>",
    "[|endofturn|]",
    "<|eot|>",
    "<|eos|>",
    "<eos>",
    "</s>",
    "<|return|>",
    "<|call|>",
    "<|end|>",
    "<|user|>",
    "<|assistant|>",
    "<|system|>",
    "<|observation|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<turn|>",
    "<|turn>",
    "<|END_OF_TURN_TOKEN|>",
    "<|START_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "<|message_end|>",
];

/// Headers of an assistant turn, which a model may repeat before its text. Longer ones come first.
pub(crate) const HEADERS: [&str; 16] = [
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    "<|im_start|>assistant",
    "<|start|>assistant",
    "<start_of_turn>model",
    "<|begin_of_text|>",
    "<|turn>model",
    "<｜Assistant｜>",
    "<|assistant|>",
    "<|im_start|>",
    "<|im_sep|>",
    "[/INST]",
    "<|end|>",
    "<|bos|>",
    "<bos>",
    "</s>",
];

/// Opening and closing tags of thoughts at the start of a reply.
const THOUGHTS: [(&str, &str); 9] = [
    ("<think", "</think"),
    ("<thought", "</thought"),
    ("<reasoning", "</reasoning"),
    ("<seed:think", "</seed:think"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>", "<channel|>"),
    ("<|channel|>", "<|channel|>final"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];

/// Channel token of a harmony reply, in which [`HARMONY_END`] separates channels instead of ending
/// the turn.
const HARMONY: &str = "<|channel|>";
const HARMONY_END: &str = "<|end|>";
/// `</s>` is a control token, but in HTML it closes struck-through text.
const STRIKE: (&str, &str) = ("<s>", "</s>");

/// Forwards a reply up to its end.
#[derive(Debug)]
pub(crate) struct StopFilter {
    stops: Vec<String>,
    held: String,
    /// The text so far may be a header or an opening thought tag.
    opening: bool,
    /// Only whitespace was forwarded so far.
    blank: bool,
    /// Closing tag of the open thoughts.
    inside: Option<&'static str>,
    harmony: bool,
    strikes: bool,
    /// The last forwarded character.
    last: Option<char>,
    /// The reply has ended, and later text is dropped.
    pub(crate) ended: bool,
}

enum StopMatch {
    /// A stop text or a control token begins here.
    End(usize),
    /// The thoughts end before this byte.
    Closed(usize),
    /// More text must decide whether something begins here.
    Maybe(usize),
    Nothing,
}

impl StopFilter {
    pub(crate) fn new(stops: &[String]) -> Self {
        Self {
            stops: stops
                .iter()
                .filter(|stop| !stop.is_empty())
                .cloned()
                .collect(),
            held: String::new(),
            opening: true,
            blank: true,
            inside: None,
            harmony: false,
            strikes: false,
            last: None,
            ended: false,
        }
    }

    /// Takes new text and returns the part that is final.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if self.ended {
            return String::new();
        }
        self.held.push_str(text);
        let mut out = String::new();
        if self.opening && !self.past_headers() {
            return out;
        }
        loop {
            match self.find() {
                StopMatch::End(at) => {
                    self.release(at, &mut out);
                    self.held.clear();
                    self.ended = true;
                    return out;
                }
                StopMatch::Closed(at) => {
                    self.release(at, &mut out);
                    self.inside = None;
                }
                StopMatch::Maybe(at) => {
                    self.release(at, &mut out);
                    return out;
                }
                StopMatch::Nothing => {
                    self.release(self.held.len(), &mut out);
                    return out;
                }
            }
        }
    }

    /// Returns the held text when the reply ends.
    pub(crate) fn rest(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.ended { String::new() } else { held }
    }

    /// Removes repeated headers and detects opening thoughts. Returns false while more text must
    /// decide.
    fn past_headers(&mut self) -> bool {
        loop {
            let received = self.held.trim_start();
            if let Some(header) = HEADERS.iter().find(|header| received.starts_with(**header)) {
                self.held = received[header.len()..].to_owned();
                continue;
            }
            let may_open = THOUGHTS
                .iter()
                .any(|(open, _)| open.len() > received.len() && starts(open, received));
            if may_open || HEADERS.iter().any(|header| header.starts_with(received)) {
                return false;
            }
            self.inside = THOUGHTS
                .iter()
                .find(|(open, _)| starts(received, open))
                .map(|(_, close)| *close);
            self.opening = false;
            return true;
        }
    }

    fn release(&mut self, to: usize, out: &mut String) {
        let part: String = self.held.drain(..to).collect();
        self.blank &= part.trim().is_empty();
        self.harmony |= self.opens(HARMONY, &part);
        self.strikes |= self.opens(STRIKE.0, &part);
        self.last = part.chars().next_back().or(self.last);
        out.push_str(&part);
    }

    /// Finds the first position in the held text where something ends or may end.
    fn find(&self) -> StopMatch {
        for (at, letter) in self.held.char_indices() {
            let rest = &self.held[at..];
            if let Some(close) = self.inside {
                if starts(rest, close) {
                    return StopMatch::Closed(at + close.len());
                }
                if starts(close, rest) {
                    return StopMatch::Maybe(at);
                }
            } else if self
                .stops
                .iter()
                .any(|stop| rest.starts_with(stop.as_str()) && self.stops_here(stop, at))
            {
                return StopMatch::End(at);
            } else if self.stops.iter().any(|stop| stop.starts_with(rest)) {
                return StopMatch::Maybe(at);
            }
            if !matches!(letter, '<' | '[') || self.is_quoted(at) {
                continue;
            }
            let token = TOKENS.iter().find(|token| rest.starts_with(**token));
            if token.is_some_and(|token| self.is_control(token, at)) {
                return StopMatch::End(at);
            }
            if token.is_none()
                && TOKENS
                    .iter()
                    .chain([&HARMONY])
                    .any(|token| token.starts_with(rest))
            {
                return StopMatch::Maybe(at);
            }
        }
        StopMatch::Nothing
    }

    /// A whitespace-only stop text is ignored before the first visible character.
    fn stops_here(&self, stop: &str, at: usize) -> bool {
        !stop.trim().is_empty() || !self.blank || !self.held[..at].trim().is_empty()
    }

    fn is_quoted(&self, at: usize) -> bool {
        self.is_quoted_in(&self.held, at)
    }

    /// Whether a quotation mark precedes `at` in `text`, which follows the forwarded text.
    fn is_quoted_in(&self, text: &str, at: usize) -> bool {
        let before = text[..at].chars().next_back().or(self.last);
        before.is_some_and(|letter| matches!(letter, '`' | '"' | '“' | '\''))
    }

    /// Whether `text` contains `mark` unquoted.
    fn opens(&self, mark: &str, text: &str) -> bool {
        text.match_indices(mark)
            .any(|(at, _)| !self.is_quoted_in(text, at))
    }

    fn is_control(&self, token: &str, at: usize) -> bool {
        let before = &self.held[..at];
        match token {
            HARMONY_END => !self.harmony && !self.opens(HARMONY, before),
            _ if token == STRIKE.1 => !self.strikes && !self.opens(STRIKE.0, before),
            _ => true,
        }
    }
}

/// Whether `text` begins with `start`, ignoring ASCII case.
fn starts(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(stops: &[&str], pieces: &[&str]) -> (String, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut cutter = StopFilter::new(&stops);
        let mut text: String = pieces.iter().map(|piece| cutter.push(piece)).collect();
        text += &cutter.rest();
        (text, cutter.ended)
    }

    #[test]
    fn ends_at_a_stop_text_or_control_token() {
        for (stops, sent, expected) in [
            (&["\nTom:"][..], "Come in.\nTom: Thanks!", "Come in."),
            (
                &["\nTom:"],
                "Come in.\nTomorrow, Tom: no.",
                "Come in.\nTomorrow, Tom: no.",
            ),
            (&["###", "\nTom:"], "Come in. ### more", "Come in. "),
            (&["\n"], "\nCome in.\nSit.", "\nCome in."),
            (
                &[],
                "Come in.<|im_end|>\n<|im_start|>user\nThanks",
                "Come in.",
            ),
            (&[], "Come in.</s>", "Come in."),
            (&[], "Come in.<｜end▁of▁sentence｜>", "Come in."),
            (&[], "Come in.<end_of_turn>\n", "Come in."),
            (&[], "<s>old</s> new", "<s>old</s> new"),
            (&[], "It is <s>old</s> new", "It is <s>old</s> new"),
            (
                &[],
                "Write `<|im_end|>` there. a < b [1]",
                "Write `<|im_end|>` there. a < b [1]",
            ),
            (
                &[],
                "<|im_start|>assistant\nCome in.<|im_end|>",
                "\nCome in.",
            ),
            (
                &[],
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Come in.<|return|>",
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Come in.",
            ),
            (
                &["\nTom:"],
                "<think>\nTom: knocks\nTom: waits</think>Come in.\nTom: Hi",
                "<think>\nTom: knocks\nTom: waits</think>Come in.",
            ),
            (
                &["\nTom:"],
                "<THINK>a</THINK>b\nTom: c",
                "<THINK>a</THINK>b",
            ),
        ] {
            assert_eq!(cut(stops, &[sent]).0, expected, "{sent}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn result_is_independent_of_piece_boundaries(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "Come ", "\n", "Tom", ":", "\nTom:", "<|im", "_end|>", "<", "</s>", "<s>", "`", "é🔥", "<think>", "</think>",
                    "<|channel|>", "<|end|>", "<|start|>", "[INST]", "[",
                ]),
                0..14,
            ),
            size in 1_usize..6,
        ) {
            let text = parts.concat();
            let letters: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = cut(&["\nTom:"], &[&text]);
            prop_assert!(text.contains(whole.0.as_str()));
            prop_assert_eq!(cut(&["\nTom:"], &pieces), whole);
        }
    }
}
