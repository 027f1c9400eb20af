"""Launches: arguments, results, failures, findings, streams, Ctrl-C."""
import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import softtpu


def random_pair(count=1 << 12, seed=3):
    rng = np.random.default_rng(seed)
    return rng.random(count, np.float32), rng.random(count, np.float32)


def test_the_first_example(kernels_file):
    x, y = random_pair(1 << 16)
    with softtpu.Device(chip="bm1684x", check="all", time=True) as dev:
        mod = dev.compile(kernels_file)
        a, b = dev.array(x), dev.array(y)
        out = dev.empty_like(a)
        result = mod.add(out, a, b, a.size)
        assert np.array_equal(out.numpy(), x + y)
        assert result.findings == () and result.kernel == "add"
        assert result.estimated_us == result.time["total_us"] > 0
        assert result.time["kernel"] == "add" and result.bound == result.time["bound"]


def test_time_only_estimates_the_same_and_computes_nothing(kernels_file):
    x, y = random_pair()

    def launch(**options):
        with softtpu.Device(chip="bm1684x", **options) as dev:
            mod = dev.compile(kernels_file)
            a, b, out = dev.array(x), dev.array(y), dev.zeros(x.size)
            return mod.add(out, a, b, a.size), out.numpy()

    (full, sums), (quick, zeros) = launch(time=True), launch(time_only=True)
    assert quick.estimated_us == full.estimated_us > 0
    assert np.array_equal(sums, x + y) and not zeros.any()
    assert "the time rests on: " in quick.text and quick.rests_on in quick.text
    with pytest.raises(softtpu.Error, match="SOFTTPU_TIME=only computes nothing"):
        softtpu.Device(chip="bm1684x", time_only=True, check="all")


DATA_DEPENDENT = """
#include <tpu_kernel.h>
typedef struct { unsigned long long list, mask; int count; } args_t;
void find(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, 1, 1, args->count};
  tpu_gdma_nonzero_S2S(args->list, args->mask, &shape, DT_INT32, 0);
  if (tpu_gdma_get_filter_num() > 3) tpu_poll();
}
void peek(const void* raw) {
  const args_t* args = raw;
  int* mask = tpu_global_mem_addr(args->mask);
  if (mask[0] > 3) tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(find)
TPUKERNEL_FUNC_REGISTER(peek)
"""


@pytest.mark.parametrize("kernel, function", [("find", "tpu_gdma_nonzero_S2S"), ("peek", "tpu_global_mem_addr")])
def test_time_only_refuses_kernels_whose_steps_depend_on_data(kernel, function):
    with softtpu.Device(chip="bm1684x", time_only=True) as dev:
        mod = dev.compile(DATA_DEPENDENT)
        mask, found = dev.array(np.arange(8, dtype=np.int32)), dev.zeros(8, np.int32)
        with pytest.raises(softtpu.LaunchError, match=f"{function}: .*SOFTTPU_TIME=only"):
            getattr(mod, kernel)(found, mask, 8)


def test_without_time_there_is_no_estimate(mod, dev):
    a = dev.array(random_pair()[0])
    result = mod.add(a, a, a, a.size)
    assert result.estimated_us is None and result.time is None


def test_arguments_by_name_in_any_order(mod, dev):
    x, y = random_pair()
    a, b, out = dev.array(x), dev.array(y), dev.zeros(x.size)
    mod.add(count=x.size, b=b, out=out, a=a)
    assert np.array_equal(out.numpy(), x + y)
    mod.add(out, b, count=x.size, b=b)
    assert np.array_equal(out.numpy(), y + y)


