//! Checks `Host` and `Origin` before anything else.
//!
//! A page of another site can make the browser send requests to loopback. With DNS rebinding, such
//! a request can look same-origin. `Origin` and `Sec-Fetch-Site` reveal the first attack, `Host`
//! the second; a page can set none of them.

use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Uri};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Accepted host names of this server, each with its port.
pub(crate) struct AllowedHosts(Vec<String>);

/// Reason why a request was refused before it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GuardError {
    #[error("The `Host` header does not name this server.")]
    Host,
    #[error("The request comes from another website.")]
    Origin,
}

impl GuardError {
    /// The part of the request that its sender can change.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Host => {
                "Use the address 127.0.0.1 or localhost with the port of this server. A program in a container or behind a \
                 proxy must send such an address in the header `Host`."
            }
            Self::Origin => {
                "Web pages of other sites cannot use this server. Send the request from a program, without the header \
                 `Origin`, or open the page that this server offers."
            }
        }
    }
}

impl AllowedHosts {
    pub(crate) fn of(port: u16) -> Self {
        let names = ["127.0.0.1", "[::1]", "localhost"];
        let mut allowed: Vec<_> = names.iter().map(|name| format!("{name}:{port}")).collect();
        // Clients omit the default port of the scheme.
        if port == 80 {
            allowed.extend(names.map(str::to_owned));
        }
        Self(allowed)
    }

    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), GuardError> {
        let host = self.host(uri, headers).ok_or(GuardError::Host)?;
        if has_foreign_origin(headers, host) || is_foreign_fetch(headers) {
            return Err(GuardError::Origin);
        }
        Ok(())
    }

    /// Returns the host of the request if it is ours. An absolute URI must match, because it
    /// overrides the header.
    fn host<'h>(&self, uri: &Uri, headers: &'h HeaderMap) -> Option<&'h str> {
        let host = only(headers, &HOST)?;
        let ours = |name: &str| self.0.iter().any(|own| own.eq_ignore_ascii_case(name));
        let agrees = uri
            .authority()
            .is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host));
        (ours(host) && agrees).then_some(host)
    }
}

fn has_foreign_origin(headers: &HeaderMap, host: &str) -> bool {
    headers.contains_key(ORIGIN)
        && only(headers, &ORIGIN)
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_none_or(|own| !own.eq_ignore_ascii_case(host))
}

/// Whether another site's page loads this address as a subresource (an image, a script), which has
/// no `Origin`. Links from other sites are allowed.
fn is_foreign_fetch(headers: &HeaderMap) -> bool {
    let says = |name: &HeaderName, values: &[&str]| {
        headers
            .get_all(name)
            .iter()
            .any(|value| values.iter().any(|one| value.as_bytes() == one.as_bytes()))
    };
    says(&FETCH_SITE, &["cross-site", "same-site"]) && !says(&FETCH_MODE, &["navigate"])
}

fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn check(uri: &str, headers: &[(&str, &str)]) -> Result<(), GuardError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::try_from(*name).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        AllowedHosts::of(4000).check(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn accepts_own_names_with_the_port() {
        for host in [
            "127.0.0.1:4000",
            "localhost:4000",
            "LocalHost:4000",
            "[::1]:4000",
        ] {
            assert_eq!(check("/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "127.0.0.1",
            "localhost:4001",
            "localhost:4000.evil.example",
            "evil.example:4000",
            "0.0.0.0:4000",
            "",
        ] {
            assert_eq!(
                check("/", &[("host", host)]),
                Err(GuardError::Host),
                "{host}"
            );
        }
    }

    #[test]
    fn refuses_a_missing_or_duplicate_host() {
        assert_eq!(check("/", &[]), Err(GuardError::Host));
        assert_eq!(
            check(
                "/",
                &[("host", "localhost:4000"), ("host", "localhost:4000")]
            ),
            Err(GuardError::Host)
        );
    }

    #[test]
    fn absolute_uri_must_match_the_host() {
        assert_eq!(
            check("http://localhost:4000/", &[("host", "localhost:4000")]),
            Ok(())
        );
        assert_eq!(
            check("http://evil.example/", &[("host", "localhost:4000")]),
            Err(GuardError::Host)
        );
    }

    #[test]
    fn accepts_only_its_own_origin() {
        let with = |origin| check("/", &[("host", "localhost:4000"), ("origin", origin)]);
        assert_eq!(with("http://localhost:4000"), Ok(()));
        for origin in [
            "null",
            "",
            "http://localhost",
            "https://localhost:4000",
            "http://127.0.0.1:4000",
            "http://localhost:4000.evil.example",
            "http://localhost:40000",
            "http://evil.example",
            "tauri://localhost",
        ] {
            assert_eq!(with(origin), Err(GuardError::Origin), "{origin}");
        }
    }

    #[test]
    fn other_sites_may_link_but_not_load() {
        let with = |site, mode| {
            check(
                "/",
                &[
                    ("host", "localhost:4000"),
                    ("sec-fetch-site", site),
                    ("sec-fetch-mode", mode),
                ],
            )
        };
        assert_eq!(with("same-origin", "cors"), Ok(()));
        assert_eq!(with("none", "navigate"), Ok(()));
        assert_eq!(with("cross-site", "navigate"), Ok(()));
        assert_eq!(with("cross-site", "no-cors"), Err(GuardError::Origin));
        assert_eq!(with("same-site", "websocket"), Err(GuardError::Origin));
    }

    #[test]
    fn port_80_may_be_omitted() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(
            AllowedHosts::of(80).check(&Uri::from_static("/"), &headers),
            Ok(())
        );
    }
}
