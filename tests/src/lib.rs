//! Helpers shared by the whole-turn tests.
