//! Character cards: V1, V2 and V3, in PNG and JSON.
