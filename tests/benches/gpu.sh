#!/bin/sh
# Speed of the worker with CUDA next to llama.cpp's own library, on one machine in one run.
#
#   tests/benches/gpu.sh pack FOLDER            where cargo is: fills FOLDER, about 60 MB; no CUDA needed
#   tests/benches/gpu.sh run FOLDER MODEL.gguf  where the card is: about 5 minutes on 16 cores
#   tests/benches/gpu.sh check FOLDER MODEL.gguf  the same without CUDA, to test this script
#
# `run` needs no cargo and no network: it compiles only llama.cpp's CUDA backend, from the sources that the worker was
# built from, and puts it next to the worker. It needs the CUDA toolkit, cmake, a C++ compiler and python3. The reference
# (gpu_reference.c) does what llama-bench does, with the same library. ROUNDS and PROMPT change the size of a run.
#
# None of the three has run as a whole. The reference and the build of the backends without CUDA have been tried alone; no
# machine with an NVIDIA card was at hand.
set -eu

usage() { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
need() { for program in "$@"; do command -v "$program" >/dev/null || { echo "gpu.sh: $program is missing" >&2; exit 1; }; done; }

[ $# -ge 2 ] || usage
action=$1
mkdir -p "$2"
folder=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
rounds=${ROUNDS:-3}
prompt=${PROMPT:-1024}

pack() {
    need cargo tar python3
    cd "$here/../.."
    # Portable: every backend is a library of its own, so that CUDA can be added later.
    cargo rustc --locked --release -p worker --bin inglenook-worker --features portable \
        --message-format json-render-diagnostics -- -C 'link-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN' >"$folder/cargo.json"
    python3 - "$folder" <<'PYTHON'
import json, pathlib, re, shutil, sys, tarfile

folder = pathlib.Path(sys.argv[1])
messages = [json.loads(line) for line in (folder / "cargo.json").read_text().splitlines()]
llama = next(m for m in messages if m["reason"] == "build-script-executed" and "llama-cpp-sys-2" in m["package_id"])
source = next(m for m in messages if m["reason"] == "compiler-artifact" and "llama-cpp-sys-2" in m["package_id"])
worker = next(m["executable"] for m in messages if m.get("executable"))
shutil.copy(worker, folder / "inglenook-worker")
built = pathlib.Path(llama["out_dir"])
for library in [*(built / "lib").iterdir(), *(built / "backends").glob("*.so")]:
    # Programs load `libllama.so.0`; `libllama.so` is for the linker.
    if re.search(r"\.so(\.\d+)?$", library.name):
        shutil.copy(library, folder / library.name)
root = pathlib.Path(source["manifest_path"]).parent / "llama.cpp"
with tarfile.open(folder / "llama.tar.gz", "w:gz") as archive:
    for part in ["ggml", "include"]:
        archive.add(root / part, part)
(folder / "cargo.json").unlink()
PYTHON
    cp "$here/gpu_reference.c" "$folder"
    du -sh "$folder"
}

# Compiles the reference, and the backend unless the first argument is "check".
build() {
    need cmake cc c++ python3 tar
    for file in inglenook-worker libllama.so.0 libggml.so.0 libggml-base.so.0 llama.tar.gz gpu_reference.c; do
        [ -e "$folder/$file" ] || { echo "gpu.sh: $folder/$file is missing; run 'pack' first" >&2; exit 1; }
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    tar -xzf "$folder/llama.tar.gz" -C "$work"
    mkdir -p "$folder/graphics"
    if [ "$1" = run ]; then
        need nvcc nvidia-smi
        nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
        capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
        cuda="-DGGML_CUDA=ON -DGGML_CUDA_NCCL=OFF -DCMAKE_CUDA_ARCHITECTURES=$capability"
        target=ggml-cuda
    else
        cuda=-DGGML_CUDA=OFF
        target=ggml-base
    fi
    # The crate lacks a file that ggml's own project needs, so ggml is a part of this one.
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(backend C CXX)' 'add_subdirectory(ggml)' \
        >"$work/CMakeLists.txt"
    # shellcheck disable=SC2086
    if ! { cmake -S "$work" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_BACKEND_DL=ON \
        -DGGML_CPU=OFF -DGGML_NATIVE=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF $cuda \
        && cmake --build "$work/build" --target "$target" -j "$(nproc)"; } >"$work/log" 2>&1; then
        tail -n 40 "$work/log" >&2
        exit 1
    fi
    [ "$1" = check ] || find "$work/build" -name 'libggml-cuda.so' -exec cp {} "$folder/graphics/" \;
    cc -O2 "$folder/gpu_reference.c" -I "$work/include" -I "$work/ggml/include" -o "$folder/gpu_reference" \
        "$folder/libllama.so.0" "$folder/libggml.so.0" "$folder/libggml-base.so.0" -lm -Wl,-rpath,"$folder" \
        -Wl,--allow-shlib-undefined
}

# Prints the speeds of alternating rounds, because the clock of a card changes with its temperature.
measure() {
    "$folder/inglenook-worker" --devices
    [ "$action" = check ] || "$folder/inglenook-worker" --devices | grep -q CUDA || {
        echo "gpu.sh: the worker does not see the card" >&2
        exit 1
    }
    FOLDER=$folder MODEL=$1 LAYERS=$([ "$action" = run ] && echo 999 || echo 0) ROUNDS=$rounds PROMPT=$prompt python3 - <<'PYTHON'
import json, os, statistics, struct, subprocess

folder, model = os.environ["FOLDER"], os.environ["MODEL"]
layers, rounds, prompt = (int(os.environ[name]) for name in ["LAYERS", "ROUNDS", "PROMPT"])
TOKENS = 128


def reference():
    """Tokens per second of prompt and reply, the median of three rounds."""
    command = [f"{folder}/gpu_reference", f"{folder}:{folder}/graphics", model, str(layers), str(prompt), str(TOKENS), "3"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    figures = [tuple(map(float, line.split())) for line in lines if line]
    return tuple(map(statistics.median, zip(*figures)))


def ours():
    worker = subprocess.Popen([f"{folder}/inglenook-worker", "bench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(**request):
        data = json.dumps(request).encode()
        worker.stdin.write(struct.pack("<I", len(data)) + data)
        worker.stdin.flush()

    def receive(kind):
        while True:
            head = worker.stdout.read(4)
            if len(head) < 4:
                raise SystemExit(f"the worker ended with {worker.wait()}")
            reply = json.loads(worker.stdout.read(struct.unpack("<I", head)[0]))
            if reply["type"] == "error":
                raise SystemExit(reply["message"])
            if reply["type"] == kind:
                return reply

    receive("ready")
    send(type="load", path=model, context=4096, threads=os.cpu_count(), gpu_layers=layers, purpose="replies")
    placement = receive("loaded")["placement"]
    figures = []
    for run in range(4):
        # A digit and a blank are one or two tokens each. The start differs, so that nothing is reused.
        text = f"Run {run}. " + " ".join(str(word * 7 % 10) for word in range(prompt // 2))
        send(type="generate", id=run + 1, cache_key=str(run), segments=[{"text": text, "control": False}], sampling={},
             stop=[], max_tokens=TOKENS, rules={"ban_end_token": True})
        done = receive("done")
        usage, timings = done["usage"], done["timings"]
        speeds = usage["evaluated"] / timings["prefill_ms"] * 1000, usage["generated"] / timings["decode_ms"] * 1000
        # The first run warms up.
        if run > 0:
            figures.append((*speeds, usage["evaluated"]))
    send(type="shutdown")
    worker.wait(20)
    return tuple(map(statistics.median, zip(*figures))), placement


ratios = []
for round in range(rounds):
    theirs = reference()
    (read, written, tokens), placement = ours()
    if round == 0:
        print("placement:", json.dumps(placement))
    ratios.append((read / theirs[0], written / theirs[1]))
    print(f"round {round + 1}: prompt of {tokens:.0f} tokens at {read:.0f}/s against {theirs[0]:.0f}/s of {prompt};",
          f"reply at {written:.1f}/s against {theirs[1]:.1f}/s")
print("median ratios: prompt {:.2f}, reply {:.2f}".format(*map(statistics.median, zip(*ratios))))
if layers and placement["gpu_layers"] < placement["layers"]:
    raise SystemExit("not all layers are on the card, so these are no figures of the card")
PYTHON
}

case $action in
    pack) pack ;;
    run | check)
        [ $# -eq 3 ] || usage
        model=$(realpath "$3")
        build "$action"
        measure "$model"
        ;;
    *) usage ;;
esac
