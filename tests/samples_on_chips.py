#!/usr/bin/env python3
"""Runs the programs of samples/ on a chip: right where the chip has their functions, and elsewhere one line that says what it lacks."""
import argparse
import os
import pathlib
import subprocess
import sys

# What the first line says where a program cannot run. A program that is not listed for a chip has to be right there.
FP16 = "(fp16) is not a type of this function"
LACKS = {
    "bm1684x": {"fp8_matmul": "is not a data type of bm1684x", "l2_all_reduce": "has no SDMA engine"},
    "bm1688": {
        "digits": "tpu_bdc_fp_conv2d: start NPU of weight",  # its blocks are for 64 NPUs
        "fp8_matmul": "is not a data type of bm1688",
        "l2_all_reduce": "has no SDMA engine",
    },
    "bm1690": {"digits": "bias type is int16"},
    "bm1690e": {
        "digits": "bias type is int16",
        "int8_matmul": "tpu_gdma_cpy_cw_trans_L2S: BM1690E refuses this function",
        "transpose": "tpu_gdma_cpy_cw_trans_S2S: BM1690E refuses this function",
        "topk": "has no HAU",
    },
    "bm1684x2": {
        "digits": "dst_dtype (3) is not a data type",
        "int8_matmul": "zero point (3) is not 0, the only one",
        "l2_all_reduce": "BM1684X2 refuses this function",
        "matmul": "tpu_bdc_fp32_mm: BM1684X2 refuses this function",
        "transpose": "tpu_gdma_cpy_cw_trans_S2S: BM1684X2 refuses this function",
    },
    "cv184x": {
        "attention": FP16,
        "conv2d": "dtype (fp16) is no type of products",
        "digits": "tpu_bdc_fp_conv2d: input type is fp32",
        "embedding": FP16,
        "fp16_matmul": "dtype (fp16) is no type of products",
        "fp8_matmul": "is not a data type of cv184x",
        "int8_matmul": "tpu_gdma_cpy_cw_trans_L2S: CV184X refuses this function",
        "l2_all_reduce": "CV184X refuses this function",
        "layernorm": FP16,
        "matmul": "tpu_local_mem_size_per_npu()",  # and it has no products of f32
        "multicore_softmax": "input type (fp32) is not a type of this function",
        "softmax": "input type (fp32) is not a type of this function",
        "softmax_rows": "input type (fp32) is not a type of this function",
        "topk": "has no HAU",
        "transpose": "tpu_gdma_cpy_cw_trans_S2S: CV184X refuses this function",
    },
}


def complaint(program, chip, done):
    """What is not as it should be, or None."""
    lacks = LACKS.get(chip, {}).get(program.name)
    said = (done.stderr + done.stdout).strip().splitlines()
    if lacks is None:
        return None if done.returncode == 0 else f"exit status {done.returncode}"
    if done.returncode == 0:
        return f"is right, although {lacks!r} is expected"
    if done.returncode != 1:
        return f"exit status {done.returncode} instead of 1"
    return None if said and lacks in said[0] else f"the first line does not say {lacks!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", action="append", required=True)
    parser.add_argument("program", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    for chip in options.chip:
        for program in options.program:
            done = subprocess.run([program], capture_output=True, text=True, timeout=300, env={**os.environ, "SOFTTPU_CHIP": chip}, check=False)
            problem = complaint(program, chip, done)
            print(f"{chip} {program.name}: {problem or ('right' if done.returncode == 0 else 'cannot run')}")
            if problem:
                print(done.stdout + done.stderr)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
