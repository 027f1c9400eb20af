"""Arrays: contents, views, types, protocols."""
import sys

import numpy as np
import pytest

import softtpu
from softtpu import types


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool",
                                   "complex64"])
def test_every_type_comes_back_as_it_went(dev, dtype):
    values = (np.arange(24).reshape(2, 3, 4) % 7 - 1).astype(dtype)
    array = dev.array(values)
    assert array.dtype == values.dtype and array.shape == (2, 3, 4) and array.nbytes == values.nbytes
    back = array.numpy()
    assert back.dtype == values.dtype and np.array_equal(back, values) and back.flags.writeable
    assert np.array_equal(np.asarray(array), values) and np.asarray(array).dtype == values.dtype


INDICES = [np.s_[1], np.s_[-1], np.s_[:, 1], np.s_[..., 2], np.s_[1:, ::2, 1:3], np.s_[::-1], np.s_[:, ::-1, ::-2], np.s_[None, 1],
           np.s_[1, 2, 3], np.s_[:, None, 1, ...], np.s_[2:1], np.s_[-2:, -1], np.s_[()], np.s_[...]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slices_are_views_as_numpy_makes_them(dev, index):
    values = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    array = dev.array(values)
    part = array[index]
    assert part.shape == values[index].shape and np.array_equal(part.numpy(), values[index])
    assert np.array_equal(part.view(), values[index]) and np.array_equal(np.asarray(part), values[index])
    part.write(-7)  # writes nothing else
    values[index] = -7
    assert np.array_equal(array.numpy(), values)
    fresh = np.arange(part.size, dtype=np.int32).reshape(part.shape)
    array[index] = fresh
    values[index] = fresh
    assert np.array_equal(array.numpy(), values)
    assert np.array_equal(part.copy().numpy(), values[index]) and part.copy().is_contiguous


@pytest.mark.parametrize("index", [3, -4, np.s_[0, 4], np.s_[0, 0, 0, 0], 1.5, np.s_[..., ...], "x", [1, 2]], ids=str)
def test_indices_that_are_wrong_are_refused(dev, index):
    with pytest.raises(IndexError):
        dev.zeros((3, 4, 5))[index]


def test_a_device_that_shares_no_memory_copies(kernels_file):
    values = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    with softtpu.Device(settings={"SOFTTPU_TRANSPORT": "stream"}) as dev:
        assert not dev.shares_memory
        array = dev.array(values)
        for index in INDICES:
            assert np.array_equal(array[index].numpy(), values[index])
            array[index] = 9
            values[index] = 9
        assert np.array_equal(np.asarray(array), values)
        with pytest.raises(softtpu.Error, match="cannot be mapped"):
            array.view()
        with pytest.raises(ValueError, match="copied"):
            array.__array__(copy=False)


def test_views_are_device_memory(dev, mod):
    a = dev.zeros(4096)
    view = a.view()
    view[:] = 3
    assert (a.numpy() == 3).all()
    mod.add(a, a, a, a.size)
    assert (view == 6).all() and (np.asarray(a) == 6).all()
    assert np.shares_memory(view, view[1:]) and not np.shares_memory(a.numpy(), a.numpy())


def test_the_buffer_protocol(dev):
    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    array = dev.array(values)
    shown = memoryview(array)
    assert shown.shape == (3, 4) and shown.format.strip("<") == "h" and bytes(shown) == values.tobytes()
    array[1, 2] = -5
    elements = np.frombuffer(shown, np.int16).reshape(3, 4)
    assert elements[1, 2] == -5
    elements[2, 3] = 77
    assert array.numpy()[2, 3] == 77
    if sys.version_info >= (3, 12):
        assert memoryview(dev.array(np.float16([1, 2]))).nbytes == 4
    assert memoryview(dev.array(np.float16([1, 2])).view()).nbytes == 4


def test_dlpack(dev):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = dev.array(values)
    assert np.array_equal(np.from_dlpack(array), values) and array.__dlpack_device__() == (1, 0)


def test_memory_of_views_lives_as_long_as_they_do(dev):
    view = dev.array(np.full(1000, 5, np.int32))[100:].view()
    others = [dev.array(np.full(1000, 6, np.int32)) for _ in range(4)]
    view[:] = 1  # the array is gone, and its memory may be another's: but Python has not crashed
    del others, view


def test_arrays_give_their_memory_back():
    with softtpu.Device(settings={"CMODEL_GLOBAL_MEM_SIZE": 256 << 20}) as dev:
        for _ in range(40):
            dev.empty(20 << 20, np.uint8)
        kept = [dev.empty(20 << 20, np.uint8)[5:10]]
        with pytest.raises(softtpu.Error):
            for _ in range(40):
                kept.append(dev.empty(20 << 20, np.uint8))
        del kept
        dev.empty(20 << 20, np.uint8)


def test_shapes(dev):
    array = dev.array(np.arange(12))
    assert array.reshape(3, -1).shape == (3, 4) and array.reshape((2, 6))[1].numpy().tolist() == list(range(6, 12))
    for wrong in ((5, 3), (-1, -1), (-2, 6)):
        with pytest.raises(ValueError):
            array.reshape(*wrong)
    with pytest.raises(ValueError, match="contiguous"):
        array[::2].reshape(3, 2)
    assert dev.zeros(()).numpy() == 0 and dev.array(5).shape == () and dev.empty((0, 3)).numpy().shape == (0, 3)
    assert len(array) == 12 and array.astype_view(np.uint64).dtype == np.uint64
    with pytest.raises(ValueError):
        dev.empty((2, -1))
    with pytest.raises(TypeError):
        dev.array(np.array([object()]))
    with pytest.raises(TypeError):
        softtpu.Array()
    with pytest.raises(softtpu.Error):
        dev.empty(1 << 50)


def test_big_endian_values_arrive_as_numbers(dev):
    assert dev.array(np.array([1, 2], ">i4")).numpy().tolist() == [1, 2]


# ---- Small floats

def nearest(value, name):
    """The pattern whose number is nearest, found by looking at all of them; the even one of two."""
    table = types._values(name).astype(np.float64)
    codes = [code for code in range(table.size // 2) if np.isfinite(table[code])]
    best = min(codes, key=lambda code: (abs(table[code] - abs(value)), code & 1))
    return best | (table.size // 2 if np.signbit(value) else 0)


@pytest.mark.parametrize("name", ["float8_e4m3", "float8_e5m2", "bfloat16"])
def test_numbers_are_rounded_to_the_nearest(name):
    rng = np.random.default_rng(1)
    table = types._values(name)
    finite = np.unique(np.abs(table[np.isfinite(table)])).astype(np.float64)
    few = finite if finite.size < 300 else rng.choice(finite, 60)
    middles = ((finite[:-1] + finite[1:]) / 2)[:: max(1, finite.size // 60)]
    values = np.concatenate([few, middles, -middles, rng.normal(0, 3, 40)]).astype(np.float32)
    values = values[np.abs(values) <= finite[-1]]
    bits = types.encode(values, name).view(types._bits_type(name))
    for value, got in zip(values, bits):
        assert table[got] == table[nearest(float(value), name)] and np.signbit(table[got]) == np.signbit(value), (value, got)
    every = np.arange(table.size).astype(types._bits_type(name))
    same = types.encode(types.decode(every, name), name).view(types._bits_type(name))
    numbers = ~np.isnan(table)
    assert np.array_equal(same[numbers], every[numbers])


def test_numbers_that_are_too_large():
    large = np.float32([448, 463.9, 464, 465, 1e30, np.inf, np.nan, -np.inf])
    got = types.decode(types.encode(large, "float8_e4m3"), "float8_e4m3")
    assert got[:3].tolist() == [448, 448, 448] and np.isnan(got[3:]).all()
    large = np.float32([57344, 61439, 61440, 1e30, -np.inf, np.nan])
    got = types.decode(types.encode(large, "float8_e5m2"), "float8_e5m2")
    assert got[:5].tolist() == [57344, 57344, np.inf, np.inf, -np.inf] and np.isnan(got[5])
    got = types.decode(types.encode(np.float32([3.4e38, np.nan]), "bf16"), "bf16")
    assert np.isinf(got[0]) and np.isnan(got[1])


def test_known_patterns():
    assert types.encode(np.float32([1, -2, 0.5, 448, -0.0]), "e4m3").view(np.uint8).tolist() == [0x38, 0xC0, 0x30, 0x7E, 0x80]
    assert types.encode(np.float32([1, -2, 0.5, 57344]), "e5m2").view(np.uint8).tolist() == [0x3C, 0xC0, 0x38, 0x7B]
    assert types.encode(np.float32([1, -2, 3.140625]), "bf16").view(np.uint16).tolist() == [0x3F80, 0xC000, 0x4049]


def test_arrays_of_small_floats(dev):
    values = np.float32([1, -2.5, 0.125])
    for name in ("bfloat16", "float8_e4m3", "float8_e5m2"):
        array = dev.array(values, name)
        assert str(array.kind) == name and array.float().tolist() == values.tolist()
        array[1] = 4.0
        assert array.float().tolist() == [1, 4, 0.125]
        again = dev.array(array.numpy(), name)  # bits stay bits
        assert again.float().tolist() == [1, 4, 0.125]
        assert dev.array(array).kind == name
    assert dev.array([1, 2], "fp16").dtype == np.float16
    with pytest.raises(TypeError):
        dev.array([1], "float7")
