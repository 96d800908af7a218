"""What the lists of cases are written with: numbers to put in, and the list itself."""

import zlib

import numpy

NAN, INF = float("nan"), float("inf")

# Name of a file of corpus/, without its endings: the inputs, and what makes arrays of arrays.
CASES = {}


def case(name, answer, *inputs):
    """`inputs`: arrays, or what draws one (below). `answer` gives an array, or a tuple of them."""
    assert name not in CASES, name
    random = numpy.random.RandomState(zlib.crc32(name.encode()))  # its stream never changes
    CASES[name] = ([one(random) if callable(one) else one for one in inputs], answer)


def f(*dims):
    """Floats that have few digits, some of them negative."""
    return lambda random: (random.randint(-16, 17, dims) / 8).astype(numpy.float32)


def positive(*dims):
    return lambda random: (random.randint(1, 17, dims) / 8).astype(numpy.float32)


def i(*dims, low=-9, high=9):
    return lambda random: random.randint(low, high + 1, dims).astype(numpy.int32)


def l(*dims, low=-9, high=9):  # noqa: E743
    return lambda random: random.randint(low, high + 1, dims).astype(numpy.int64)


def floats(numbers):
    return numpy.array(numbers, numpy.float32)


def ints(numbers):
    return numpy.array(numbers, numpy.int32)


def longs(numbers):
    return numpy.array(numbers, numpy.int64)
