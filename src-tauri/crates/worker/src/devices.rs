//! Lists the devices that can compute models.

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType};
use worker::protocol::{Device, DeviceKind};

/// Returns all devices in llama.cpp's order. Drivers run inside this call, and may crash.
pub(crate) fn list() -> Vec<Device> {
    llama_cpp_2::list_llama_ggml_backend_devices()
        .into_iter()
        .filter_map(device)
        .collect()
}

/// Returns the position of the device `name` in llama.cpp's list.
pub(crate) fn index_of(name: &str) -> Option<usize> {
    let mut devices = llama_cpp_2::list_llama_ggml_backend_devices().into_iter();
    devices
        .find(|device| device.name == name)
        .map(|device| device.index)
}

fn device(device: LlamaBackendDevice) -> Option<Device> {
    let kind = match device.device_type {
        LlamaBackendDeviceType::Cpu => DeviceKind::Processor,
        LlamaBackendDeviceType::Gpu => DeviceKind::Discrete,
        LlamaBackendDeviceType::IntegratedGpu => DeviceKind::Integrated,
        LlamaBackendDeviceType::Accelerator => DeviceKind::Accelerator,
        LlamaBackendDeviceType::Unknown => return None,
    };
    Some(Device {
        name: device.name,
        description: device.description.trim().to_owned(),
        backend: device.backend,
        kind,
        total: device.memory_total as u64,
        free: device.memory_free as u64,
    })
}
