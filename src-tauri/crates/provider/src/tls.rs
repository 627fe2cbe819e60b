//! Installs the process-wide TLS provider: rustls with ring. The HTTP client uses it instead of
//! building its own.

use std::sync::Once;

/// Makes ring the process's TLS provider, once. Call this before building another HTTP client.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        if rustls::crypto::ring::default_provider()
            .install_default()
            .is_err()
        {
            tracing::debug!("another TLS provider is already installed; using it");
        }
    });
}
