#!/usr/bin/env python3
"""The compiler's tools, as far as softtpu is concerned: `softtpu sdk tpu-mlir` lays out the libraries, one program executes a
network instruction by instruction as the debugger does, another runs it as the model runner does."""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = HERE.parent / "golden-networks"
GLOBAL_START = 0x100000000
# Of attention_small_F16: addresses as compiled, and where its parts lie in the file.
PLACES = {"coefficients": {"address": GLOBAL_START, "file": 4096, "bytes": 131072}, "input": GLOBAL_START + 131072,
          "output": GLOBAL_START + 135168, "TIU": 135168, "DMA": 147456}


# What tools look up in the library of BM1684X. (tpu_kernel_init, whose signature is not published, is left out.)
FUNCTIONS = """
    cmodel_init cmodel_deinit cmodel_multi_thread_cxt_deinit get_local_mem clear_local_mem fill_local_mem
    get_static_memaddr_by_node get_l2_sram get_arrange_reg get_share_memaddr get_global_memaddr
    cmodel_get_global_mem_size execute_command cmodel_call_atomic set_cur_nodechip_idx get_cur_nodechip_idx tpu_npu_num
    tpu_bank_num tpu_local_mem_size_per_npu tpu_eu_num tpu_get_ic_parallel tpu_l2_sram_size get_total_nodechip_num
    get_chip_id cmodel_get_gmem_start_addr cmodel_get_last_func_id cmodel_nodechip_runtime_init
    cmodel_nodechip_runtime_exit cmodel_get_share_memory_addr cmodel_write_share_memory cmodel_write_share_reg
    cmodel_read_share_reg cmodel_share_reg_message_rp cmodel_share_reg_message_wp cmodel_share_reg_fw_status
    cmodel_wait_share_reg_equal host_dma_copy_s2d_cmodel host_dma_copy_d2s_cmodel api_poll tpu_poll
""".split()

# What the model runner asks of libbmrt and libbmlib (bmcpu_init, bmcpu_process and bmcpu_uninit are the compiler's own).
BMRT = """
    bmrt_create bmrt_load_bmodel bmrt_load_bmodel_with_decrypt bmrt_get_network_names bmrt_get_network_number bmrt_get_network_info
    bmrt_shape_count bmrt_data_type_size bmrt_launch_data bmrt_tensor_with_device bmrt_tensor bmrt_launch_tensor_ex
    bmrt_print_network_info bmrt_destroy
""".split()
BMLIB = """
    bm_dev_request bm_get_chipid bm_malloc_device_byte bm_mem_get_device_addr bm_mem_from_device bm_memcpy_s2d bm_thread_sync
    bm_memcpy_d2s bm_free_device bm_dev_free
""".split()


class LocalMemory(ctypes.Structure):
    _fields_ = [("raw_ptr", ctypes.c_void_p), ("mem_arr", ctypes.POINTER(ctypes.c_void_p)), ("count", ctypes.c_int),
                ("size_per_mem", ctypes.c_int), ("align_num", ctypes.c_int), ("need_free", ctypes.c_int)]


def check(right, text):
    if not right:
        sys.exit(f"FAILED: {text}")


def streams(build, file):
    """Both streams as lists of (number, number of the other one that it waits for, offset)."""
    lines = subprocess.run([build / "bin/softtpu", "bmodel", "disasm", "--json", file], check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in lines.splitlines()]
    found = {}
    for unit in ("TIU", "DMA"):
        own = [row for row in rows if row["unit"] == unit]
        found[unit] = [(row["id"], row["waits_for"], row["offset"]) for row in own]
    return found


