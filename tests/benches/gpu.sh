#!/bin/sh
# Speed of the worker with CUDA beside llama.cpp's own benchmark, on one machine in one run. A few minutes on 16 cores.
#
# This script has never been run: no machine with an NVIDIA card was at hand.
#
#   tests/benches/gpu.sh MODEL.gguf LLAMA_CPP_SOURCE
#
# LLAMA_CPP_SOURCE is a checkout of llama.cpp with its tools, at the commit that the crate llama-cpp-sys-2 carries. The
# machine needs cargo, cmake, python3 and the CUDA toolkit. Without network, put the crates into a folder with
# `cargo vendor`, carry it along, and name it in VENDOR.
set -eu

model=$(realpath "${1:?name a model file}")
source=$(realpath "${2:?name a checkout of llama.cpp}")
root=$(realpath "$(dirname "$0")/../..")
out=${OUT:-$(mktemp -d)}
for program in cargo cmake python3 nvcc nvidia-smi; do
    command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done

card=$(nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader | head -n 1)
echo "card: $card"

echo "building the worker with CUDA"
cd "$root"
if [ -n "${VENDOR:-}" ]; then
    set -- --offline --config "source.crates-io.replace-with=\"carried\"" --config "source.carried.directory=\"$VENDOR\""
else
    set --
fi
CMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES:-native} \
    cargo build --release --locked -p worker --bin inglenook-worker --features cuda --target-dir target/cuda "$@"
worker=$root/target/cuda/release/inglenook-worker
"$worker" --devices

echo "building llama.cpp's benchmark with CUDA"
cmake -S "$source" -B "$out/llama" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DLLAMA_CURL=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${CMAKE_CUDA_ARCHITECTURES:-native}" >/dev/null
cmake --build "$out/llama" --target llama-bench -j "$(nproc)" >/dev/null

# Three alternating rounds, because the clock of a card changes with its temperature.
for round in 1 2 3; do
    echo "round $round: llama.cpp"
    "$out/llama/bin/llama-bench" -m "$model" -ngl 999 -p 1024 -n 128 -r 3 -o md
    echo "round $round: worker"
    WORKER="$worker" MODEL="$model" python3 - <<'PYTHON'
import json, os, struct, subprocess

worker = subprocess.Popen([os.environ["WORKER"], "bench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(**request):
    data = json.dumps(request).encode()
    worker.stdin.write(struct.pack("<I", len(data)) + data)
    worker.stdin.flush()

def receive(kind):
    while True:
        size = struct.unpack("<I", worker.stdout.read(4))[0]
        reply = json.loads(worker.stdout.read(size))
        if reply["type"] == "error":
            raise SystemExit(reply["message"])
        if reply["type"] == kind:
            return reply

receive("ready")
send(type="load", path=os.environ["MODEL"], context=4096, threads=8, gpu_layers=999, purpose="replies")
loaded = receive("loaded")
print("placement:", json.dumps(loaded["placement"]))
for run in range(3):
    text = " ".join(str((word * 7 + run) % 10) for word in range(512))
    segment = {"text": text, "control": False}
    send(type="generate", id=run + 1, cache_key=str(run), segments=[segment], sampling={}, stop=[], max_tokens=128)
    done = receive("done")
    usage, timings = done["usage"], done["timings"]
    prompt = usage["evaluated"] / timings["prefill_ms"] * 1000
    decode = usage["generated"] / timings["decode_ms"] * 1000
    print(f"{usage['evaluated']} tokens read at {prompt:.0f}/s, {usage['generated']} written at {decode:.1f}/s")
send(type="shutdown")
worker.wait(20)
PYTHON
done