@pytest.mark.parametrize("args, member, says", [
    ((1, 2, 3), "count", "is not given"),
    ((1, 2, 3, 4, 5), None, "5 arguments are given, and add_args_t has 4 members"),
    ((1, 2, 3, 1.5), "count", "takes an integer, not 1.5"),
    ((1, 2, 3, "four"), "count", "takes an integer"),
    ((1, 2, 3, 1 << 31), "count", "takes an integer from -2147483648 to 2147483647"),
    ((-1, 2, 3, 4), "out", "takes an integer from 0"),
    ((1 << 64, 2, 3, 4), "out", "takes an integer from 0"),
    ((1, None, 3, 4), "a", "takes an integer"),
])
def test_arguments_that_do_not_fit_name_their_member(mod, args, member, says):
    with pytest.raises(softtpu.ArgumentError) as caught:
        mod.add(*args)
    assert caught.value.member == member and says in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_names_that_are_wrong_are_refused(mod, dev):
    a = dev.zeros(64)
    with pytest.raises(softtpu.ArgumentError, match="no member 'size'"):
        mod.add(a, a, a, size=64)
    with pytest.raises(softtpu.ArgumentError, match="'a' is given twice"):
        mod.add(a, a, a, 64, a=a)
    with pytest.raises(softtpu.ArgumentError, match="takes a number, and no array"):
        mod.add(a, a, a, a)
    with pytest.raises(softtpu.ArgumentError, match="not contiguous"):
        mod.add(a, a[::2], a, 32)
    with softtpu.Device() as other, pytest.raises(softtpu.ArgumentError, match="on another device"):
        mod.add(a, other.zeros(64), a, 64)
    with pytest.raises(AttributeError, match=r"\"nothing\" is not found in .*; it registers .*add"):
        mod.nothing


# NumPy's own type, which no chip has: the sums are wrong, and no check sees why.
def test_a_result_says_that_an_array_is_of_float64(dev, mod):
    x = np.ones(64)
    whole, half = dev.array(x), dev.array(x.astype(np.float32))
    said = mod.add(dev.empty_like(half), whole, half, 64).text.splitlines()
    assert said[1] == "argument a is an array of float64, which no chip computes with: make it float32, as out and b", said
    said = mod.add(out=dev.empty_like(whole), a=whole, b=whole, count=64).text
    assert "arguments out and a and b are arrays of float64, which no chip computes with: make them float32 or float16, whichever the kernel reads" in said, said
    assert "float64" not in mod.add(dev.empty_like(half), half, half, 64).text


class Mixed(ctypes.Structure):
    class Dim4(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int) for name in "nchw"]

    class Either(ctypes.Union):
        _fields_ = [("as_int", ctypes.c_int), ("as_float", ctypes.c_float)]

    _fields_ = [("out", ctypes.c_uint64), ("scale", ctypes.c_float), ("wide", ctypes.c_double), ("small", ctypes.c_int8),
                ("middle", ctypes.c_uint16), ("flag", ctypes.c_bool), ("kind", ctypes.c_int), ("pointer", ctypes.c_void_p),
                ("shape", Dim4), ("table", ctypes.c_short * 3 * 2), ("name", ctypes.c_char * 8), ("either", Either)]


def mixed_values(out):
    return dict(out=out, scale=0.1, wide=-1e300, small=-128, middle=65535, flag=True, kind=1, pointer=0x123456789A,
                shape=(1, 2, 3, 4), table=[[1, -2, 3], [4, 5, -6]], name="abc", either={"as_float": 2.5})


def mixed_struct(address):
    want = Mixed(address, 0.1, -1e300, -128, 65535, True, 1, 0x123456789A, Mixed.Dim4(1, 2, 3, 4), name=b"abc")
    want.either.as_float = 2.5
    for i, row in enumerate([[1, -2, 3], [4, 5, -6]]):
        want.table[i][:] = row
    return want


def masked(raw):
    """Without the padding, which belongs to no tensor."""
    fresh = Mixed.from_buffer_copy(raw)
    return [getattr(fresh, name) if not isinstance(getattr(fresh, name), (ctypes.Array, ctypes.Structure, ctypes.Union))
            else bytes(getattr(fresh, name)) for name, *_ in Mixed._fields_]


def test_every_kind_of_member_arrives_as_c_lays_it_out(mod, dev):
    out = dev.zeros(256, np.uint8)
    want = masked(bytes(mixed_struct(out.address)))
    mod.mixed(**mixed_values(out))
    assert mod.mixed.layout.bytes == ctypes.sizeof(Mixed)
    assert masked(out.numpy()[:ctypes.sizeof(Mixed)].tobytes()) == want
    out.fill(0)
    mod.mixed(mixed_struct(out.address))
    assert masked(out.numpy()[:ctypes.sizeof(Mixed)].tobytes()) == want
    explicit = mod.kernel("mixed", args=Mixed)
    assert masked(explicit.pack(**mixed_values(out))) == want
    with_dict = mod.mixed.pack(**{**mixed_values(out), "shape": dict(w=4, h=3, c=2, n=1)})
    assert masked(with_dict) == want


