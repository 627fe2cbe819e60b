//! Bindings to SQLite, which is compiled from SQLite3 Multiple Ciphers. It encrypts the pages of a
//! database that has a key, and stores all others as SQLite does.
//!
//! The crate replaces the one of the same name, of which bindings and errors are copies.

#![expect(non_snake_case, non_camel_case_types)]
#![no_std]

pub use self::error::*;

use core::mem;

mod error;

#[must_use]
pub fn SQLITE_STATIC() -> sqlite3_destructor_type {
    None
}

#[must_use]
pub fn SQLITE_TRANSIENT() -> sqlite3_destructor_type {
    Some(unsafe { mem::transmute::<isize, unsafe extern "C" fn(*mut core::ffi::c_void)>(-1_isize) })
}

#[allow(dead_code, clippy::all)]
mod bindings {
    include!("../bindings.rs");
}
pub use bindings::*;

impl Default for sqlite3_vtab {
    fn default() -> Self {
        unsafe { mem::zeroed() }
    }
}

impl Default for sqlite3_vtab_cursor {
    fn default() -> Self {
        unsafe { mem::zeroed() }
    }
}
