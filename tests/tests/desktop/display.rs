//! A display without a window manager, with mouse, keyboard and screenshots.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask};

pub(crate) struct VirtualDisplay {
    /// Killed with the PID namespace.
    _server: Child,
    name: String,
}

impl VirtualDisplay {
    pub(crate) fn start() -> Self {
        // Without `-noreset` it resets when its last client disconnects, and refuses clients at
        // that moment.
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1440x900x24",
                "-nolisten",
                "tcp",
                "-noreset",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is needed; `cargo xtask setup` installs it");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        Self {
            _server: server,
            name: format!(":{}", number.trim()),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Creates a call of `program` on this display.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        // Without these, GTK waits for session bus services that do not exist here.
        command
            .env("DISPLAY", &self.name)
            .env("NO_AT_BRIDGE", "1")
            .env("GTK_USE_PORTAL", "0");
        command
            .env_remove("WAYLAND_DISPLAY")
            .env("GDK_BACKEND", "x11");
        command
    }

    /// Moves the mouse, presses keys and more.
    pub(crate) fn xdotool(&self, arguments: &[&str]) -> String {
        let output = self
            .command("xdotool")
            .args(arguments)
            .output()
            .expect("xdotool is needed");
        assert!(
            output.status.success(),
            "xdotool {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns the ids of the visible windows with this title.
    pub(crate) fn windows(&self, title: &str) -> Vec<String> {
        let pattern = format!("^{title}$");
        let found = self
            .command("xdotool")
            .args(["search", "--onlyvisible", "--name", &pattern])
            .output()
            .unwrap();
        String::from_utf8_lossy(&found.stdout)
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }

    /// Asks the window to close, like a window manager's close button.
    pub(crate) fn press_close(&self, window: &str) {
        let (server, _) = x11rb::connect(Some(&self.name)).unwrap();
        let atom = |name: &str| {
            server
                .intern_atom(false, name.as_bytes())
                .unwrap()
                .reply()
                .unwrap()
                .atom
        };
        let window = window.parse().unwrap();
        let data = [atom("WM_DELETE_WINDOW"), x11rb::CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, atom("WM_PROTOCOLS"), data);
        server
            .send_event(false, window, EventMask::NO_EVENT, message)
            .unwrap()
            .check()
            .unwrap();
    }

    /// Takes a screenshot of the whole screen, including dialogs, which WebDriver does not see.
    pub(crate) fn photograph(&self, to: &Path) {
        let done = self
            .command("import")
            .args(["-window", "root"])
            .arg(to)
            .status();
        assert!(
            done.is_ok_and(|status| status.success()),
            "`import` of ImageMagick is missing"
        );
    }
}
