//! From the places at which a page writes letters to words, lines and paragraphs.

use std::rc::Rc;

use lopdf::Object;

use super::fonts::Fonts;

/// Of the font's size: a gap between two letters that stands for a space.
const SPACE: f32 = 0.18;
/// A step that is another line.
const LINE: f32 = 0.4;
/// A step to another line that begins a paragraph. Lines of one stand 1.0 to 1.5 apart.
const PARAGRAPH: f32 = 1.75;

/// A matrix of PDF: a b c d e f.
type Matrix = [f32; 6];
const UNMOVED: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// Where the next letters come.
#[derive(Clone)]
struct State {
    page: Matrix,
    font: Rc<[u8]>,
    size: f32,
    leading: f32,
    /// Between any two letters, and at spaces besides; in units of the text.
    letter_space: f32,
    word_space: f32,
    /// 1 is as wide as the font says.
    stretch: f32,
}

impl Default for State {
    fn default() -> Self {
        let (letter_space, word_space) = (0.0, 0.0);
        Self { page: UNMOVED, font: Rc::new([]), size: 0.0, leading: 0.0, letter_space, word_space, stretch: 1.0 }
    }
}

/// The text of one page so far.
#[derive(Default)]
pub(super) struct Lines {
    paragraphs: Vec<String>,
    text: String,
    /// Where the last letters ended on the page, and how large they were.
    last: Option<(f32, f32, f32)>,
    state: State,
    saved: Vec<State>,
    /// Of the line and of the next letter.
    line: Placed,
    letter: Placed,
}

struct Placed(Matrix);

impl Default for Placed {
    fn default() -> Self {
        Self(UNMOVED)
    }
}

/// States that are kept for later; a page that asks for more is broken.
const MAX_SAVED: usize = 64;

impl Lines {
    pub(super) fn operate(&mut self, operator: &str, operands: &[Object], fonts: &Fonts<'_>) {
        let numbers: Vec<f32> = operands.iter().filter_map(|operand| operand.as_float().ok()).collect();
        match (operator, numbers.as_slice()) {
            ("q", _) if self.saved.len() < MAX_SAVED => self.saved.push(self.state.clone()),
            ("Q", _) => self.state = self.saved.pop().unwrap_or_default(),
            ("cm", [a, b, c, d, e, f]) => self.state.page = times([*a, *b, *c, *d, *e, *f], self.state.page),
            ("BT", _) => (self.line, self.letter) = (Placed::default(), Placed::default()),
            ("Tf", [size, ..]) => {
                let name = operands.first().and_then(|name| name.as_name().ok()).unwrap_or_default();
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
                self.line = Placed([*a, *b, *c, *d, *e, *f]);
                self.letter = Placed(self.line.0);
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
        self.line = Placed(times([1.0, 0.0, 0.0, 1.0, x, y], self.line.0));
        self.letter = Placed(self.line.0);
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
        let Some(font) = fonts.named(&self.state.font) else { return };
        let (text, width) = font.read(string);
        let spaces = string.iter().filter(|byte| **byte == b' ').count() as f32;
        let apart = text.chars().count() as f32 * self.state.letter_space + spaces * self.state.word_space;
        self.place();
        self.text.extend(text.chars().map(|letter| if letter == '\u{a0}' { ' ' } else { letter }));
        self.advance((width * self.state.size + apart) * self.state.stretch);
        self.last = Some(self.spot());
    }

    fn advance(&mut self, by: f32) {
        self.letter = Placed(times([1.0, 0.0, 0.0, 1.0, by, 0.0], self.letter.0));
    }

    /// Where the next letter comes on the page, and how large it is.
    fn spot(&self) -> (f32, f32, f32) {
        let [a, b, c, d, e, f] = times(self.letter.0, self.state.page);
        // Along the line, and down from one to the next, however the page is turned.
        let along = (a * a + b * b).sqrt().max(f32::MIN_POSITIVE);
        let (x, y) = ((e * a + f * b) / along, (f * a - e * b) / along);
        (x, y, (c * c + d * d).sqrt() * self.state.size.abs())
    }

    /// Puts between the last letters and the next what stands between them on the page.
    fn place(&mut self) {
        let (x, y, size) = self.spot();
        let Some((last_x, last_y, last_size)) = self.last else { return };
        let size = size.max(last_size).max(f32::MIN_POSITIVE);
        let (right, down) = ((x - last_x) / size, (last_y - y).abs() / size);
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

/// The lines of a paragraph as one, and words that were parted at the end of a line in one piece again.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let parted = joined.strip_suffix('-').is_some_and(|before| before.ends_with(char::is_alphabetic));
        match parted && line.starts_with(char::is_lowercase) {
            true => joined.truncate(joined.len() - 1),
            false if joined.is_empty() => {}
            false => joined.push(' '),
        }
        joined.push_str(line);
    }
    joined
}

/// What `first` does, and then `second`.
fn times(first: Matrix, second: Matrix) -> Matrix {
    let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (first, second);
    [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_one_and_parted_words_whole() {
        assert_eq!(
            joined("The lamp-\nlight is a well-\nKnown thing.\n  \n 2-\nb"),
            "The lamplight is a well- Known thing. 2- b"
        );
    }

    #[test]
    fn matrices_are_done_one_after_the_other() {
        let (moved, doubled) = ([1.0, 0.0, 0.0, 1.0, 3.0, 4.0], [2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!(times(moved, doubled), [2.0, 0.0, 0.0, 2.0, 6.0, 8.0]);
        assert_eq!(times(doubled, moved), [2.0, 0.0, 0.0, 2.0, 3.0, 4.0]);
    }
}
