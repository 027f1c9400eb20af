"""Operators of ONNX as its specification describes them, one element at a time: what layers for the host's processor are compared with where
onnxruntime is not installed. Where it is, host_layers_test.py compares these with it as well."""
import math

import numpy as np


def gather(x, i, axis):
    return [np.take(x, np.where(i < 0, i + x.shape[axis], i), axis)]


def top_k(x, k, axis, largest):
    order = np.argsort(-x if largest else x, axis, kind="stable")
    order = np.take(order, range(int(k[0])), axis)
    return [np.take_along_axis(x, order, axis), order]


def _placed(extents, place):
    return tuple(int(one) % extent for one, extent in zip(place, extents))


def gather_nd(x, i, batch_dims=0):
    result = np.empty((*i.shape[:-1], *x.shape[batch_dims + i.shape[-1]:]), x.dtype)
    for at in np.ndindex(*i.shape[:-1]):
        batch = at[:batch_dims]
        result[at] = x[batch + _placed(x.shape[batch_dims:], i[at])]
    return [result]


def reverse_sequence(x, lengths, time_axis, batch_axis):
    assert (time_axis, batch_axis) == (0, 1)
    result = x.copy()
    for batch, length in enumerate(lengths):
        result[:length, batch] = x[:length, batch][::-1]
    return [result]


def scatter_nd(x, i, u, reduction):
    join = {"none": lambda old, new: new, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    result = x.copy()
    for at in np.ndindex(*i.shape[:-1]):
        place = _placed(x.shape, i[at])
        result[place] = join(result[place], u[at])
    return [result]


def non_max_suppression(boxes, scores, most, overlap, least, center_point_box):
    def corners(box):
        a, b, c, d = map(float, box)
        if center_point_box:
            return a - c / 2, b - d / 2, a + c / 2, b + d / 2
        return min(a, c), min(b, d), max(a, c), max(b, d)

    def of_both(one, other):
        height = min(one[2], other[2]) - max(one[0], other[0])
        width = min(one[3], other[3]) - max(one[1], other[1])
        shared = max(height, 0) * max(width, 0)
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
        return shared / (sum(areas) - shared) if shared > 0 else 0

    found = []
    for batch, per_class in enumerate(scores):
        for number, row in enumerate(per_class):
            kept = []
            for box in sorted(range(len(row)), key=lambda box: -row[box]):
                if row[box] > least[0] and len(kept) < most[0] and \
                        all(of_both(corners(boxes[batch, box]), corners(boxes[batch, other])) <= overlap[0] for other in kept):
                    kept.append(box)
            found += [(batch, number, box) for box in kept]
    return [np.array(found, np.int64).reshape(-1, 3)]


def grid_sample(x, grid, mode, padding_mode, align_corners):
    height, width = x.shape[2:]

    def pixel(image, h, w):
        if padding_mode == "border":
            h, w = min(max(h, 0), height - 1), min(max(w, 0), width - 1)
        elif padding_mode == "reflection":
            h, w = int(reflected(h, height)), int(reflected(w, width))
        return image[:, h, w].astype(np.float64) if 0 <= h < height and 0 <= w < width else 0.0

    def reflected(at, extent):
        low, high = (0, extent - 1) if align_corners else (-0.5, extent - 0.5)
        while not low <= at <= high:
            at = 2 * low - at if at < low else 2 * high - at
        return at

    def place(at, extent):
        at = (at + 1) / 2 * (extent - 1) if align_corners else ((at + 1) * extent - 1) / 2
        if padding_mode == "border":
            return min(max(at, 0), extent - 1)
        return reflected(at, extent) if padding_mode == "reflection" else at

    result = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:3]), np.float64)
    for n, i, j in np.ndindex(*grid.shape[:3]):
        w, h = place(float(grid[n, i, j, 0]), width), place(float(grid[n, i, j, 1]), height)
        if mode == "nearest":
            result[n, :, i, j] = pixel(x[n], int(np.rint(h)), int(np.rint(w)))
            continue
        top, left = math.floor(h), math.floor(w)
        for down, right in np.ndindex(2, 2):
            share = (h - top if down else top + 1 - h) * (w - left if right else left + 1 - w)
            result[n, :, i, j] += share * pixel(x[n], top + down, left + right)
    return [result]


