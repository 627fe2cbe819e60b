//! Frame, plan, prompt: what is sent to a model, and why.