@pytest.mark.parametrize("change, says", [
    (dict(shape=(1, 2, 3)), "'shape' (dim4) takes 4 values"), (dict(table=[[1, 2, 3]]), "takes 2 values, not 1"),
    (dict(table=[[1, 2, 3], [4, 5, 70000]]), "'table[5]'"), (dict(name="too long a name"), "takes 8 bytes, not 15"),
    (dict(shape=dict(n=1, c=2, h=3)), "shape.w is not given"), (dict(either={"no": 1}), "no member 'no'"),
    (dict(flag=2), "from 0 to 1"), (dict(scale="x"), "takes a number"), (dict(small=128), "from -128 to 127"),
    (dict(shape=dict(n=1, c=2, h=3, w=4, x=5)), "no member 'x'"), (dict(scale=1e39), "takes a number that it can hold"),
])
def test_members_of_members_are_checked_too(mod, change, says):
    with pytest.raises(softtpu.ArgumentError) as caught:
        mod.mixed.pack(**{**mixed_values(0), **change})
    assert says in str(caught.value)


def test_structs_may_be_numpy_records_and_formats(mod, dev):
    record = np.dtype([("out", "u8"), ("a", "u8"), ("b", "u8"), ("count", "i4"), ("pad", "i4")])
    x, y = random_pair()
    a, b, out = dev.array(x), dev.array(y), dev.zeros(x.size)
    value = np.zeros((), record)
    value["out"], value["a"], value["b"], value["count"] = out.address, a.address, b.address, x.size
    mod.add(value)
    assert np.array_equal(out.numpy(), x + y)
    out.fill(0)
    assert mod.kernel("add", args="QQQi").pack(out, a, b, x.size) == value.tobytes()
    mod.kernel("add", args=record)(out, a, b, x.size, 0)
    assert np.array_equal(out.numpy(), x + y)
    with pytest.raises(softtpu.ArgumentError, match="a struct of 3 bytes is given, and add_args_t has 32"):
        mod.add(b"abc")


def test_a_module_without_debug_information_needs_a_struct(dev, kernels_file):
    mod = dev.compile(kernels_file, flags=["-g0"])
    a = dev.zeros(64)
    with pytest.raises(softtpu.ArgumentError, match="does not say what its arguments are"):
        mod.add(a, a, a, 64)
    mod.kernel("add", args="QQQi")(a, a, a, 64)


def test_a_failed_launch_says_where(mod, dev):
    with pytest.raises(softtpu.LaunchError) as caught:
        mod.misaligned(0, 0, 0, 5)
    error = caught.value
    assert "src1 address (0x4003)" in error.text
    assert (error.kernel, error.command, error.core, error.file) == ("misaligned", 1, 0, "python_kernels.c")
    lines = (mod.path.read_bytes() and open(os.path.join(os.path.dirname(__file__), "kernels/python_kernels.c")).read()).splitlines()
    assert "0x4003" in lines[error.line - 1]
    assert "misaligned" in error._repr_html_()


def test_a_crash_of_a_kernel_leaves_python_and_the_device(mod, dev):
    x, y = random_pair()
    a, b, out = dev.array(x), dev.array(y), dev.zeros(x.size)
    with pytest.raises(softtpu.LaunchError, match="signal 11") as caught:
        mod.crash(out, a, b, 16)
    assert caught.value.kernel == "crash" and caught.value.file == "python_kernels.c" and caught.value.line
    mod.add(out, a, b, x.size)
    assert np.array_equal(out.numpy(), x + y)


