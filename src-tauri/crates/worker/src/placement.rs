//! Reads from llama.cpp's log where the parts of a model are. Its interface does not say so.
//!
//! The lines are those of `llama-model.cpp`, `llama-kv-cache.cpp`, `llama-memory-recurrent.cpp` and
//! `llama-context.cpp`, for example `offloaded 27/29 layers to GPU` and `Vulkan0 KV buffer size =
//! 96.00 MiB`.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer};
use worker::protocol::{DeviceMemory, Placement};

/// The figures of the log since the last [`take`].
static SEEN: Mutex<Placement> = Mutex::new(Placement {
    layers: 0,
    gpu_layers: 0,
    memory: Vec::new(),
});

/// Returns what was logged since the last call, and starts anew.
pub(crate) fn take() -> Placement {
    std::mem::take(&mut SEEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Listens to the log of llama.cpp, and passes warnings and errors to stderr.
pub(crate) struct LlamaLog;

impl<S: tracing::Subscriber> Layer<S> for LlamaLog {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        if *event.metadata().level() <= tracing::Level::WARN {
            eprintln!("{} {}", event.metadata().level(), message.0.trim_end());
        }
        note(
            &message.0,
            &mut SEEN.lock().unwrap_or_else(PoisonError::into_inner),
        );
    }
}

struct Message(String);

impl Visit for Message {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            // Writing to a text cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

/// Adds what one line says to `seen`.
fn note(line: &str, seen: &mut Placement) {
    if let Some((done, all)) = layers(line) {
        (seen.gpu_layers, seen.layers) = (done, all);
    }
    let Some((device, what, bytes)) = buffer(line) else {
        return;
    };
    let device = if is_host(device) { "" } else { device };
    let known = seen
        .memory
        .iter()
        .position(|memory| memory.device == device);
    let at = known.unwrap_or_else(|| {
        seen.memory.push(DeviceMemory {
            device: device.to_owned(),
            ..DeviceMemory::default()
        });
        seen.memory.len() - 1
    });
    let Some(memory) = seen.memory.get_mut(at) else {
        return;
    };
    let part = match what {
        "model" | "LoRA" => &mut memory.weights,
        "KV" | "RS" => &mut memory.cache,
        _ => &mut memory.compute,
    };
    *part = part.saturating_add(bytes);
}

/// Reads `offloaded 27/29 layers to GPU`.
fn layers(line: &str) -> Option<(u32, u32)> {
    let (_, counts) = line.split_once("offloaded ")?;
    let (counts, _) = counts.split_once(" layers to GPU")?;
    let (done, all) = counts.split_once('/')?;
    Some((done.trim().parse().ok()?, all.trim().parse().ok()?))
}

/// Reads `Vulkan0 model buffer size =    64.00 MiB` into device, part and bytes.
fn buffer(line: &str) -> Option<(&str, &str, u64)> {
    let (names, size) = line.split_once(" buffer size =")?;
    let mut names = names.split_whitespace().rev();
    let (what, device) = (names.next()?, names.next()?);
    let known = ["model", "LoRA", "KV", "RS", "compute", "output"].contains(&what);
    let mebibytes: f64 = size.trim().strip_suffix("MiB")?.trim().parse().ok()?;
    (known && (0.0..1e9).contains(&mebibytes)).then_some((
        device,
        what,
        (mebibytes * 1_048_576.0) as u64,
    ))
}

/// Buffers in the memory of the processor: `CPU`, `CPU_Mapped`, `CPU_REPACK`, and staging buffers
/// such as `CUDA_Host`.
fn is_host(buffer: &str) -> bool {
    buffer == "CPU" || buffer.starts_with("CPU_") || buffer.ends_with("_Host") || buffer == "BLAS"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_layers_and_memory_of_each_device() {
        let mut seen = Placement::default();
        for line in [
            "offloaded 27/29 layers to GPU\n",
            "   CPU_Mapped model buffer size =   100.00 MiB\n",
            "      Vulkan0 model buffer size =  2048.50 MiB\n",
            "      Vulkan0 KV buffer size =   512.00 MiB\n",
            "          CPU KV buffer size =    32.00 MiB\n",
            "  Vulkan_Host  output buffer size =     0.50 MiB\n",
            "      Vulkan0 compute buffer size =   128.00 MiB\n",
            "KV self size  = 1024.00 MiB",
            "kv buffer size = many MiB",
        ] {
            note(line, &mut seen);
        }
        let mib = |mebibytes: u64| mebibytes << 20;
        assert_eq!((seen.gpu_layers, seen.layers), (27, 29));
        let [host, gpu] = &seen.memory[..] else {
            panic!("{seen:?}")
        };
        assert_eq!(
            (host.device.as_str(), host.weights, host.cache),
            ("", mib(100), mib(32))
        );
        assert_eq!(host.compute, mib(1) / 2);
        assert_eq!(
            (gpu.device.as_str(), gpu.weights),
            ("Vulkan0", mib(2048) + mib(1) / 2)
        );
        assert_eq!((gpu.cache, gpu.compute), (mib(512), mib(128)));
    }

    #[test]
    fn hostile_lines_are_ignored() {
        let mut seen = Placement::default();
        for line in [
            "offloaded x/y layers to GPU",
            " buffer size = 1 MiB",
            "a KV buffer size = -1 MiB",
            "a KV buffer size = 1e99 MiB",
        ] {
            note(line, &mut seen);
        }
        assert_eq!(seen, Placement::default());
    }
}
