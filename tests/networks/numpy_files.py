"""NumPy's files with the standard library alone."""
import ast
import io
import struct
import zipfile


def encode(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def decode(file):
    length = struct.unpack("<H", file[8:10])[0]
    header = ast.literal_eval(file[10:10 + length].decode())
    return header["descr"], header["shape"], file[10 + length:]


def write_npz(path, arrays, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", encode(*array))


def read_npz(path):
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        return {name.removesuffix(".npy"): decode(archive.read(name)) for name in archive.namelist()}