def test_findings_are_objects_and_belong_to_their_launch(kernels_file):
    with softtpu.Device(check="all") as dev:
        mod = dev.compile(kernels_file)
        a = dev.array(random_pair()[0])
        out = dev.empty_like(a)
        assert mod.add(out, a, a, a.size).findings == ()
        for _ in range(2):  # the second is known to the device, and told again
            finding, = mod.forgetful(out, a, a, a.size).findings
            assert finding.rule.startswith("init/") and finding.kernel == "forgetful" and finding.count == 1
            assert finding.severity in ("error", "warning") and finding.file.endswith("python_kernels.c")
            assert finding.why and finding.fix and "forgetful" in str(finding)
            assert finding.rule in finding._repr_html_()
        assert mod.add(out, a, a, a.size).findings == ()
        assert [(finding.kernel, finding.count) for finding in dev.findings if finding.rule.startswith("init/")] == [("forgetful", 2)]


def test_unwritten_memory_is_found_and_views_count_as_written(kernels_file):
    with softtpu.Device(check="init") as dev:
        mod = dev.compile(kernels_file)
        a, out = dev.empty(4096), dev.empty(4096)
        assert [finding.rule[:4] for finding in mod.add(out, a, a, a.size).findings] == ["init"] * 2
        b = dev.empty(4096)
        b.view()[:] = 1
        assert mod.add(out, b, b, b.size).findings == ()
        assert (np.asarray(out) == 2).all()


def test_a_time_limit_ends_a_launch(kernels_file):
    with softtpu.Device(timeout=1) as dev:
        mod = dev.compile(kernels_file)
        with pytest.raises(softtpu.LaunchError, match="spin") as caught:
            mod.spin()
        assert caught.value.status == 3


def test_futures_of_a_stream_keep_its_order(mod, dev):
    words = dev.zeros(16, np.int32)
    with dev.stream() as stream:
        futures = [mod.append(words, 20 if value == 1 else 0, value, stream=stream, wait=False) for value in (1, 2, 3)]
        mod.append(words, 0, 4, stream=stream)
        assert all(future.done() for future in futures)
    assert words.numpy()[:5].tolist() == [4, 1, 2, 3, 4]
    assert [future.result().kernel for future in futures] == ["append"] * 3


def test_each_future_has_its_own_failure(mod, dev):
    futures = [mod.add(0, 0, 0, 64, wait=False), mod.misaligned(0, 0, 0, 4, wait=False), mod.append(dev.zeros(4, np.int32), 0, 1, wait=False)]
    assert "add" in str(futures[0].exception())
    assert futures[1].exception().kernel == "misaligned"
    assert futures[2].result().kernel == "append"


def test_a_stream_can_be_cancelled(mod, dev):
    stream = dev.stream()
    words = dev.zeros(4, np.int32)
    futures = [mod.append(words, 30000, 1, stream=stream, wait=False), mod.append(words, 0, 2, stream=stream, wait=False)]
    time.sleep(0.3)
    begin = time.monotonic()
    stream.cancel()
    with pytest.raises(softtpu.LaunchError, match="interrupted"):
        futures[0].result()
    assert futures[1].cancelled() and time.monotonic() - begin < 15
    mod.append(words, 0, 5)
    assert words.numpy()[:2].tolist() == [1, 5]


def test_threads_and_devices_work_side_by_side(kernels_file):
    failures = []

    def work(seed):
        try:
            x, y = random_pair(seed=seed)
            with softtpu.Device(check="all" if seed % 2 else None) as dev:
                mod = dev.compile(kernels_file)
                a, b, out = dev.array(x), dev.array(y), dev.empty_like(x)
                for _ in range(5):
                    assert not mod.add(out, a, b, x.size).findings
                    assert np.array_equal(out.numpy(), x + y)
        except BaseException as problem:  # noqa: BLE001
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_devices_of_different_chips(kernels_file):
    with softtpu.Device(chip="bm1684") as one, softtpu.Device(chip="bm1684x") as other:
        assert (one.chip, other.chip, one.cores) == ("bm1684", "bm1684x", 1)
    with pytest.raises(softtpu.Error, match="bm9999"):
        softtpu.Device(chip="bm9999")
    with pytest.raises(softtpu.Error, match="is not NAME=VALUE"):
        softtpu.Device(settings={"SOFTTPU_NO_SUCH": 1})


def test_a_chip_with_one_core_refuses_two(mod, dev):
    with pytest.raises(softtpu.ArgumentError, match="the chip bm1684x has 1 core"):
        mod.add(0, 0, 0, 0, cores=2)


