"""Many live streams at once: each has a detector of unusual readings, with a state of its own.

stream.py [--streams N] [--seconds S]: what happens, while it happens, and numpy's word on it.
"""
import argparse
import asyncio
import time

import numpy as np
import pyringkernel as rk

SENSORS = 16  # of each stream
PERIOD = 0.01  # seconds between two readings of them
WEIGHT = 0.02  # of a new reading in the averages
LIMIT = 64.0  # of a squared score: eight standard deviations


def detector():
    """How far each reading is from the sensor's mean, squared, in units of its variance."""
    graph = rk.Graph("detector")
    x = graph.input((SENSORS,), name="readings")
    mean = graph.state((SENSORS,), name="mean")
    variance = graph.state((SENSORS,), name="variance")
    off = x - mean
    square = off * off
    usual = square < LIMIT * variance  # what is not usual does not become usual
    graph.update(mean, rk.ops.select(usual, mean + WEIGHT * off, mean))
    spread = (1 - WEIGHT) * (variance + WEIGHT * square)
    graph.update(variance, rk.ops.select(usual, spread, variance))
    graph.output(square / variance, "score")
    return graph


class NumpyDetector:
    """The same, to check by."""

    def __init__(self):
        self.mean, self.variance = np.zeros(SENSORS, np.float32), np.ones(SENSORS, np.float32)

    def __call__(self, x):
        off = x - self.mean
        square = off * off
        score = square / self.variance
        usual = square < LIMIT * self.variance
        spread = (1 - WEIGHT) * (self.variance + WEIGHT * square)
        self.mean = np.where(usual, self.mean + WEIGHT * off, self.mean)
        self.variance = np.where(usual, spread, self.variance)
        return score


def readings_of(number):
    """Noise about a level of each sensor; now and then one jumps. Always the same for a number."""
    random = np.random.default_rng(number)
    levels = random.uniform(-2, 2, SENSORS)
    while True:
        x = random.normal(levels)
        if random.random() < 0.02:
            x[random.integers(SENSORS)] += 30
        yield x.astype(np.float32)


class Stream:
    """Sends the readings of one source to its detector, until the time is over."""

    def __init__(self, number, detect):
        self.number, self.detect = number, detect
        self.detect.write_state("variance", np.ones(SENSORS, np.float32))
        self.sent = self.alarms = 0
        self.score = np.zeros(SENSORS, np.float32)

    async def run(self, end):
        for x in readings_of(self.number):
            if time.monotonic() >= end:
                return
            await self.detect.acall(x, out=self.score)
            self.sent += 1
            self.alarms += int((self.score > LIMIT).sum())
            await asyncio.sleep(PERIOD)

    def numpy_agrees(self):
        detect, alarms, score = NumpyDetector(), 0, self.score
        for _, x in zip(range(self.sent), readings_of(self.number)):
            score = detect(x)
            alarms += int((score > LIMIT).sum())
        return alarms == self.alarms and np.allclose(score, self.score, rtol=1e-3)


async def show(streams, period=0.5):
    """A line of the table now and then."""
    print(f"{'time':>7}{'messages':>10}{'a second':>10}{'alarms':>8}")
    start, before = time.monotonic(), 0
    while True:
        await asyncio.sleep(period)
        sent = sum(stream.sent for stream in streams)
        alarms = sum(stream.alarms for stream in streams)
        rate = (sent - before) / period
        print(f"{time.monotonic() - start:5.1f} s{sent:10}{rate:10.0f}{alarms:8}", flush=True)
        before = sent


async def watch(streams, seconds):
    showing = asyncio.ensure_future(show(streams))
    end = time.monotonic() + seconds
    await asyncio.gather(*(stream.run(end) for stream in streams))
    showing.cancel()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--streams", type=int, default=100)
    options.add_argument("--seconds", type=float, default=2)
    given = options.parse_args()
    with rk.Runtime() as runtime:
        print(runtime)
        first = runtime.compile(detector())
        detectors = [first] + [first.instance() for _ in range(given.streams - 1)]
        streams = [Stream(number, detect) for number, detect in enumerate(detectors)]
        asyncio.run(watch(streams, given.seconds))
        sent, alarms = (sum(getattr(s, what) for s in streams) for what in ("sent", "alarms"))
        print(f"{len(streams)} streams, {sent} messages, {alarms} alarms")
        agreed = sum(stream.numpy_agrees() for stream in streams)
        print(f"numpy agrees on {agreed} of {len(streams)} streams")


if __name__ == "__main__":
    main()
