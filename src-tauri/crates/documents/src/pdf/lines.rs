//! Builds words, lines and paragraphs from the positions of the letters on a page.

use std::rc::Rc;

use lopdf::Object;

use super::fonts::Fonts;

/// Minimum gap between two letters that is a space, in multiples of the font's size.
const SPACE: f32 = 0.18;
/// Minimum step that begins another line.
const LINE: f32 = 0.4;
/// Minimum step to another line that begins a paragraph. Lines of one paragraph are 1.0 to 1.5
/// apart.
const PARAGRAPH: f32 = 1.75;

/// A PDF matrix: a b c d e f.
type Matrix = [f32; 6];
const UNMOVED: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// The graphics state, which decides where the next letters go.
#[derive(Clone)]
struct TextState {
    page: Matrix,
    font: Rc<[u8]>,
    size: f32,
    leading: f32,
    /// Extra space between letters and at spaces, in text units.
    letter_space: f32,
    word_space: f32,
    /// Horizontal scale; 1 is the width of the font.
    stretch: f32,
}

impl Default for TextState {
    fn default() -> Self {
        let letter_space = 0.0;
        let word_space = 0.0;
        Self {
            page: UNMOVED,
            font: Rc::new([]),
            size: 0.0,
            leading: 0.0,
            letter_space,
            word_space,
            stretch: 1.0,
        }
    }
}

/// The text of one page so far.
#[derive(Default)]
pub(super) struct Lines {
    paragraphs: Vec<String>,
    text: String,
    /// The end of the last letters on the page, and their size.
    last: Option<(f32, f32, f32)>,
    state: TextState,
    saved: Vec<TextState>,
    /// The positions of the line and of the next letter.
    line: PlacedText,
    letter: PlacedText,
}

struct PlacedText(Matrix);

impl Default for PlacedText {
    fn default() -> Self {
        Self(UNMOVED)
    }
}

/// Maximum number of saved states. A page that needs more is broken.
const MAX_SAVED: usize = 64;

