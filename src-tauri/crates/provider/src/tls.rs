//! The process's TLS implementation: rustls on ring. The HTTP client is built without one of its own, so that nothing
//! else has to be compiled for it.

use std::sync::Once;

/// Makes ring the process's TLS provider, once. Whoever builds an HTTP client of their own calls this first.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        if rustls::crypto::ring::default_provider().install_default().is_err() {
            tracing::debug!("another TLS provider was installed before ours; it is kept");
        }
    });
}
