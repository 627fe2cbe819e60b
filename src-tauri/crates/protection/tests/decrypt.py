#!/usr/bin/env python3
"""Decrypts the sealed files of a protected Inglenook folder with its passphrase.

usage: decrypt.py FOLDER OUT < PASSPHRASE      (needs Python 3.8 and PyNaCl: pip install pynacl)
It also writes OUT/database.key for decrypt_database.py. src-tauri/docs/protection.md has the layouts."""
import hmac, json, pathlib, sys, unicodedata
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt as open_sealed
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

MAGIC, HEADER, CHUNK = b"NOOKSEAL\x01", 28, 65536 + 16


def derive(secret, purpose):
    """HKDF-SHA256 without a salt; 32 bytes are one block of it."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, b"inglenook 1 " + purpose + b"\x01", "sha256")


def normal_form(text):
    return "".join(" " if letter.isspace() else letter for letter in unicodedata.normalize("NFC", text)).strip()


def unlock(key_file, passphrase):
    slot = json.loads(key_file.read_text("utf-8"))["passphrase"]
    cost, field = slot["argon2id"], lambda name: bytes.fromhex(slot[name])
    secret = argon2id.kdf(32, normal_form(passphrase).encode(), field("salt"),
                          opslimit=cost["passes"], memlimit=cost["memory_kib"] * 1024)
    if derive(secret, b"verifier passphrase") != field("verifier"):
        sys.exit("The passphrase is not the right one.")
    wrapping_key = derive(secret, b"wrap passphrase")
    return open_sealed(field("wrapped"), b"inglenook 1 wrap passphrase", field("nonce"), wrapping_key)


def opened(sealed, name, key):
    header, starts = sealed[:HEADER], range(HEADER, max(len(sealed), HEADER + 1), CHUNK)
    for chunk, start in enumerate(starts):
        nonce = header[9:] + chunk.to_bytes(4, "big") + bytes([chunk == len(starts) - 1])
        yield open_sealed(sealed[start:start + CHUNK], header + bytes.fromhex(name), nonce, key)


folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
data_key = unlock(folder / "protection.json", sys.stdin.buffer.read().decode())
keys = [derive(root, purpose) for root in (data_key, derive(data_key, b"private folder"))
        for purpose in (b"files", b"caches")]
out.mkdir(parents=True, exist_ok=True)
(out / "database.key").write_text(derive(data_key, b"database").hex())
for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.read_bytes().startswith(MAGIC)):
    name = bound = path.name[:64]
    if name.endswith(".json"):  # A manifest of a backup, whose name is not sealed.
        bound = hmac.new(derive(data_key, b"names"), b"backups/" + name.encode(), "sha256").hexdigest()
    for key in keys:
        try:
            (out / name).write_bytes(b"".join(opened(path.read_bytes(), bound, key)))
            break
        except (CryptoError, ValueError):
            continue  # Sealed with another key of the folder, renamed or damaged.
    else:
        print("not opened:", path, file=sys.stderr)
