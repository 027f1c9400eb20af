#!/usr/bin/python3
"""Fits the classifier of this sample and writes data/classifier.bin.

Needs the Debian package python3-sklearn and is run once; the file it writes is part of the repository. The images of the
digits sample's data/digits.bin, with which the sample is judged, are left out. Format: README.md.
"""
import pathlib

import numpy as np
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
FEATURES = 160  # four products of 40, as the network has them


def features(images):
    """As features() of main.c: the pixels, 1, and products of neighbours off the left and right border."""
    x = images.reshape(-1, 8, 8).astype(np.float64) / 16
    inner = x[:, :, 1:7]
    parts = [x.reshape(len(x), 64), np.ones((len(x), 1)),
             (inner[:, :, :-1] * inner[:, :, 1:]).reshape(len(x), -1), (inner[:, :-1] * inner[:, 1:]).reshape(len(x), -1)]
    all_parts = np.concatenate(parts, 1)
    return np.pad(all_parts, ((0, 0), (0, FEATURES - all_parts.shape[1])))


def main():
    data = np.frombuffer((HERE / "../digits/data/digits.bin").read_bytes(), np.uint8).reshape(-1, 65)
    judged = {bytes(row[1:]) for row in data}
    digits = load_digits()
    kept = [i for i, image in enumerate(digits.data) if bytes(image.astype(np.uint8)) not in judged]
    x, labels = features(digits.data[kept]), digits.target[kept]
    targets = np.where(labels[:, None] == np.arange(10), 1.0, -1.0)
    # Ridge regression; the strength is what served best on a fifth of the images that was left out.
    weights = np.linalg.solve(x.T @ x + 0.3 * np.eye(FEATURES), x.T @ targets)
    (HERE / "data/classifier.bin").write_bytes(weights.astype("<f4").tobytes())
    scores = features(data[:, 1:]) @ weights
    print(f"{len(kept)} images fitted, {(scores.argmax(1) == data[:, 0]).sum()} of {len(data)} others right")


if __name__ == "__main__":
    main()
