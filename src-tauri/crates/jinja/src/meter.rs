//! Resource limits of a render. Every text and list that a template creates is charged while it
//! lives, and every operation is a step. A hostile template thus fails before it exhausts memory or
//! time.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::RenderError;

/// Maximum number of steps of a render. Real templates need tens of steps per message.
const STEPS: u64 = 400_000;
/// Additional steps per message.
const STEPS_FOR_A_MESSAGE: u64 = 10_000;
/// Maximum number of bytes alive at once.
const BYTES: usize = 16 << 20;
/// Additional bytes per message.
const BYTES_FOR_A_MESSAGE: usize = 4 << 10;
/// Maximum nesting depth of expressions, statements and macros, so that the stack of a small thread
/// suffices.
const DEPTH: u16 = 160;

/// Resource usage of one render.
pub(crate) struct Meter {
    steps: Cell<u64>,
    bytes: Cell<usize>,
    most_bytes: usize,
    depth: Cell<u16>,
}

impl Meter {
    /// Creates the limits for a chat with `messages` messages.
    pub(crate) fn new(messages: usize) -> Rc<Self> {
        Rc::new(Self {
            steps: Cell::new(STEPS + STEPS_FOR_A_MESSAGE * messages as u64),
            bytes: Cell::new(0),
            most_bytes: BYTES + BYTES_FOR_A_MESSAGE * messages,
            depth: Cell::new(0),
        })
    }

    /// Spends one step, and one more per 64 units of `size`.
    pub(crate) fn spend(&self, size: usize) -> Result<(), RenderError> {
        let steps = 1 + (size / 64) as u64;
        let left = self
            .steps
            .get()
            .checked_sub(steps)
            .ok_or(RenderError::Limit("steps"))?;
        self.steps.set(left);
        Ok(())
    }

    /// Fails if `bytes` more would exceed the memory limit.
    pub(crate) fn room(&self, bytes: usize) -> Result<(), RenderError> {
        match self.bytes.get().checked_add(bytes) {
            Some(bytes) if bytes <= self.most_bytes => Ok(()),
            _ => Err(RenderError::Limit("memory")),
        }
    }

    /// Enters a nesting level, until [`Self::back`].
    pub(crate) fn deeper(&self) -> Result<(), RenderError> {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        if depth > DEPTH {
            Err(RenderError::Limit("depth"))
        } else {
            Ok(())
        }
    }

    pub(crate) fn back(&self) {
        self.depth.set(self.depth.get() - 1);
    }
}

/// A number of charged bytes, which are released on drop.
pub(crate) struct Hold {
    meter: Rc<Meter>,
    bytes: usize,
}

impl Hold {
    pub(crate) fn new(meter: &Rc<Meter>, bytes: usize) -> Result<Self, RenderError> {
        let mut hold = Self {
            meter: Rc::clone(meter),
            bytes: 0,
        };
        hold.grow(bytes)?;
        Ok(hold)
    }

    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), RenderError> {
        self.meter.spend(bytes)?;
        self.meter.room(bytes)?;
        self.meter.bytes.set(self.meter.bytes.get() + bytes);
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.meter
            .bytes
            .set(self.meter.bytes.get().saturating_sub(self.bytes));
    }
}

/// A growing text whose bytes are charged.
pub(crate) struct Buffer {
    text: String,
    hold: Hold,
}

impl Buffer {
    pub(crate) fn new(meter: &Rc<Meter>) -> Result<Self, RenderError> {
        Ok(Self {
            text: String::new(),
            hold: Hold::new(meter, 0)?,
        })
    }

    pub(crate) fn push(&mut self, text: &str) -> Result<(), RenderError> {
        self.hold.grow(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    pub(crate) fn push_char(&mut self, char: char) -> Result<(), RenderError> {
        self.push(char.encode_utf8(&mut [0; 4]))
    }

    pub(crate) fn meter(&self) -> Rc<Meter> {
        Rc::clone(&self.hold.meter)
    }

    pub(crate) fn into_parts(self) -> (String, Hold) {
        (self.text, self.hold)
    }
}
