#!/usr/bin/env python3
"""Makes data/model.tar.xz from a compiled language model of random weights: long runs of weights repeat their first 32 KiB, each
time turned a little further within a page, so that the file compresses to a few hundred KiB. What the weights are has no influence on what a sample shows."""
import argparse
import collections
import io
import lzma
import math
import pathlib
import struct
import tarfile

PAGE, RUN, TURN = 4096, 32768, 64
RANDOM = 6.0  # bits for each byte: more than tables and instructions have


def bits(page):
    return -sum(n / len(page) * math.log2(n / len(page)) for n in collections.Counter(page).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    data = bytearray(options.model.read_bytes())
    _, header, tables, _ = struct.unpack("<4I", data[:16])
    start = None
    for at in range(header + tables, len(data) + PAGE, PAGE):
        page = data[at:at + PAGE]
        if len(page) == PAGE and bits(page) > RANDOM:
            start = at if start is None else start
            if at - start >= RUN:
                before = data[at - RUN:at - RUN + PAGE]
                data[at:at + PAGE] = before[TURN:] + before[:TURN]
        else:
            start = None
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        entry = tarfile.TarInfo("model.bmodel")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    options.output.write_bytes(lzma.compress(inner.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
