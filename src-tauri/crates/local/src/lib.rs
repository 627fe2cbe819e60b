//! The supervisor of workers, the model library, and the local Provider.
