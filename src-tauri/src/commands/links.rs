//! Commands for the system and the window: opening a link that the user confirmed, and zoom.

use engine::api::ApiError;
use tauri::{Url, WebviewWindow};

/// Maximum length of an address. Some systems truncate longer ones, which then lead elsewhere.
const LONGEST: usize = 2048;
const ZOOM: std::ops::RangeInclusive<f64> = 0.3..=3.0;

/// Opens a web or mail address in the system's default program.
#[tauri::command]
pub(crate) async fn open_link(address: String) -> Result<(), ApiError> {
    let url = parse_link(&address)?;
    let opened =
        tauri::async_runtime::spawn_blocking(move || open::that_detached(url.as_str())).await;
    match opened {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(not_opened(&error.to_string())),
        Err(error) => Err(not_opened(&error.to_string())),
    }
}

/// Sets the zoom factor of the window.
#[tauri::command]
pub(crate) async fn set_zoom(window: WebviewWindow, factor: f64) -> Result<(), ApiError> {
    let factor = if factor.is_finite() {
        factor.clamp(*ZOOM.start(), *ZOOM.end())
    } else {
        1.0
    };
    window.set_zoom(factor).map_err(|error| ApiError::Internal {
        message: format!("Cannot change the zoom of the window: {error}."),
    })
}

/// Accepts only web and mail addresses, never files or programs. The page asks the user first, but
/// any script on it could call the command.
fn parse_link(address: &str) -> Result<Url, ApiError> {
    let refused = || ApiError::BadInput {
        message: "Only web and mail addresses can be opened.".into(),
        hint: "Copy the address instead.".into(),
    };
    if address.len() > LONGEST {
        return Err(refused());
    }
    let url = Url::parse(address).map_err(|_| refused())?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "mailto" => Ok(url),
        _ => Err(refused()),
    }
}

fn not_opened(error: &str) -> ApiError {
    ApiError::Internal {
        message: format!("The system could not open the link: {error}."),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_link;

    #[test]
    fn opens_only_web_and_mail_addresses() {
        for address in [
            "https://example.org/a?b=c#d",
            "http://127.0.0.1:8080/",
            "mailto:sam@example.org",
        ] {
            assert_eq!(parse_link(address).unwrap().as_str(), address);
        }
        for address in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "nook://localhost/asset/00",
            "tauri://localhost/",
            "ssh://host",
            "smb://host/share",
            "vscode://file/x",
            "/etc/passwd",
            "example.org",
            "--help",
            "",
        ] {
            parse_link(address).unwrap_err();
        }
        parse_link(&format!("https://example.org/{}", "a".repeat(2048))).unwrap_err();
    }

    #[test]
    fn lookalike_host_is_shown_in_punycode() {
        assert_eq!(
            parse_link("https://аpple.example/").unwrap().host_str(),
            Some("xn--pple-43d.example")
        );
    }
}
