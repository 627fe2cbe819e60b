//! The validated address of a file.

use secrecy::SecretString;
use url::Url;

use super::address::{Redirects, is_safe};
use super::{DownloadError, MAX_TEXT};

/// A validated download URL, with the access token of its hub. `Debug` does not show the token.
#[derive(Debug, Clone)]
pub struct DownloadSource {
    pub(super) url: Url,
    pub(super) token: Option<SecretString>,
    pub(super) redirects: Redirects,
}

impl DownloadSource {
    /// Accepts only URLs whose response nobody on the network can alter: HTTPS, or this machine.
    ///
    /// # Errors
    /// [`DownloadError::Address`].
    pub fn parse(text: &str) -> Result<Self, DownloadError> {
        let refused = |why| DownloadError::Address {
            url: text.chars().take(MAX_TEXT).collect(),
            why,
        };
        let url = Url::parse(text).map_err(|_| refused("it is not a valid URL"))?;
        if !is_safe(&url) {
            return Err(refused("it must begin with https://"));
        }
        Ok(Self::of(url, None))
    }

    /// Works like [`Self::parse`], for a file of a release: its server may redirect only to itself.
    /// A release on GitHub may also lead to the file servers of GitHub.
    ///
    /// # Errors
    /// [`DownloadError::Address`].
    pub fn of_release(text: &str) -> Result<Self, DownloadError> {
        Ok(Self {
            redirects: Redirects::OfRelease,
            ..Self::parse(text)?
        })
    }

    /// A file of a hub, whose address was validated.
    pub(crate) fn of(url: Url, token: Option<SecretString>) -> Self {
        Self {
            url,
            token,
            redirects: Redirects::Anywhere,
        }
    }

    pub(crate) fn into_url(self) -> Url {
        self.url
    }

    /// Returns the last path segment, with each character that some file system rejects replaced.
    pub fn file_name(&self) -> Option<String> {
        let last = self.url.path_segments()?.next_back()?;
        let name: String = last
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        Some(name)
            .filter(|name| name.len() <= MAX_TEXT && !name.starts_with('.') && !name.is_empty())
    }

    pub(super) fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }
}