def roi_align(x, boxes, batch, output_height, output_width, sampling_ratio, spatial_scale, coordinate_transformation_mode):
    height, width = x.shape[2:]
    half = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0

    def sample(image, h, w):
        if not (-1 <= h <= height and -1 <= w <= width):
            return 0.0
        h, w = max(h, 0), max(w, 0)
        top, left = min(int(h), height - 1), min(int(w), width - 1)
        bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
        h, w = (h if top < height - 1 else top) - top, (w if left < width - 1 else left) - left
        image = image.astype(np.float64)
        return (image[:, top, left] * (1 - h) * (1 - w) + image[:, top, right] * (1 - h) * w + image[:, bottom, left] * h * (1 - w) +
                image[:, bottom, right] * h * w)

    result = np.zeros((len(boxes), x.shape[1], output_height, output_width), np.float64)
    for k, (left, top, right, bottom) in enumerate(boxes.astype(np.float64) * np.float32(spatial_scale) - half):
        tall, wide = bottom - top, right - left
        if not half:
            tall, wide = max(tall, 1.0), max(wide, 1.0)
        tall, wide = tall / output_height, wide / output_width
        rows, columns = sampling_ratio or math.ceil(tall), sampling_ratio or math.ceil(wide)
        for i, j in np.ndindex(output_height, output_width):
            samples = [sample(x[batch[k]], top + tall * (i + (a + 0.5) / rows), left + wide * (j + (b + 0.5) / columns))
                       for a, b in np.ndindex(rows, columns)]
            result[k, :, i, j] = sum(samples) / max(len(samples), 1)
    return [result]


def max_roi_pool(x, rois, pooled_shape, spatial_scale):
    height, width = x.shape[2:]
    result = np.zeros((len(rois), x.shape[1], *pooled_shape), x.dtype)
    for k, roi in enumerate(rois):
        # Halves go away from zero.
        left, top, right, bottom = (int(math.floor(float(np.float32(one) * np.float32(spatial_scale)) + 0.5)) for one in roi[1:])
        tall, wide = max(bottom - top + 1, 1) / pooled_shape[0], max(right - left + 1, 1) / pooled_shape[1]
        for i, j in np.ndindex(*pooled_shape):
            rows = [min(max(one + top, 0), height) for one in (math.floor(i * tall), math.ceil((i + 1) * tall))]
            columns = [min(max(one + left, 0), width) for one in (math.floor(j * wide), math.ceil((j + 1) * wide))]
            window = x[int(roi[0]), :, rows[0]:rows[1], columns[0]:columns[1]]
            if window.size:
                result[k, :, i, j] = window.max((1, 2))
    return [result]


def resize(x, _roi, _scales, sizes, mode, coordinate_transformation_mode, nearest_mode="round_prefer_floor"):
    def place(at, given, wanted):
        if coordinate_transformation_mode == "align_corners":
            return at * (given - 1) / (wanted - 1) if wanted > 1 else 0.0
        if coordinate_transformation_mode == "half_pixel":
            return (at + 0.5) * given / wanted - 0.5
        return at * given / wanted

    def weights(given, wanted):
        all_of_them = np.zeros((wanted, given))
        for at in range(wanted):
            from_at = place(at, given, wanted)
            if mode == "nearest":
                nearest = math.floor(from_at + 0.5) if nearest_mode == "round_prefer_ceil" else math.floor(from_at)
                all_of_them[at, min(max(nearest, 0), given - 1)] = 1
            else:
                low = math.floor(from_at)
                for one, share in ((low, low + 1 - from_at), (low + 1, from_at - low)):
                    all_of_them[at, min(max(one, 0), given - 1)] += share
        return all_of_them

    return [np.einsum("ih,jw,nchw->ncij", weights(x.shape[2], int(sizes[2])), weights(x.shape[3], int(sizes[3])), x.astype(np.float64))]


OPERATORS = {"Gather": gather, "TopK": top_k, "GatherND": gather_nd, "ReverseSequence": reverse_sequence, "ScatterND": scatter_nd,
             "NonMaxSuppression": non_max_suppression, "GridSample": grid_sample, "RoiAlign": roi_align, "MaxRoiPool": max_roi_pool, "Resize": resize,
             **{name: (lambda function: lambda x: [function(x.astype(np.float64))])(function)
                for name, function in (("Sin", np.sin), ("Cos", np.cos), ("Ceil", np.ceil), ("Floor", np.floor), ("Round", np.rint))}}
