"""Handwritten digits: a network whose weights stay on the device, and numpy beside it.

digits.py [--svg FILE]: with a picture of the digits that it took for others.
"""
import argparse
import pathlib
import time

import numpy as np
import pyringkernel as rk

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "digits"
TRAINED_ON = 1000  # rows; these are not shown to it again
ROUNDS = 5


def read_digits():
    """Images of 8 x 8 pixels in 0..1, one a row, and what they show."""
    table = np.loadtxt(FOLDER / "digits.csv", np.float32, delimiter=",", skiprows=TRAINED_ON)
    return table[:, np.newaxis, :64] / 16, table[:, 64].astype(int)


def read_network():
    """w1, b1, w2, b2; each begins with a line of its name."""
    blocks = []
    for line in (FOLDER / "weights.txt").read_text().splitlines():
        if line[0] in "Wb":
            blocks.append([])
        elif line[0] != "#":
            blocks[-1].append(line.split())
    return [np.array(block, np.float32) for block in blocks]


def classified(scores, images):
    """The class of each image, one after the other, and the microseconds for each."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        classes = [scores(image).argmax() for image in images]
        best = min(best, time.perf_counter() - start)
    return np.array(classes), best * 1e6 / len(images)


def write_svg(path, images, classes, labels):
    """The digits that it took for others, twelve a row."""
    wrong = np.flatnonzero(classes != labels)
    side, across = 70, 12
    height = side * (1 + (len(wrong) - 1) // across)
    drawn = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {side * across} {height}' "
             "font-family='sans-serif' font-size='11'>"]
    for place, number in enumerate(wrong):
        left, top = place % across * side, place // across * side
        drawn.append(f"<g><text x='{left}' y='{top + 11}'>"
                     f"{labels[number]}, not {classes[number]}</text>")
        for pixel, level in enumerate(images[number, 0]):
            drawn.append(f"<rect x='{left + pixel % 8 * 6}' y='{top + 15 + pixel // 8 * 6}' "
                         f"width='6' height='6' fill='#1b4f72' fill-opacity='{level:.2f}'/>")
        drawn.append("</g>")
    pathlib.Path(path).write_text("\n".join([*drawn, "</svg>\n"]))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--svg", metavar="FILE", help="where to draw the digits that are wrong")
    svg = options.parse_args().svg
    images, labels = read_digits()
    w1, b1, w2, b2 = read_network()

    def with_numpy(image):
        return np.maximum(image @ w1 + b1, 0) @ w2 + b2

    with rk.Runtime() as runtime:
        print(runtime)

        @runtime.function
        def scores(image):
            return rk.ops.relu(image @ w1 + b1) @ w2 + b2

        ours, our_us = classified(scores, images)
        theirs, their_us = classified(with_numpy, images)
    count = len(images)
    print(f"right: {(ours == labels).sum()} of {count}, {(ours == labels).mean():.1%}")
    print(f"the same as numpy says: {(ours == theirs).sum()} of {count}")
    print(f"time for an image: {our_us:.2f} us; numpy: {their_us:.2f} us")
    if svg:
        write_svg(svg, images, ours, labels)
        print("drawn:", svg)


if __name__ == "__main__":
    main()
