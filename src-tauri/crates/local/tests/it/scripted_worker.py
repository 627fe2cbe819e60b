#!/usr/bin/env python3
"""A worker whose machine can be described in machine.json, beside this file. It speaks the real protocol."""
import json
import os
import signal
import struct
import sys
import time

MACHINE = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "machine.json")))
NO_GRAPHICS = "--no-graphics" in sys.argv


def send(**reply):
    data = json.dumps(reply).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()


def receive():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(struct.unpack("<I", head)[0]))


def devices():
    if MACHINE["driver"] == "hangs":
        time.sleep(600)
    if MACHINE["driver"] == "crashes":
        sys.stderr.write("the driver found a bug\n")
        os.abort()
    print(json.dumps(MACHINE["devices"]))


def load(request):
    layers, context = request["gpu_layers"], request["context"]
    if layers > 0 and (NO_GRAPHICS or MACHINE["driver"] == "dies at load"):
        os.abort()
    if layers > 0 and MACHINE["driver"] == "is killed at load":
        os.kill(os.getpid(), signal.SIGKILL)
    full = layers > 0 and request["tuning"]["processor_experts"] < MACHINE.get("least_experts", 0)
    if full or layers > MACHINE["max_layers"] or context > MACHINE["max_context"]:
        message = "a context of %d tokens does not fit into memory" % context
        return send(type="error", id=None, code="memory", message=message)
    host = {"device": "", "weights": MACHINE["bytes"], "cache": 0, "compute": 0}
    card = {"device": "Vulkan0", "weights": 1000, "cache": 200, "compute": 30}
    memory = [host, card] if layers > 0 else [host]
    placement = {"layers": 31, "gpu_layers": layers, "memory": memory}
    send(type="loaded", context=context, vocab=10, dimensions=0, bos=False, placement=placement)


def main():
    layers = 0
    send(type="ready", protocol=MACHINE["protocol"], build="scripted", devices=[])
    while True:
        request = receive()
        kind = request["type"]
        if kind == "load":
            layers = request["gpu_layers"]
            load(request)
        elif kind == "generate":
            if layers > 0 and MACHINE["driver"] == "dies at a reply":
                os.abort()
            if layers > 0 and MACHINE["driver"] == "is killed at a reply":
                os.kill(os.getpid(), signal.SIGKILL)
            send(type="text", id=request["id"], text="It works.")
            if layers > 0 and MACHINE["driver"] == "dies in a reply":
                os.abort()
            usage = {"prompt": 5, "reused": 0, "evaluated": 5, "generated": 3}
            slow = layers > 0 and MACHINE["driver"] == "is slow"
            timings = {"prefill_ms": 1.0, "decode_ms": 5.0 if slow else 1.0}
            send(type="done", id=request["id"], reason="stop", usage=usage, timings=timings)
        elif kind == "shutdown":
            sys.exit(0)


if "--devices" in sys.argv:
    devices()
else:
    main()