def debugger(library, build, file):
    """Call order of the debugger: init, select, memories, execute, deinit."""
    emulator = ctypes.CDLL(str(library))
    missing = [name for name in FUNCTIONS if not hasattr(emulator, name)]
    check(not missing, f"missing functions: {missing}")
    emulator.get_global_memaddr.restype = emulator.get_l2_sram.restype = ctypes.c_void_p
    emulator.get_static_memaddr_by_node.restype = ctypes.c_void_p
    emulator.get_local_mem.restype = ctypes.POINTER(LocalMemory)
    emulator.cmodel_init.argtypes = [ctypes.c_int, ctypes.c_ulonglong]
    emulator.cmodel_get_global_mem_size.restype = ctypes.c_ulonglong
    emulator.cmodel_get_gmem_start_addr.restype = ctypes.c_uint64
    emulator.execute_command.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    check((emulator.tpu_npu_num(), emulator.tpu_bank_num(), emulator.tpu_local_mem_size_per_npu(), emulator.tpu_eu_num(1),
           emulator.tpu_get_ic_parallel(1)) == (64, 16, 262144, 64, 64), "geometry before cmodel_init")
    check(emulator.get_total_nodechip_num() == 1 and emulator.get_chip_id() == 0x1686, "chip")
    check(emulator.cmodel_init(0, 1 << 30) == 0, "cmodel_init")
    check(emulator.cmodel_init(1, 1 << 30) != 0, "there is no core 1")
    emulator.set_cur_nodechip_idx(0)
    local = emulator.get_local_mem(0).contents
    check((local.count, local.size_per_mem, local.align_num, local.need_free) == (64, 262144, 16, 0), "local memory's description")
    check(local.mem_arr[1] == local.raw_ptr + 262144, "local memory of NPU 1")
    check(ctypes.string_at(local.raw_ptr, 8) == b"\xef\xbe\xad\xde" * 2, "fresh local memory")
    check(emulator.cmodel_get_global_mem_size(0) == 1 << 30 and emulator.cmodel_get_gmem_start_addr() == GLOBAL_START, "global memory")
    memory = emulator.get_global_memaddr(0)
    check(ctypes.string_at(memory, 8) == bytes(8), "fresh global memory")
    # The debugger writes the tables itself.
    tables = emulator.get_static_memaddr_by_node(0)
    ctypes.memmove(tables, ctypes.string_at(tables, 16384), 16384)

    info = PLACES
    data = file.read_bytes()
    ctypes.memmove(memory + info["coefficients"]["address"] - GLOBAL_START,
                   data[info["coefficients"]["file"]:][:info["coefficients"]["bytes"]], info["coefficients"]["bytes"])
    given = file.with_suffix(".input.bin").read_bytes()
    ctypes.memmove(memory + info["input"] - GLOBAL_START, given, len(given))
    units = streams(build, file)
    done = {"TIU": 0, "DMA": 0}
    while any(done[unit] < len(units[unit]) for unit in units):
        progress = False
        for number, (unit, other) in enumerate((("TIU", "DMA"), ("DMA", "TIU"))):
            while done[unit] < len(units[unit]) and units[unit][done[unit]][1] <= done[other]:
                at = info[unit] + units[unit][done[unit]][2]
                check(emulator.execute_command(0, data[at:at + 128], number) == 0, f"{unit} {done[unit] + 1}")
                done[unit] += 1
                progress = True
        check(progress, "the streams wait for ever")
    want = file.with_suffix(".output.bin").read_bytes()
    check(ctypes.string_at(memory + info["output"] - GLOBAL_START, len(want)) == want, "the network's output")
    check(emulator.execute_command(0, b"\xff" * 128, 0) != 0, "an instruction that does not exist")
    check(emulator.execute_command(0, data[info["TIU"]:][:128], 2) != 0, "an engine that does not exist")
    emulator.cmodel_deinit(0)
    check(emulator.cmodel_init(0, 1 << 28) == 0, "cmodel_init once more")
    emulator.cmodel_deinit(0)


class Shape(ctypes.Structure):
    _fields_ = [("num_dims", ctypes.c_int), ("dims", ctypes.c_int * 8)]


class Memory(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 3)]


class Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("shape", Shape), ("memory", Memory), ("mode", ctypes.c_int)]


