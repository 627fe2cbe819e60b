//! Which addresses a download may use and follow.

use reqwest::redirect::{Action, Attempt, Policy};
use url::Url;

pub(super) const MAX_REDIRECTS: usize = 5;

const GITHUB: &str = "github.com";
/// The hosts to which GitHub redirects from the address of a file of a release.
const GITHUB_FILES: [&str; 2] = [
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
];

/// Hosts to which a server may redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// Every host but those of this machine and of private networks. Model hubs redirect to the URL
    /// of the file itself.
    Anywhere,
    /// The server itself, and for a release on GitHub also GitHub's file servers.
    OfRelease,
}

impl Redirects {
    pub(super) fn policy(self) -> Policy {
        match self {
            Self::Anywhere => Policy::custom(|attempt| follow(attempt, may_redirect_to)),
            Self::OfRelease => Policy::custom(|attempt| follow(attempt, is_of_release)),
        }
    }
}

fn follow(attempt: Attempt<'_>, is_allowed: fn(&Url, &Url) -> bool) -> Action {
    let known = attempt.previous();
    if known.len() <= MAX_REDIRECTS
        && known
            .first()
            .is_some_and(|first| is_allowed(first, attempt.url()))
    {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// Whether the file of a release may lead there.
pub(super) fn is_of_release(from: &Url, to: &Url) -> bool {
    let is_github = from.scheme() == "https" && from.host_str() == Some(GITHUB);
    let is_github_file = to.port().is_none()
        && to
            .host_str()
            .is_some_and(|host| GITHUB_FILES.contains(&host));
    is_safe(to) && (from.origin() == to.origin() || (is_github && is_github_file))
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
