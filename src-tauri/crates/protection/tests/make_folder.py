#!/usr/bin/env python3
"""Writes tests/folder, a protected folder sealed by libsodium: an independent reference for this crate.

usage: make_folder.py FOLDER      (needs PyNaCl: pip install pynacl)

Keys, salts and nonces are counted instead of random, so that the folder is the same each time.
"""
import hashlib, hmac, json, pathlib, sys
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as seal
from nacl.pwhash import argon2id

PASSPHRASE = "Lampenanzünder öffnet 🔑"
MEMORY_KIB, PASSES = 64, 2
PLAIN = "The lamps burn whale oil.\n"
FILE = "assets/lamp.txt"


def count(first, length):
    return bytes((first + step) % 256 for step in range(length))


def derive(secret, purpose, salt=bytes(32)):
    extracted = hmac.digest(salt, secret, "sha256")
    return hmac.digest(extracted, b"inglenook 1 " + purpose + b"\x01", "sha256")


def slot(purpose, secret, salt, nonce, cost=None):
    wrap = b"inglenook 1 wrap " + purpose
    wrapped = seal(DATA_KEY, wrap, nonce, derive(secret, b"wrap " + purpose))
    verifier = derive(secret, b"verifier " + purpose)
    numbers = b"".join(number.to_bytes(4, "big") for number in (cost or {}).values())
    checksum = hashlib.sha256(purpose + numbers + salt + nonce + wrapped + verifier).digest()
    names = ("salt", "nonce", "wrapped", "verifier", "checksum")
    fields = dict(zip(names, (part.hex() for part in (salt, nonce, wrapped, verifier, checksum))))
    return fields if cost is None else {"argon2id": cost, **fields}


DATA_KEY, CODE = count(1, 32), count(101, 32)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
salts = [count(first, 16) for first in (40, 60)]
secret = argon2id.kdf(32, PASSPHRASE.encode(), salts[0], opslimit=PASSES, memlimit=MEMORY_KIB * 1024)
cost = {"memory_kib": MEMORY_KIB, "passes": PASSES}
document = {
    "format": "inglenook key file",
    "version": 1,
    "check": derive(DATA_KEY, b"check").hex(),
    "passphrase": slot(b"passphrase", secret, salts[0], count(80, 24), cost),
    "recovery_code": slot(b"recovery_code", derive(CODE, b"recovery_code", salts[1]), salts[1], count(120, 24)),
}
(folder / "protection.json").write_bytes(json.dumps(document, indent=2).encode() + b"\n")
name = hmac.digest(derive(DATA_KEY, b"names"), FILE.encode(), "sha256")
header = b"NOOKSEAL\x01" + count(200, 19)
nonce = header[9:] + bytes(4) + b"\x01"
(folder / name.hex()).write_bytes(header + seal(PLAIN.encode(), header + name, nonce, derive(DATA_KEY, b"files")))
