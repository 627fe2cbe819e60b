//! Every API of endpoints, against servers written from the public documents of the services. The
//! servers accept only what the documents allow, and answer by a fixed rule.

mod anthropic;
mod conformance;
mod errors;
mod framing;
mod gemini;
mod mutations;
mod ollama;
mod openai;
mod service;
mod text;
