//! Updates from a scripted server: from the button to another version, and everything that can go
//! wrong. Whatever happens, the installed program still starts.

mod flow;
mod interrupted;
mod refused;
mod world;