impl Lines {
    pub(super) fn operate(&mut self, operator: &str, operands: &[Object], fonts: &Fonts<'_>) {
        let numbers: Vec<f32> = operands
            .iter()
            .filter_map(|operand| operand.as_float().ok())
            .collect();
        match (operator, numbers.as_slice()) {
            ("q", _) if self.saved.len() < MAX_SAVED => self.saved.push(self.state.clone()),
            ("Q", _) => self.state = self.saved.pop().unwrap_or_default(),
            ("cm", [a, b, c, d, e, f]) => {
                self.state.page = times([*a, *b, *c, *d, *e, *f], self.state.page)
            }
            ("BT", _) => (self.line, self.letter) = (PlacedText::default(), PlacedText::default()),
            ("Tf", [size, ..]) => {
                let name = operands
                    .first()
                    .and_then(|name| name.as_name().ok())
                    .unwrap_or_default();
                (self.state.font, self.state.size) = (Rc::from(name), *size);
            }
            ("TL", [leading]) => self.state.leading = *leading,
            ("Tc", [space]) => self.state.letter_space = *space,
            ("Tw", [space]) => self.state.word_space = *space,
            ("Tz", [percent]) => self.state.stretch = percent / 100.0,
            ("Td", [x, y]) => self.step(*x, *y),
            ("TD", [x, y]) => {
                self.state.leading = -y;
                self.step(*x, *y);
            }
            ("Tm", [a, b, c, d, e, f]) => {
                self.line = PlacedText([*a, *b, *c, *d, *e, *f]);
                self.letter = PlacedText(self.line.0);
            }
            ("T*", _) => self.next_line(),
            ("Tj" | "TJ", _) => self.show(operands, fonts),
            ("'", _) => {
                self.next_line();
                self.show(operands, fonts);
            }
            ("\"", spaces) => {
                if let [word, letter] = spaces {
                    (self.state.word_space, self.state.letter_space) = (*word, *letter);
                }
                self.next_line();
                self.show(operands.get(2..).unwrap_or_default(), fonts);
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Vec<String> {
        self.end_paragraph();
        self.paragraphs
    }

    fn step(&mut self, x: f32, y: f32) {
        self.line = PlacedText(times([1.0, 0.0, 0.0, 1.0, x, y], self.line.0));
        self.letter = PlacedText(self.line.0);
    }

    fn next_line(&mut self) {
        self.step(0.0, -self.state.leading);
    }

    fn show(&mut self, operands: &[Object], fonts: &Fonts<'_>) {
        for operand in operands {
            match operand {
                Object::String(string, _) => self.write(string, fonts),
                Object::Array(parts) => parts.iter().for_each(|part| match part {
                    Object::String(string, _) => self.write(string, fonts),
                    part => {
                        let back = part.as_float().unwrap_or_default() / 1_000.0 * self.state.size;
                        self.advance(-back * self.state.stretch);
                    }
                }),
                _ => {}
            }
        }
    }

    fn write(&mut self, string: &[u8], fonts: &Fonts<'_>) {
        let Some(font) = fonts.named(&self.state.font) else {
            return;
        };
        let (text, width) = font.read(string);
        let spaces = string.iter().filter(|byte| **byte == b' ').count() as f32;
        let apart =
            text.chars().count() as f32 * self.state.letter_space + spaces * self.state.word_space;
        self.place();
        self.text.extend(
            text.chars()
                .map(|letter| if letter == '\u{a0}' { ' ' } else { letter }),
        );
        self.advance((width * self.state.size + apart) * self.state.stretch);
        self.last = Some(self.spot());
    }

    fn advance(&mut self, by: f32) {
        self.letter = PlacedText(times([1.0, 0.0, 0.0, 1.0, by, 0.0], self.letter.0));
    }

    /// The position of the next letter on the page, and its size.
    fn spot(&self) -> (f32, f32, f32) {
        let [a, b, c, d, e, f] = times(self.letter.0, self.state.page);
        // Coordinates along the line and across it, however the page is rotated.
        let along = (a * a + b * b).sqrt().max(f32::MIN_POSITIVE);
        let x = (e * a + f * b) / along;
        let y = (f * a - e * b) / along;
        (x, y, (c * c + d * d).sqrt() * self.state.size.abs())
    }

    /// Inserts the space, the line break or the paragraph break between the last letters and the
    /// next.
    fn place(&mut self) {
        let (x, y, size) = self.spot();
        let Some((last_x, last_y, last_size)) = self.last else {
            return;
        };
        let size = size.max(last_size).max(f32::MIN_POSITIVE);
        let right = (x - last_x) / size;
        let down = (last_y - y).abs() / size;
        if down > PARAGRAPH {
            self.end_paragraph();
        } else if down > LINE {
            self.text.truncate(self.text.trim_end().len());
            self.text.push('\n');
        } else if !(-1.0..=SPACE).contains(&right) && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }

    fn end_paragraph(&mut self) {
        let text = joined(&std::mem::take(&mut self.text));
        if !text.is_empty() {
            self.paragraphs.push(text);
        }
    }
}

/// Joins the lines of a paragraph, and the halves of words that were hyphenated at the end of a
/// line.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let parted = joined
            .strip_suffix('-')
            .is_some_and(|before| before.ends_with(char::is_alphabetic));
        if parted && line.starts_with(char::is_lowercase) {
            joined.truncate(joined.len() - 1);
        } else if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    joined
}

/// The matrix that applies `first` and then `second`.
fn times(first: Matrix, second: Matrix) -> Matrix {
    let [a, b, c, d, e, f] = first;
    let [g, h, i, j, k, l] = second;
    [
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + l,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_lines_and_hyphenated_words() {
        assert_eq!(
            joined("The lamp-\nlight is a well-\nKnown thing.\n  \n 2-\nb"),
            "The lamplight is a well- Known thing. 2- b"
        );
    }

    #[test]
    fn multiplies_matrices_in_order() {
        let (moved, doubled) = (
            [1.0, 0.0, 0.0, 1.0, 3.0, 4.0],
            [2.0, 0.0, 0.0, 2.0, 0.0, 0.0],
        );
        assert_eq!(times(moved, doubled), [2.0, 0.0, 0.0, 2.0, 6.0, 8.0]);
        assert_eq!(times(doubled, moved), [2.0, 0.0, 0.0, 2.0, 3.0, 4.0]);
    }
}
