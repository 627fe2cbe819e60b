"""Serves one GGUF file with llama.cpp's OpenAI-compatible server on a free loopback port.

    serve.py MODEL [API_KEY]

Prints the server's address as its first line, and ends when standard input does: a test that dies takes it along.
"""

import os
import sys

# Spinning OpenMP threads cut decode to a fraction as soon as anything else runs; read when the library is loaded.
os.environ["OMP_WAIT_POLICY"] = "passive"

import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.api_keys = sys.argv[2:3]
params.hostnames = ["127.0.0.1"]
params.n_ctx = 1024
params.n_batch = 128
params.cpuparams.n_threads = 2
params.ui = False
params.warmup = False

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
