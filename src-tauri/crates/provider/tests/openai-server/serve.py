"""Serves one GGUF file with llama.cpp's OpenAI-compatible server on a free loopback port.

    serve.py MODEL [API_KEY]

Prints the server's address as its first line. Exits when stdin closes, so that it ends together with its test.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.api_keys = sys.argv[2:3]
params.hostnames = ["127.0.0.1"]
params.n_ctx = 1024
params.cpuparams.n_threads = 2
params.ui = False
params.warmup = False

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
