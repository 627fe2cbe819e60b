//! Reads the reply of an endpoint: bytes to events, events to text, thoughts and tool calls.

pub(crate) mod chunk;
pub(crate) mod concatenated;
pub(crate) mod decompress;
pub(crate) mod delta_assembler;
pub(crate) mod idle_timer;
pub(crate) mod json_lines;
pub(crate) mod lenient;
pub(crate) mod sse;
pub(crate) mod stop_filter;
pub(crate) mod text_pipeline;
pub(crate) mod thoughts;
pub(crate) mod tool_calls;
