#!/usr/bin/env python3
"""A language model generates tokens: the loop of main.c in Python. The caches of keys and values stay in device memory."""
import pathlib
import sys
import tarfile
import time

import numpy as np

import softtpu

PROMPT = [17, 4, 1203, 88, 951, 3, 640, 12]
HIDDEN = 0xC61C  # -10000 in bf16: what a position must not see


class Llm:
    def __init__(self, device, path):
        self.model = device.load_model(path)
        self.blocks = sum(name.startswith("block_") and not name.startswith("block_cache_") for name in self.model.networks)
        self.device, self.estimated_us = device, 0
        self.length = self.memory("embedding", "input_ids").shape[1]

    def memory(self, network, name):
        return self.model.memory(name, network)

    def run(self, network, **inputs):
        for name, values in inputs.items():
            to = self.memory(network, name)
            if isinstance(values, softtpu.Array):
                to.copy_from(values)
            else:
                to.write(values)
        made = self.model.launch(network)
        self.estimated_us += self.model.last_estimate_us or 0
        return made

    def head(self, states):
        return int(self.run("lm_head", hidden_states=states)["token_id"].numpy()[0, 0])

    def first_token(self, tokens):
        """The whole prompt at once; fills the caches."""
        count = len(tokens)
        ids, places = np.zeros((2, 1, self.length), np.int32)
        ids[0, :count], places[0, :count] = tokens, range(count)
        mask = np.full((1, 1, self.length, self.length), HIDDEN, np.uint16)
        mask[0, 0, :count] = np.where(np.tri(count, self.length), 0, HIDDEN)
        states = self.run("embedding", input_ids=ids)["embedding"]
        for i in range(self.blocks):
            made = self.run(f"block_{i}", input_states=states, position_ids=places, attention_mask=mask)
            states = made["output_states"]
            for cache, history in (("k_cache", "history_k"), ("v_cache", "history_v")):
                self.memory(f"block_cache_{i}", history).copy_from(made[cache])
        return self.head(states[:, count - 1])

    def next_token(self, token, place):
        """One token more; `place` is its position."""
        mask = np.full((1, 1, 1, self.length + 1), HIDDEN, np.uint16)
        mask[..., :place] = mask[..., -1] = 0
        states = self.run("embedding_cache", input_ids=np.array([[token]], np.int32))["embedding_cache"]
        for i in range(self.blocks):
            made = self.run(f"block_cache_{i}", input_states=states, position_ids=np.array([[place]], np.int32), attention_mask=mask)
            states = made["output_states"]
            for cache, history in (("k_cache", "history_k"), ("v_cache", "history_v")):
                self.memory(f"block_cache_{i}", history)[:, place:place + 1].copy_from(made[cache])
        return self.head(states[:, 0])


def main():
    data = pathlib.Path(__file__).parent / "data"
    if len(sys.argv) > 1:
        path, expected = sys.argv[1], None
    else:
        with tarfile.open(data / "model.tar.xz") as archive:
            path = archive.extractfile("model.bmodel").read()
        expected = [int(word) for word in (data / "tokens.txt").read_text().split()]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    with softtpu.Device(chip="bm1684x", time=True) as device:
        llm = Llm(device, path)
        start = time.perf_counter()
        tokens = [llm.first_token(PROMPT)]
        first, first_us, start, llm.estimated_us = time.perf_counter() - start, llm.estimated_us, time.perf_counter(), 0
        while len(tokens) < wanted:
            tokens.append(llm.next_token(tokens[-1], len(PROMPT) + len(tokens) - 1))
        others = max(wanted - 1, 1)
        print("tokens:", *tokens)
        print(f"{llm.blocks} blocks, {-(-device.used_bytes >> 20)} MiB of device memory")
        print(f"first token: {first:.2f} s here, {first_us / 1e6:.6f} s on the chip (estimate)")
        print(f"each other token: {(time.perf_counter() - start) / others:.3f} s here, {llm.estimated_us / 1e6 / others:.6f} s on the chip (estimate)")
    if expected is not None and tokens != expected[:wanted]:
        sys.exit(f"llm.py: the tokens are not those of data/tokens.txt: {expected[:wanted]}")


if __name__ == "__main__":
    try:
        main()
    except softtpu.Error as problem:
        sys.exit(f"llm.py: {problem}")
