"""Drawings, and weights in the chip's order."""
import json

import numpy as np
import pytest

import softtpu
from softtpu import layout


def test_drawings_are_those_of_the_command(dev):
    picture = layout.draw((2, 5, 3, 4), dtype="fp16", npus=4)
    assert picture._repr_svg_().startswith("<svg") and "NPU" in str(picture)
    assert layout.draw(dev.zeros((1, 3, 2, 2), np.int8), npus=2).svg.startswith("<svg")
    assert layout.draw(banks=True, chip="bm1684").text
    with pytest.raises(softtpu.Error, match="shape"):
        layout.draw((1, 2, 3))
    with pytest.raises(softtpu.Error):
        layout.draw((1, 2, 3, 4), no_such_option=3)


def test_a_drawing_can_be_kept(tmp_path):
    layout.draw((1, 2, 3, 4)).save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("pack, dtype", [("1ic", np.float32), ("32ic", np.float16), ("64ic", np.int8), ("2ic", np.float32)])
def test_weights_go_and_come_back(pack, dtype):
    weights = (np.random.default_rng(0).random((70, 40, 3, 2)) * 100).astype(dtype)
    plain = layout.ConvBlock(weights.shape, ic_pack=pack, element_bytes=weights.itemsize)
    assert np.array_equal(plain.restore(plain.reorder(weights), dtype), weights)
    block = layout.ConvBlock(weights.shape, ic_pack=pack, element_bytes=weights.itemsize, bias_bytes=4)
    bias = np.arange(70, dtype=np.float32)
    back, back_bias = block.split(block.merge(weights, bias), dtype, np.float32)
    assert np.array_equal(back, weights) and np.array_equal(back_bias, bias)
    assert block.lanes == 64 and block.nbytes == block.lanes * block.lane_bytes and block.weight_offset % 64 == 0


def test_impossible_blocks_say_why():
    with pytest.raises(softtpu.Error, match="oc"):
        layout.ConvBlock((0, 1, 1, 1), ic_pack="1ic", element_bytes=4)
    with pytest.raises(softtpu.Error, match="bytes"):
        layout.ConvBlock((2, 2, 1, 1), ic_pack="1ic", element_bytes=4).reorder(np.zeros(3, np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16])
def test_batches_go_and_come_back(dtype):
    values = np.arange(5 * 3 * 2 * 4).reshape(5, 3, 2, 4).astype(dtype)
    words = layout.batch_pack(values)
    assert words.shape == (-(-5 // (4 // values.itemsize)), 3, 2, 4)
    assert np.array_equal(layout.batch_unpack(words, values.shape, dtype), values)


def test_drawings_know_fp8(dev):
    class Elements:  # what draw() takes of an Array
        shape, dtype, kind = (1, 3, 2, 2), np.uint8, softtpu.types.element_type("float8_e4m3")

    assert "fp8e4m3" in str(layout.draw(Elements, chip="bm1690", npus=2))
    with pytest.raises(softtpu.Error, match="not a data type of bm1684x"):
        layout.draw(Elements, chip="bm1684x")


def test_files_of_fp8_come_with_their_type(tmp_path):
    path = tmp_path / "a.npy"
    bits = np.arange(256, dtype=np.uint8).reshape(2, 128)
    np.save(path, bits)
    assert np.array_equal(softtpu.types.load_npy(path), bits)
    for name, ml_name in (("fp8e4m3", "float8_e4m3fn"), ("fp8e5m2", "float8_e5m2")):
        note = {"format": "softtpu-npy-type-1", "type": name, "ml_dtypes": ml_name, "shape": [2, 128]}
        (tmp_path / "a.npy.json").write_text(json.dumps(note))
        array = softtpu.types.load_npy(path)
        assert array.dtype == softtpu.types.element_type(name).storage and np.array_equal(array.view(np.uint8), bits)
        assert softtpu.types.decode(array, name)[0, 56] == (1.0 if name == "fp8e4m3" else 0.5)
        if softtpu.types.ml_dtypes is not None:
            assert array.dtype.name == ml_name
            assert np.array_equal(array.astype(np.float32), softtpu.types.decode(array, name), equal_nan=True)
    (tmp_path / "a.npy.json").write_text(json.dumps(note | {"shape": [256]}))
    with pytest.raises(ValueError, match="is not about"):
        softtpu.types.load_npy(path)
