//! The devices of this machine. A throw-away process lists them, because a faulty graphics driver
//! can crash or hang the process that asks it.

use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use tokio::process::Command;
use tokio::time::timeout;
use worker::protocol::{Device, DeviceKind};

use crate::load::LoadReason;
use crate::process;
use crate::settings::WorkerSettings;

/// Maximum bytes of the list; a real one has a few hundred.
const MAX_LIST: usize = 64 * 1024;
/// Maximum characters of a name in the list.
const MAX_NAME: usize = 200;

/// The devices, or the reason why they are not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Devices {
    /// Nobody has asked yet.
    #[default]
    Unknown,
    Known(Vec<Device>),
    /// A driver failed. The processor is used alone until the devices are listed again.
    Failed(LoadReason),
}

impl Devices {
    /// The devices that compute layers if the user names none: all discrete ones, else the first
    /// integrated one.
    pub fn graphics(&self) -> Vec<&Device> {
        let Self::Known(all) = self else {
            return Vec::new();
        };
        let discrete: Vec<_> = all
            .iter()
            .filter(|device| device.kind == DeviceKind::Discrete)
            .collect();
        if !discrete.is_empty() {
            return discrete;
        }
        all.iter()
            .find(|device| device.kind == DeviceKind::Integrated)
            .into_iter()
            .collect()
    }

    /// The graphics device with that name.
    pub fn named(&self, name: &str) -> Option<&Device> {
        let Self::Known(all) = self else { return None };
        all.iter()
            .find(|device| device.name == name && is_graphics(device))
    }
}

/// Whether the device can compute layers of a model.
pub fn is_graphics(device: &Device) -> bool {
    matches!(device.kind, DeviceKind::Discrete | DeviceKind::Integrated)
}

/// The last list, shared by all workers of a host.
#[derive(Debug, Default)]
pub(crate) struct DeviceCache(Mutex<Devices>);

impl DeviceCache {
    pub(crate) fn get(&self) -> Devices {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, devices: Devices) -> Devices {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&devices);
        devices
    }

    /// Notes that a device failed while a model was loaded.
    pub(crate) fn fail(&self, reason: LoadReason) {
        self.set(Devices::Failed(reason));
    }

    /// The current devices. Asks again if there is a graphics device, because its free memory
    /// changes.
    pub(crate) async fn current(&self, settings: &WorkerSettings) -> Devices {
        match self.get() {
            Devices::Failed(reason) => Devices::Failed(reason),
            known @ Devices::Known(_) if known.graphics().is_empty() => known,
            Devices::Known(_) | Devices::Unknown => self.set(list(settings).await),
        }
    }
}

/// Lists the devices in a process of its own.
pub(crate) async fn list(settings: &WorkerSettings) -> Devices {
    match ask(settings).await {
        Ok(devices) => Devices::Known(devices),
        Err(reason) => {
            tracing::warn!(%reason, "the devices could not be listed");
            Devices::Failed(reason)
        }
    }
}

async fn ask(settings: &WorkerSettings) -> Result<Vec<Device>, LoadReason> {
    let mut command = Command::new(&settings.worker);
    process::restrict(&mut command, settings);
    command
        .arg("--devices")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command
        .spawn()
        .map_err(|error| LoadReason::WorkerNotStarted {
            detail: format!("{}: {error}", settings.worker.display()),
        })?;
    let limit = settings.policy.handshake;
    let output = timeout(limit, child.wait_with_output())
        .await
        .map_err(|_| LoadReason::DriverSilent {
            seconds: limit.as_secs_f32().ceil() as u32,
        })?
        .map_err(failed)?;
    if !output.status.success() {
        return Err(failed(format!(
            "{}{}",
            output.status,
            last_line(&output.stderr)
        )));
    }
    parse(&output.stdout).map_err(failed)
}

fn failed(detail: impl ToString) -> LoadReason {
    LoadReason::DriverFailed {
        detail: detail.to_string(),
    }
}

fn parse(json: &[u8]) -> Result<Vec<Device>, String> {
    let too_long = json.len() > MAX_LIST;
    let listed: Option<Vec<Device>> = (!too_long)
        .then(|| serde_json::from_slice(json).ok())
        .flatten();
    let mut devices = listed.ok_or_else(|| "the list of devices is unreadable".to_owned())?;
    for device in &mut devices {
        for text in [
            &mut device.name,
            &mut device.description,
            &mut device.backend,
        ] {
            *text = text
                .chars()
                .filter(|character| !character.is_control())
                .take(MAX_NAME)
                .collect();
        }
    }
    Ok(devices)
}

/// The end of the output, after a colon.
fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default();
    let line: String = line
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_NAME)
        .collect();
    if line.is_empty() {
        line
    } else {
        format!(": {line}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: DeviceKind) -> Device {
        let (description, backend) = ("A card".to_owned(), "Vulkan".to_owned());
        Device {
            name: name.to_owned(),
            description,
            backend,
            kind,
            total: 8 << 30,
            free: 7 << 30,
        }
    }

    #[test]
    fn discrete_cards_are_preferred_to_integrated() {
        let [cpu, card, other, chip] = [
            device("CPU", DeviceKind::Processor),
            device("Vulkan0", DeviceKind::Discrete),
            device("Vulkan2", DeviceKind::Discrete),
            device("Vulkan1", DeviceKind::Integrated),
        ];
        let both = Devices::Known(vec![cpu.clone(), chip.clone(), card.clone(), other.clone()]);
        assert_eq!(both.graphics(), [&card, &other]);
        assert_eq!(
            Devices::Known(vec![cpu.clone(), chip.clone()]).graphics(),
            [&chip]
        );
        assert!(Devices::Known(vec![cpu]).graphics().is_empty());
        assert_eq!(both.named("Vulkan1"), Some(&chip));
        assert!(
            both.named("CPU").is_none()
                && Devices::Failed(LoadReason::Refused).named("CPU").is_none()
        );
    }

    #[test]
    fn hostile_lists_are_refused_or_cleaned() {
        assert!(parse(b"garbage").is_err());
        assert!(parse(&vec![b' '; MAX_LIST + 1]).is_err());
        let long = format!("A\u{1b}[31m{}", "x".repeat(9_000));
        let named = Device {
            description: long,
            ..device("Vulkan0\n", DeviceKind::Discrete)
        };
        let json = serde_json::to_vec(&[named]).unwrap();
        let devices = parse(&json).unwrap();
        assert_eq!(devices[0].name, "Vulkan0");
        assert_eq!(devices[0].description.chars().count(), MAX_NAME);
        assert!(!devices[0].description.contains('\u{1b}'));
    }

    #[tokio::test]
    async fn missing_worker_is_named() {
        let settings = WorkerSettings {
            worker: "/nowhere/inglenook-worker".into(),
            ..WorkerSettings::default()
        };
        let Devices::Failed(reason) = list(&settings).await else {
            panic!("a missing worker listed devices");
        };
        let text = reason.to_string();
        assert!(
            text.starts_with("the worker could not be started (/nowhere/inglenook-worker: "),
            "{text}"
        );
    }

    #[test]
    fn failed_device_is_not_asked_again() {
        let cache = DeviceCache::default();
        cache.fail(LoadReason::OutOfMemory);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let devices = runtime.block_on(cache.current(&WorkerSettings::default()));
        assert_eq!(devices, Devices::Failed(LoadReason::OutOfMemory));
    }
}
