"""Functions of GDMA recordings, carried out by the Python of docs/numerics/bm1684x-dma-hau-gather.md."""
import re

import numpy as np

from elementwise_models import scalar
from golden import BYTES, DTYPES, SystemTensor, Tensor, move


class Copies:
    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def local(self, address, shape, stride, dtype):
        size = BYTES[dtype]
        return Tensor(self.memory, address, shape, stride or self.page.aligned_stride(shape, size, address // self.memory.npu_bytes), size)

    def compact(self, address, shape, dtype):
        return self.local(address, shape, self.page.compact_stride(shape, address // self.memory.npu_bytes), dtype)

    def system(self, address, shape, stride, dtype):
        return SystemTensor(self.memory, address, shape, stride, BYTES[dtype], self.page.MACHINE["local_mem_get_start_addr"])

    def side(self, letter, *tensor):
        return (self.system if letter == "S" else self.local)(*tensor)

    def run(self, name, a):
        op = re.sub("^tpu_(gdma|v?sdma)_", "", name)
        if op == "system_bcast":
            return self.to_npus(a)
        if op == name:
            return False
        if re.fullmatch("(de)?compress_(normal|RACU)_(L2S|S2L)", op):
            return hasattr(self.page, "compress") and self.packing(op, a)
        if "reduce" in op or "lossy" in op:
            return hasattr(self.page, "combined") and self.reduced(op, a)
        match = re.fullmatch(r"(\w+)_([SL])2([SL])(?:_with_ret)?", op)
        base, sides = (match[1], (match[2], match[3])) if match else (op, None)
        kinds = {"cpy": self.copy, "cpy_nc_trans": self.copy, "cpy_cw_trans": self.copy, "general_cpy": self.copy, "reverse": self.copy, "compact": self.compacted,
                 "compact_nc_trans": self.compacted, "matrix": self.matrix, "matrix_trans": self.matrix, "vector": self.matrix,
                 "channel_bcast": self.broadcast, "h_gather": self.rows, "h_scatter": self.rows, "mask_select": self.packed, "nonzero": self.packed,
                 "set_C_local": self.fill, "set_C_system": self.fill, "system_cpy": self.line, "system_set": self.line}
        return base in kinds and kinds[base](base, sides, a)

    # ---- reductions and FP20 ----

    def reduced(self, op, a):
        sides = re.search(r"_(L1|L2|L|S)2(L2|L|S)$", op)
        source, target = (side in ("L1", "L") for side in sides.groups()) if sides else (False, False)
        dtype, shape = DTYPES[a.get("dtype", "DT_FP32")], tuple(a["shape"])
        opcode = a["reduce_opcode"] if a.get("reduce_psum_op") else 0
        def tensor(name, local):
            return (self.local if local else self.system)(a[f"{name}_addr"], shape, a[f"{name}_stride"], dtype)
        def packed(name):
            return self.system(a[f"{name}_addr"], (1, 1, 1, self.page.fp20_bytes(int(np.prod(shape)))), None, "uint8")
        if "decompress" in op:
            dst = tensor("dst", target)
            values = self.page.unpack_fp20(packed("src").get().reshape(-1))[:dst.get().size].reshape(shape)
        elif "compress" in op:
            dst = packed("dst")
            old = self.page.unpack_fp20(dst.get().reshape(-1))
            new = np.zeros_like(old)
            values = tensor("src", source).get().reshape(-1)
            new[:len(values)] = values & 0xfffff000
            dst.put(self.page.pack_fp20(self.page.combined(opcode, old, new, "fp32"))[None, None, None])
            return True
        else:
            dst, values = tensor("dst", target), tensor("src", source).get()
        places = dst.positions().reshape(-1)
        if len(np.unique(places)) == len(places):
            dst.put(self.page.combined(opcode, dst.get(), values, dtype))
            return True
        block, words = dst.block.reshape(-1), np.broadcast_to(values, shape).reshape(-1)
        for place, word in zip(places, words):    # one behind the other
            element = block[place:place + dst.size]
            old = element.copy().view(words.dtype)
            element[...] = self.page.combined(opcode, old, np.array([word], words.dtype), dtype).astype(words.dtype).view(np.uint8)
        return True

    # ---- compression ----

    def packing(self, op, a):
        dtype, shape = DTYPES[a["dtype"]], tuple(a["shape"])
        expands = op.startswith("de")
        if BYTES[dtype] == 4:   # not recorded
            return False
        side = "dst" if expands else "src"
        local = self.local(a[f"{side}_addr"], shape, a[f"{side}_stride"], dtype)
        out = local.get().copy()
        work = self.units if "RACU" in op else self.stream
        if work(a, out, dtype, expands) is False:
            return False
        if expands:
            local.put(out)
        return True

    def unpacked(self, a, address, count, dtype, length):
        """`length` bytes of codes behind their map."""
        stream = self.memory.system[address:address + self.page.round_up(-(-count // 16)) + length]
        return self.page.decompress(stream, count, dtype, a["bias0"], a["bias1"], a["zero_guard"])

    def stream(self, a, out, dtype, expands):
        if expands:
            length = int(self.memory.system[a["src_addr"]:][:4].view(np.uint32)[0])
            out[...] = np.array(self.unpacked(a, a["src_addr"] + 16, out.size, dtype, length)).reshape(out.shape)
            return
        chosen, codes = self.page.compress(out.reshape(-1), dtype, a["bias0"], a["bias1"], a["zero_guard"])
        header = np.array([len(codes), 0], np.uint64).view(np.uint8)
        whole = np.concatenate([header, chosen, codes])
        self.memory.system[a["dst_addr"]:][:len(whole)] = whole

    def units(self, a, out, dtype, expands):
        """A unit for each n, group of channels and h; the units of an n and group follow each other without a gap."""
        n, c, h, w = out.shape
        side, groups, slot = "src" if expands else "dst", -(-c // self.memory.npus), self.page.unit_slot(out.shape, dtype)
        steps = a[f"{side}_racu_stride"] or [groups * h * slot, h * slot, slot, 1]
        marks = a[f"{side}_meta_stride"] or [groups * h, h, 1, 1]
        begins = sorted(i * steps[0] + group * steps[1] for i, group in np.ndindex(n, groups))
        words = [i * marks[0] + group * marks[1] + row * marks[2] for i, group, row in np.ndindex(n, groups, h)]
        if len(set(words)) < len(words) or any(after - before < h * slot for before, after in zip(begins, begins[1:])):
            return False    # units over each other depend on an order
        for i, group in np.ndindex(n, groups):
            at = start = a[f"{side}_racu_addr"] + i * steps[0] + group * steps[1]
            for row in range(h):
                part = out[i, group * self.memory.npus:(group + 1) * self.memory.npus, row]
                meta = a[f"{side}_meta_addr"] + 4 * (i * marks[0] + group * marks[1] + row * marks[2])
                if expands:
                    length = int(self.memory.system[meta:meta + 4].view(np.uint32)[0] & 0xfff) * 16
                    part[...] = np.array(self.unpacked(a, at, part.size, dtype, length)).reshape(part.shape)
                    at += self.page.round_up(-(-part.size // 16)) + length
                    continue
                chosen, codes = self.page.compress(part.reshape(-1), dtype, a["bias0"], a["bias1"], a["zero_guard"])
                self.memory.system[at:][:len(chosen) + len(codes)] = np.concatenate([chosen, codes])
                before = (start + row * slot - at) // 16
                self.memory.system[meta:meta + 4] = np.array([len(codes) // 16 | before << 12], np.uint32).view(np.uint8)
                at += len(chosen) + len(codes)

    # ---- whole tensors ----

    def copy(self, op, sides, a):
        source, target = sides
        if op == "reverse" and sides == ("L", "L") and self.page.REVERSALS_TO_NPU_0 and a["dst_addr"] >= self.memory.npu_bytes:
            return True
        dtype = DTYPES[a["dtype"]]
        n, c, h, w = shape = tuple(a.get("shape") or a["dst_shape"])
        order = {"cpy": shape, "cpy_nc_trans": (c, n, h, w), "cpy_cw_trans": (n, w, h, c), "general_cpy": a.get("src_shape"), "reverse": shape}[op]
        strides = [a["dst_stride"], a["src_stride"]]
        if "trans" in op:
            strides = [s and [*s[:3], 1] for s in strides]
        if op == "cpy_cw_trans" and sides == ("S", "S"):
            strides = self.page.system_cw_trans_strides(*strides)
        default = [None, None]
        for i, (letter, other, of) in enumerate(((target, source, shape), (source, target, order))):
            if op in ("cpy", "reverse") and letter == "L" and other == "S":
                address = a["src_addr" if i else "dst_addr"]
                default[i] = self.page.copy_stride(of, BYTES[dtype], address // self.memory.npu_bytes)
        src = self.side(source, a["src_addr"], order, strides[1] or default[1], dtype)
        places = np.arange(int(np.prod(order))).reshape(order)
        moved = {"cpy": lambda: places, "general_cpy": lambda: places.reshape(shape), "cpy_nc_trans": lambda: self.page.nc_trans(places),
                 "cpy_cw_trans": lambda: self.page.cw_trans(places), "reverse": lambda: self.page.reverse(places, a["reverse_axis"])}[op]()
        move(self.side(target, a["dst_addr"], shape, strides[0] or default[0], dtype), src, moved)
        return True

    def compacted(self, op, sides, a):
        dtype = DTYPES[a["dtype"]]
        n, c, h, w = shape = tuple(a.get("shape") or a["dst_shape"])
        order = (c, n, h, w) if "trans" in op else shape
        if sides == ("S", "L"):
            src, dst = self.system(a["src_addr"], order, None, dtype), self.compact(a["dst_addr"], shape, dtype)
        else:
            src, dst = self.compact(a["src_addr"], order, dtype), self.system(a["dst_addr"], shape, None, dtype)
        dst.put(self.page.nc_trans(src.get()) if "trans" in op else src.get())
        return True

    def matrix(self, op, sides, a):
        """A matrix in rows of global memory, and spread over channels in local memory; a vector is a matrix of one row."""
        dtype = DTYPES[a["dtype"]]
        rows, columns = (1, a["len"]) if op == "vector" else (a.get("rows") or a["src_rows"], a.get("cols") or a["src_cols"])
        target = (columns, rows) if op == "matrix_trans" else (rows, columns)
        per_channel = next(a[name] for name in ("len_per_channel", "cols_per_channel", "dst_cols_per_channel", "src_cols_per_channel") if name in a)
        step = next((a[name] for name in ("row_stride", "src_row_stride", "dst_row_stride") if name in a), columns)

        def system(address, extent):
            return self.system(address, (1, 1, *extent), [0, 0, step, 1], dtype)

        def local(address, extent):
            return self.local(address, (extent[0], -(-extent[1] // per_channel), 1, per_channel), None, dtype)

        if sides == ("S", "L"):
            src = system(a["src_addr"], (rows, columns)).get()[0, 0]
            words, used = self.page.matrix_to_tensor(src.T if op == "matrix_trans" else src, per_channel)
            local(a["dst_addr"], target).put(words, np.broadcast_to(used, words.shape))
        else:
            src = local(a["src_addr"], (rows, columns)).get().reshape(rows, -1)[:, :columns]
            system(a["dst_addr"], target).put((src.T if op == "matrix_trans" else src)[None, None])
        return True

    def broadcast(self, op, sides, a):
        n, c, h, w = a["shape"]
        dtype = DTYPES[a["dtype"]]
        src = self.side(sides[0], a["src_addr"], (n, 1, h, w), a["src_stride"], dtype).get()
        self.local(a["dst_addr"], (n, c, h, w), a["dst_stride"], dtype).put(np.broadcast_to(src, (n, c, h, w)))
        return True

    def to_npus(self, a):
        """One line to the same offset of the first NPUs."""
        dtype, shape = DTYPES[a["dtype"]], (1, a["dst_channel"], 1, a["count"])
        words = self.system(a["src_addr"], (1, 1, 1, a["count"]), None, dtype).get()
        self.compact(a["dst_addr"] - self.page.LOCAL_WINDOW, shape, dtype).put(np.broadcast_to(words, shape))
        return True

    def fill(self, op, sides, a):
        dtype = DTYPES[a["dtype"]]
        shape, address, stride = a["shape"], a["dst_addr"], a["dst_stride"]
        dst = self.system(address, shape, stride, dtype) if op == "set_C_system" else \
            self.local(address, shape, stride or self.page.aligned_stride(shape, BYTES[dtype]), dtype)
        dst.put(scalar(a["C"], shape, dtype))
        return True

    def line(self, op, sides, a):
        dtype, shape = DTYPES[a["dtype"]], (1, 1, 1, a["count"])
        words = scalar(a["C"], shape, dtype) if op == "system_set" else self.system(a["src_addr"], shape, None, dtype).get()
        self.system(a["dst_addr"], shape, None, dtype).put(words)
        return True

    # ---- chosen elements ----

    def rows(self, op, sides, a):
        """h_gather and h_scatter."""
        dtype, (n, c, h, w) = DTYPES[a["dtype"]], a["shape"]
        index_rows = h if op == "h_gather" else a["param_h"]
        index = self.side("L" if a.get("index_is_local") else "S", a["index_addr"], (n, c, index_rows, 1), a["index_stride"], "uint32").get()
        param = self.side(sides[0], a["param_addr"], (n, c, a["param_h"], w), a["param_stride"], dtype).get()
        default = [c * h * w, h * w, w, 1] if sides[1] == "S" else None
        if op == "h_scatter" and sides == ("L", "S") and self.page.FIRST_NPU_FOR_ALL:
            same = [bool(a[f"{side}_stride"]) and a[f"{side}_stride"][1] == 0 for side in ("param", "index")]
            if same[0]:
                param = np.broadcast_to(param[:, :1], param.shape)
            if same[1] and a["index_is_local"]:
                index = np.broadcast_to(index[:, :1], index.shape)
            if all(same):
                c, param, index = 1, param[:, :1], index[:, :1]
        out = self.side(sides[1], a["output_addr"], (n, c, h, w), a["output_stride"] or default, dtype)
        if sides[0] == sides[1] and abs(a["param_addr"] - a["output_addr"]) < (param.size + c * h * w) * BYTES[dtype]:
            return self.row_by_row(op, a, sides[0], dtype, index, out)
        out.put(self.page.h_gather(param, index, scalar(a["C"], (1,), dtype)) if op == "h_gather" else self.page.h_scatter(out.get(), param, index))
        return True

    def row_by_row(self, op, a, side, dtype, index, out):
        """The result may overlap the parameter: each row is read when it is written."""
        n, c, h, w = out.shape
        for channel, row in np.ndindex(c, index.shape[2]):
            param = self.side(side, a["param_addr"], (n, c, a["param_h"], w), a["param_stride"], dtype).get()
            if op == "h_gather":
                where = np.zeros(out.shape, bool)
                where[:, channel, row] = True
                out.put(self.page.h_gather(param, index, scalar(a["C"], (1,), dtype)), where)
            elif index[0, channel, row, 0] < h:
                one = np.full_like(index, h)       # the other rows are skipped
                one[0, channel, row] = index[0, channel, row]
                out.put(self.page.h_scatter(out.get(), param, one))
        return True

    def packed(self, op, sides, a):
        """mask_select and nonzero: the results one behind the other."""
        dtype = DTYPES[a["data_dtype"]]
        src = self.side(sides[0], a["src_addr"], a["shape"], None, dtype).get()
        if op == "mask_select":
            mask = self.side("L" if a["mask_in_lmem"] else "S", a["mask_addr"], a["shape"], None, DTYPES[a["mask_dtype"]]).get()
            words = self.page.mask_select(src, mask)
        else:
            dtype, words = "uint32", self.page.nonzero(src, a["base_idx"])
        self.memory.filtered = len(words)
        self.system(a["dst_addr"], (1, 1, 1, len(words)), None, dtype).put(words[None, None, None])
        return True


class Hau:
    """Sorting, boxes and lines, all in global memory."""

    def __init__(self, memory, page):
        self.memory, self.page = memory, page

    def vector(self, address, count, kind=np.uint32):
        return self.memory.system[address:address + count * np.dtype(kind).itemsize].view(kind)

    def run(self, name, a):
        op = name.removeprefix("tpu_hau_")
        if op in ("sort_natural_index", "sort", "sort_specific_index"):
            return self.sort(a)
        if op == "sort_general":
            return self.general(a)
        if op in ("hard_nms", "soft_nms"):
            boxes = a["box_num"]
            if op == "hard_nms":
                bitmap = self.page.hard_nms(self.vector(a["input_addr"], boxes * boxes, np.uint8).reshape(boxes, boxes), a["keep_num"])
            else:
                factors = self.vector(a["iou_addr"], boxes * boxes).reshape(boxes, boxes)
                bitmap = self.page.soft_nms(factors, self.vector(a["score_addr"], boxes).copy(), a["threshold"], a["keep_num"])
            self.vector(a["output_addr"], len(bitmap), np.uint8)[:] = bitmap
            return True
        if op in ("sort_2d", "sort_natural_index_2d", "sort_specific_index_2d"):
            rows = ({name: 4 * row * (a["len"] if "input" in name else a["K"]) for name in a if name.endswith("addr")} for row in range(a["row_num"]))
            return all([self.sort({**a, **{name: a[name] + step for name, step in steps.items()}}) for steps in rows])    # each for itself
        return op == "line_gather" and self.lines(a)

    def lines(self, a):
        kind = {1: np.uint8, 2: np.uint16, 4: np.uint32}[BYTES[DTYPES[a["dtype"]]]]
        length, count = a["line_len"], a["index_len"]
        param = self.vector(a["param_addr"], a["line_num"] * length, kind).reshape(-1, length)
        out = self.vector(a["output_addr"], count * length, kind).reshape(count, length)
        constant = scalar(a["C"], (1,), DTYPES[a["dtype"]]) if a["fill_const"] else None
        out[:] = self.page.line_gather(out, param, self.vector(a["index_addr"], count), a["start"], a["end"], constant)
        return True

    @staticmethod
    def has_no_order(words):
        """Whether f32 numbers have an order that is not recorded: NaN, or several subnormals."""
        size = words & 0x7fffffff
        return bool((size > 0x7f800000).any() or ((size != 0) & (size < 0x800000)).sum() > 1)

    def general(self, a):
        """sort_general: indices are positions, or given, or not there."""
        kind = ("DT_FP32", "DT_INT32", "DT_UINT32")[a["dtype_flags"]]
        arguments = {"len": a["len"], "K": a["topk"], "descended": a["is_descend"], "dtype": kind, "input_data_addr": a["src_data_addr"],
                     "output_data_addr": a["dst_data_addr"]}
        if a["idx_enable"]:
            arguments["output_idx_addr"] = a["dst_idx_addr"]
            if not a["idx_auto"]:
                arguments["input_idx_addr"] = a["src_idx_addr"]
        return self.sort(arguments)

    def sort(self, a):
        count, kind = a["len"], {"DT_FP32": np.float32, "DT_INT32": np.int32, "DT_UINT32": np.uint32}[a["dtype"]]
        words = self.vector(a.get("input_addr", a.get("input_data_addr")), count).copy()
        if kind is np.float32 and self.has_no_order(words):
            return False
        given = "input_idx_addr" in a
        indices = self.vector(a["input_idx_addr"], count).copy() if given else np.arange(count, dtype=np.uint32)
        order = self.page.sort(words.view(kind).astype(np.float64), indices, a["K"], a["descended"])
        self.vector(a.get("output_data_addr", a.get("output_addr")), a["K"])[:] = words[order]
        if "output_idx_addr" in a:
            self.vector(a["output_idx_addr"], a["K"])[:] = indices[order]
        return True
