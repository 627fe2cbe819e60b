//! Which addresses a download may use and follow.

use reqwest::redirect::Attempt;
use url::Url;

pub(super) const MAX_REDIRECTS: usize = 5;

/// Redirect policy. Model hubs redirect to the URL of the file itself.
pub(super) fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let known = attempt.previous();
    if known.len() <= MAX_REDIRECTS
        && known
            .first()
            .is_some_and(|first| may_redirect_to(first, attempt.url()))
    {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// A public machine must not redirect to a service on this machine or in the private network.
pub(super) fn may_redirect_to(from: &Url, to: &Url) -> bool {
    is_safe(to) && (is_loopback(from) || !is_loopback(to)) && (is_private(from) || !is_private(to))
}

pub(super) fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Whether the host is an address of a private network (RFC 1918, RFC 4193) or a link-local one, or
/// this machine.
pub(super) fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => is_private_v4(address),
        Some(url::Host::Ipv6(address)) => match address.to_ipv4_mapped() {
            Some(mapped) => is_private_v4(mapped),
            None => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
        },
        Some(url::Host::Domain(_)) => is_loopback(url),
        None => false,
    }
}

pub(super) fn is_private_v4(address: std::net::Ipv4Addr) -> bool {
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
}
