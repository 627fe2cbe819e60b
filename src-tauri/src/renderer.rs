//! Works around blank windows: WebKitGTK's DMABUF renderer draws nothing with many versions of
//! NVIDIA's own driver.
//!
//! WebKitGTK reads the environment variable while GTK starts, so the program re-executes itself
//! with the variable set.

use std::ffi::{OsStr, OsString};

use clap::ValueEnum;

/// Any value disables the renderer.
const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Set under WebDriver, whose screenshots hang without the renderer.
const AUTOMATION: &str = "TAURI_WEBVIEW_AUTOMATION";
/// Exists only if NVIDIA's own driver is loaded. The open-source driver works.
#[cfg(target_os = "linux")]
const DRIVER: &str = "/proc/driver/nvidia/version";

/// Whether WebKitGTK may use its DMABUF renderer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DmabufRenderer {
    /// Disabled with NVIDIA's own driver, enabled otherwise.
    #[default]
    Auto,
    On,
    Off,
}

/// Re-executes the program without the renderer if that is requested or needed. Returns otherwise.
///
/// # Errors
/// The program cannot re-execute itself. It can continue with the renderer.
#[cfg(target_os = "linux")]
pub(crate) fn apply(choice: DmabufRenderer) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt;

    let nvidia = std::path::Path::new(DRIVER).exists();
    if !must_disable(choice, nvidia, |name| std::env::var_os(name)) {
        return Ok(());
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let program = std::env::current_exe()?;
    // `exec` returns only if it fails.
    Err(std::process::Command::new(program)
        .arg0(name)
        .args(arguments)
        .env(VARIABLE, "1")
        .exec())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn apply(_choice: DmabufRenderer) -> std::io::Result<()> {
    Ok(())
}

/// A variable that is already set was set by the user, or by us before re-execution.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only WebKitGTK has this renderer")
)]
fn must_disable(
    choice: DmabufRenderer,
    nvidia: bool,
    variable: impl Fn(&OsStr) -> Option<OsString>,
) -> bool {
    let wanted = match choice {
        DmabufRenderer::Auto => nvidia && variable(AUTOMATION.as_ref()).is_none(),
        DmabufRenderer::On => false,
        DmabufRenderer::Off => true,
    };
    wanted && variable(VARIABLE.as_ref()).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disables(choice: DmabufRenderer, nvidia: bool, set: &[&str]) -> bool {
        must_disable(choice, nvidia, |name| {
            set.iter().any(|one| *one == name).then(|| "1".into())
        })
    }

    #[test]
    fn auto_disables_only_with_nvidia_driver() {
        assert!(disables(DmabufRenderer::Auto, true, &[]));
        assert!(!disables(DmabufRenderer::Auto, false, &[]));
    }

    #[test]
    fn switch_overrides_the_driver_check() {
        assert!(disables(DmabufRenderer::Off, false, &[]));
        assert!(!disables(DmabufRenderer::On, true, &[]));
    }

    #[test]
    fn keeps_an_existing_variable() {
        for choice in [DmabufRenderer::Auto, DmabufRenderer::Off] {
            assert!(!disables(choice, true, &[VARIABLE]));
        }
    }

    #[test]
    fn webdriver_keeps_the_renderer() {
        assert!(!disables(DmabufRenderer::Auto, true, &[AUTOMATION]));
    }
}
