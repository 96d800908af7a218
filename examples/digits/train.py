#!/usr/bin/env python3
"""Trains the digits network (64-32-10, relu) on rows 1..1000 of digits.csv and writes weights.txt.

Plain Python, no packages; a fixed seed makes every run give the same file. Takes about 20 s.
Method: stochastic gradient descent with momentum and weight decay on the cross-entropy; each
training image is blended with itself moved by at most one pixel, because 1000 images are few.
"""

import math
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
PIXELS, HIDDEN, CLASSES = 64, 32, 10
SIDE = 8
TRAIN_ROWS = 1000
PIXEL_MAX = 16
EPOCHS = 60
RATE_FIRST, RATE_LAST = 0.005, 0.0002
MOMENTUM = 0.9
DECAY = 1e-3
SEED = 1

HEADER = f"""\
# Weights of the digits network, written by train.py (seed {SEED}).
# y = relu(x W1 + b1) W2 + b2, x = 64 pixels / {PIXEL_MAX}; the predicted digit is the largest of y.
# Each block: a line "NAME ROWS COLUMNS", then ROWS lines of COLUMNS numbers (row-major).
"""


def read_rows(path):
    """The rows of the file as (pixels in 0..1, label)."""
    rows = []
    for line in path.read_text().splitlines():
        *pixels, label = map(int, line.split(","))
        rows.append(([p / PIXEL_MAX for p in pixels], label))
    return rows


def blurred(image, down, right):
    """The mean of the image and itself moved by whole pixels: about half a pixel's shift."""
    moved = [0.0] * PIXELS
    for y in range(max(0, down), min(SIDE, SIDE + down)):
        for x in range(max(0, right), min(SIDE, SIDE + right)):
            moved[y * SIDE + x] = image[(y - down) * SIDE + x - right]
    return [(a + b) / 2 for a, b in zip(image, moved)]


class Layer:
    """y = x W + b with its momentum; W is stored by column, because each output reads a column."""

    def __init__(self, inputs, outputs, rng):
        scale = math.sqrt(2 / inputs)
        self.columns = [[rng.gauss(0, scale) for _ in range(inputs)] for _ in range(outputs)]
        self.bias = [0.0] * outputs
        self.column_speed = [[0.0] * inputs for _ in range(outputs)]
        self.bias_speed = [0.0] * outputs

    def forward(self, x):
        return [sum(map(float.__mul__, column, x)) + b
                for column, b in zip(self.columns, self.bias)]

    def backward(self, dy):
        """The gradient with respect to x."""
        dx = [0.0] * len(self.columns[0])
        for column, d in zip(self.columns, dy):
            if d:
                dx = [a + d * w for a, w in zip(dx, column)]
        return dx

    def step(self, x, dy, rate):
        for j, d in enumerate(dy):
            column = self.columns[j]
            speed = [MOMENTUM * v - rate * (d * xi + DECAY * w)
                     for v, xi, w in zip(self.column_speed[j], x, column)]
            self.column_speed[j] = speed
            self.columns[j] = list(map(float.__add__, column, speed))
            self.bias_speed[j] = MOMENTUM * self.bias_speed[j] - rate * d
            self.bias[j] += self.bias_speed[j]

    def rounded(self):
        """Replaces every number by what the file will hold."""
        self.columns = [[float(text(w)) for w in column] for column in self.columns]
        self.bias = [float(text(b)) for b in self.bias]

    def blocks(self, number):
        """The layer as the text of weights.txt."""
        rows = list(zip(*self.columns))
        yield f"W{number} {len(rows)} {len(rows[0])}"
        yield from (" ".join(map(text, row)) for row in rows)
        yield f"b{number} 1 {len(self.bias)}"
        yield " ".join(map(text, self.bias))


def text(value):
    return f"{value:.6g}"


def relu(values):
    return [max(0.0, v) for v in values]


def softmax(values):
    peak = max(values)
    powers = [math.exp(v - peak) for v in values]
    total = sum(powers)
    return [p / total for p in powers]


def train_on(first, second, image, label, rate):
    hidden = first.forward(image)
    active = relu(hidden)
    error = softmax(second.forward(active))
    error[label] -= 1
    hidden_error = [d if h > 0 else 0.0 for d, h in zip(second.backward(error), hidden)]
    second.step(active, error, rate)
    first.step(image, hidden_error, rate)


def accuracy(first, second, rows):
    """The share of rows whose label gets the largest output."""
    hits = 0
    for image, label in rows:
        outputs = second.forward(relu(first.forward(image)))
        hits += outputs.index(max(outputs)) == label
    return hits / len(rows)


def main():
    rng = random.Random(SEED)
    rows = read_rows(HERE / "digits.csv")
    training, test = rows[:TRAIN_ROWS], rows[TRAIN_ROWS:]
    first, second = Layer(PIXELS, HIDDEN, rng), Layer(HIDDEN, CLASSES, rng)
    for epoch in range(EPOCHS):
        rate = RATE_FIRST * (RATE_LAST / RATE_FIRST) ** (epoch / (EPOCHS - 1))
        for image, label in rng.sample(training, len(training)):
            seen = blurred(image, rng.randint(-1, 1), rng.randint(-1, 1))
            train_on(first, second, seen, label, rate)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: training {accuracy(first, second, training):.1%}")
    first.rounded()
    second.rounded()
    lines = [*first.blocks(1), *second.blocks(2)]
    (HERE / "weights.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"training ({len(training)} rows): {accuracy(first, second, training):.2%}")
    print(f"test ({len(test)} rows): {accuracy(first, second, test):.2%}")


if __name__ == "__main__":
    main()
