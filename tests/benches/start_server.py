"""Starts llama.cpp's server for the benchmark `start`.

Prints "imported" once Python has loaded the library, then the server's address. Exits when stdin closes.
"""

import sys

import xllamacpp

print("imported", flush=True)
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.n_ctx = 1024
params.cpuparams.n_threads = 2
params.ui = False
params.warmup = False

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