def model_runner(folder, file):
    """By the names that the model runner opens, in its order: a launch with arrays, and one as for dynamic shapes."""
    bmlib = ctypes.CDLL(str(folder / "lib/libbmlib.so.0"))
    bmrt = ctypes.CDLL(str(folder / "lib/libbmrt.so.1.0"))
    missing = [name for library, names in ((bmrt, BMRT), (bmlib, BMLIB)) for name in names if not hasattr(library, name)]
    check(not missing, f"missing functions: {missing}")
    bmrt.bmrt_create.restype = bmrt.bmrt_get_network_info.restype = ctypes.c_void_p
    for name in ("bmrt_load_bmodel", "bmrt_launch_data", "bmrt_tensor", "bmrt_launch_tensor_ex"):
        getattr(bmrt, name).restype = ctypes.c_bool
    bmrt.bmrt_shape_count.restype = ctypes.c_uint64
    bmrt.bmrt_data_type_size.restype = ctypes.c_size_t
    bmrt.bmrt_tensor.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, Shape]
    bmlib.bm_memcpy_s2d.argtypes = [ctypes.c_void_p, Memory, ctypes.c_void_p]
    bmlib.bm_memcpy_d2s.argtypes = [ctypes.c_void_p, ctypes.c_void_p, Memory]
    bmlib.bm_free_device.argtypes = [ctypes.c_void_p, Memory]
    bmlib.bm_free_device.restype = None
    handle, chip = ctypes.c_void_p(), ctypes.c_uint32()
    check(bmlib.bm_dev_request(ctypes.byref(handle), 0) == 0, "bm_dev_request")
    check(bmlib.bm_get_chipid(handle, ctypes.byref(chip)) == 0 and chip.value == 0x1686, "bm_get_chipid")
    runtime = ctypes.c_void_p(bmrt.bmrt_create(handle))
    check(runtime and bmrt.bmrt_load_bmodel(runtime, str(file).encode()), "bmrt_load_bmodel")
    names = ctypes.POINTER(ctypes.c_char_p)()
    bmrt.bmrt_get_network_names(runtime, ctypes.byref(names))
    check(bmrt.bmrt_get_network_number(runtime) == 1 and names[0] == b"attention_small", "the network's name")
    info = ctypes.c_void_p(bmrt.bmrt_get_network_info(runtime, names[0]))
    bmrt.bmrt_print_network_info(info)
    given, want = file.with_suffix(".input.bin").read_bytes(), file.with_suffix(".output.bin").read_bytes()
    shape = Shape(3, (ctypes.c_int * 8)(1, 12, 48))
    check(bmrt.bmrt_shape_count(ctypes.byref(shape)) * bmrt.bmrt_data_type_size(0) == len(given), "bytes of the input")
    output = ctypes.create_string_buffer(len(want))
    inputs = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.c_char_p(given), ctypes.c_void_p))
    outputs = (ctypes.c_void_p * 1)(ctypes.addressof(output))
    shapes = (Shape * 1)()
    good = bmrt.bmrt_launch_data(runtime, b"attention_small", inputs, ctypes.byref(shape), 1, outputs, shapes, 1, ctypes.c_bool(True))
    check(good and output.raw == want, "bmrt_launch_data")
    check(list(shapes[0].dims[:3]) == [1, 12, 48], "the output's shape")

    source, result = Tensor(), Tensor()
    check(bmrt.bmrt_tensor(ctypes.byref(source), runtime, 0, shape), "bmrt_tensor")
    check(bmlib.bm_memcpy_s2d(handle, source.memory, given) == 0, "bm_memcpy_s2d")
    check(bmrt.bmrt_tensor(ctypes.byref(result), runtime, 0, shape), "bmrt_tensor")
    good = bmrt.bmrt_launch_tensor_ex(runtime, b"attention_small", ctypes.byref(source), 1, ctypes.byref(result), 1, ctypes.c_bool(True),
                                      ctypes.c_bool(False))
    check(good and bmlib.bm_thread_sync(handle) == 0, "bmrt_launch_tensor_ex")
    output = ctypes.create_string_buffer(len(want))
    check(bmlib.bm_memcpy_d2s(handle, output, result.memory) == 0 and output.raw == want, "bm_memcpy_d2s")
    for tensor in (source, result):
        bmlib.bm_free_device(handle, tensor.memory)
    bmrt.bmrt_destroy(runtime)
    bmlib.bm_dev_free(handle)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--sdk", type=pathlib.Path, help="the tree, in the program that uses it")
    options = parser.parse_args()
    file = NETWORKS / "attention_small_F16.bmodel"
    if options.sdk:
        debugger(options.sdk / "lib/libcmodel_bm1684x.so", options.build, file)
        model_runner(options.sdk, file)
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "sdk")
        subprocess.run([options.build / "bin/softtpu", "sdk", "tpu-mlir", tree], check=True, stdout=subprocess.DEVNULL)
        for name in ("libbmrt.so", "libbmrt.so.1.0", "libbmlib.so", "libbmlib.so.0", "libcmodel_bm1684x.so", "libcmodel.so"):
            check((tree / "lib" / name).exists(), name)
        # The tools find libraries by LD_LIBRARY_PATH.
        environment = {**os.environ, "LD_LIBRARY_PATH": str(tree / "lib"), "BMRT_SAVE_IO_TENSORS": "1", "BMRUNTIME_ENABLE_PROFILE": "0"}
        done = subprocess.run([sys.executable, __file__, "--build", options.build, "--sdk", tree], check=True, env=environment, timeout=100,
                              stderr=subprocess.PIPE, text=True)
        warned = [line for line in done.stderr.splitlines() if "writes no files here" in line]
        check(len(warned) == 1 and "BMRT_SAVE_IO_TENSORS" in warned[0], f"what is said of variables that have no effect: {done.stderr}")
    print("debugger and model runner: right")


if __name__ == "__main__":
    main()