def test_a_closed_device_says_so(kernels_file):
    dev = softtpu.Device()
    mod, a = dev.compile(kernels_file), dev.zeros(64)
    view = a.view()
    dev.close()
    dev.close()
    view[:] = 1  # memory whose owner is gone is still memory
    for call in (lambda: mod.add(a, a, a, 64), a.numpy, lambda: dev.zeros(3), dev.stream, lambda: a.write(1)):
        with pytest.raises(softtpu.Error, match="closed"):
            call()


def test_compiling_again_takes_what_is_there(dev, kernels_file, tmp_path):
    first = dev.compile(kernels_file).path
    assert dev.compile(kernels_file).path == first
    stamp = first.stat().st_mtime_ns
    assert first.stat().st_mtime_ns == stamp
    header = tmp_path / "value.h"
    source = tmp_path / "k.c"
    source.write_text('#include <tpu_kernel.h>\n#include "value.h"\ntypedef struct { unsigned long long out; } args_t;\n'
                      "void put(const void* raw) { const args_t* args = raw; *(int*)tpu_global_mem_addr(args->out) = VALUE; }\n"
                      "TPUKERNEL_FUNC_REGISTER(put)\n")
    out = dev.zeros(1, np.int32)
    for value in (3, 5):  # a header that has changed counts
        header.write_text(f"#define VALUE {value}\n")
        dev.compile(source).put(out)
        assert out.numpy()[0] == value


def test_two_that_compile_the_same_at_once_have_one_file(tmp_path):
    source = tmp_path / "both.c"
    source.write_text("#include <tpu_kernel.h>\nvoid both(const void* raw) { (void)raw; }\nTPUKERNEL_FUNC_REGISTER(both)\n")
    seen, start = [], threading.Barrier(4)

    def compile_once():
        start.wait()
        path = softtpu.compile(source)
        seen.append((path, path.stat().st_ino))
    threads = [threading.Thread(target=compile_once) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    path = seen[0][0]
    assert set(seen) == {(path, path.stat().st_ino)} and os.listdir(path.parent) == ["both.so"]


def test_what_does_not_compile_says_what_the_compiler_said(dev, tmp_path):
    bad = tmp_path / "bad.c"
    bad.write_text("int x = ;\n")
    with pytest.raises(softtpu.CompileError, match="bad.c:1") as caught:
        dev.compile(bad)
    assert "error" in caught.value.output
    with pytest.raises(softtpu.CompileError, match="is no file"):
        dev.compile(tmp_path / "missing.c")
    unresolved = "#include <tpu_kernel.h>\nvoid nowhere(void);\nvoid k(const void* p) { nowhere(); }\nTPUKERNEL_FUNC_REGISTER(k)\n"
    with pytest.raises(softtpu.CompileError, match="nowhere"):
        dev.compile(unresolved)
    with pytest.raises(softtpu.Error):
        dev.load(bad)


def test_a_model_needs_libbmrt_or_a_file(dev, tmp_path):
    with pytest.raises(softtpu.Error, match="libbmrt.so|no-such.bmodel"):
        dev.load_model(tmp_path / "no-such.bmodel")


CTRL_C = """
import signal, sys, threading, time, os
import numpy as np, softtpu
dev = softtpu.Device()
mod = dev.compile(sys.argv[1])
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    if sys.argv[2] == "wait":
        mod.spin()
    else:
        mod.spin(wait=False).result()
    print("no exception")
except KeyboardInterrupt:
    print("KeyboardInterrupt")
words = dev.zeros(4, np.int32)
mod.append(words, 0, 9)
print(words.numpy()[1])
dev.close()
print("closed")
"""


@pytest.mark.parametrize("how", ["wait", "future"])
def test_ctrl_c_ends_a_hung_launch_and_the_device_goes_on(kernels_file, how):
    done = subprocess.run([sys.executable, "-c", CTRL_C, str(kernels_file), how], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["KeyboardInterrupt", "9", "closed"], done.stdout + done.stderr


def test_python_m_softtpu_is_the_command():
    done = subprocess.run([sys.executable, "-m", "softtpu", "rules"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "race/raw" in done.stdout
    assert subprocess.run([sys.executable, "-m", "softtpu", "nonsense"], capture_output=True, timeout=60).returncode != 0
