#!/usr/bin/env python3
"""Decrypts a database of a protected Inglenook folder, such as inglenook.db or a backup.

usage: decrypt_database.py KEY DATABASE OUT      (needs Python 3.8 and no package)
KEY is the file database.key that decrypt.py writes. Any SQLite opens OUT. Changes that are only in
DATABASE-wal are not included. src-tauri/docs/protection.md has the layout."""
import hmac, pathlib, struct, sys

PAGE, CONTENT, LOW = 4096, 4064, 0xFFFFFFFF
ROUND = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def chacha20(key, counter, nonce, blocks):
    """The key stream. A number holds the same word of all blocks, each in its own 64 bits."""
    ones = sum(1 << 64 * block for block in range(blocks))
    low = ones * LOW
    words = struct.unpack("<4I8I", b"expand 32-byte k" + key)
    counters = sum((counter + block & LOW) << 64 * block for block in range(blocks))
    start = [word * ones for word in words] + [counters]
    start += [word * ones for word in struct.unpack("<3I", nonce)]
    state = start[:]

    def mix(target, source, turned, bits):
        state[target] = state[target] + state[source] & low
        word = state[turned] ^ state[target]
        state[turned] = (word << bits | word >> 32 - bits) & low

    for a, b, c, d in ROUND * 10:
        mix(a, b, d, 16)
        mix(c, d, b, 12)
        mix(a, b, d, 8)
        mix(c, d, b, 7)
    sums = [(word + first & low).to_bytes(8 * blocks, "little") for word, first in zip(state, start)]
    return b"".join(part[8 * block:8 * block + 4] for block in range(blocks) for part in sums)


def poly1305(message, key):
    factor = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    tag = 0
    for start in range(0, len(message), 16):
        tag = (tag + int.from_bytes(message[start:start + 16] + b"\x01", "little")) * factor % ((1 << 130) - 5)
    return (tag + int.from_bytes(key[16:], "little") & (1 << 128) - 1).to_bytes(16, "little")


def decrypted(page, number, key):
    nonce, last = page[CONTENT:CONTENT + 12], page[CONTENT + 12:CONTENT + 16]
    counter = int.from_bytes(last, "little") ^ number
    keys = chacha20(key, counter, nonce, 1)
    if not hmac.compare_digest(poly1305(page[:CONTENT + 16], keys[:32]), page[CONTENT + 16:]):
        sys.exit(f"Page {number} is damaged, or the key is not the right one.")
    begin = 24 if number == 1 else 0
    stream = chacha20(key=keys[32:], counter=counter + 1, nonce=nonce, blocks=PAGE // 64)
    content = bytes(byte ^ other for byte, other in zip(page[begin:CONTENT], stream))
    plain = page[:begin] + content
    return (b"SQLite format 3\0" + plain[16:] if number == 1 else plain) + page[CONTENT:]


key = bytes.fromhex(pathlib.Path(sys.argv[1]).read_text().strip())
database = pathlib.Path(sys.argv[2]).read_bytes()
with open(sys.argv[3], "wb") as out:
    for start in range(0, len(database), PAGE):
        out.write(decrypted(database[start:start + PAGE], start // PAGE + 1, key))
