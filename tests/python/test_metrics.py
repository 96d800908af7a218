"""What is known of kernels and runtimes, as dataclasses."""

import dataclasses
import pathlib
import re
import time

import numpy as np
import pytest

import pyringkernel as rk
from conftest import ROOT

F32, I32 = np.float32, np.int32
FIGURES = (ROOT / "include/ringkernel/metrics.def").read_text()


def listed(kind):
    if kind == "KERNEL_METRIC":
        kind = r"(?:KERNEL_METRIC|\w+_COUNTER)"
    return set(re.findall(rf"^RK_{kind}\((\w+),", FIGURES, re.MULTILINE))


def names(cls):
    return {field.name for field in dataclasses.fields(cls)}


def test_a_kernel_counts(runtime, new_id):
    with runtime.launch(new_id()) as kernel:
        for _ in range(7):
            kernel.relu(F32([1]))
        with pytest.raises(rk.IndexOutOfBounds):
            kernel.gather(F32([1]), I32([1]))
        metrics = kernel.metrics()
        assert (metrics.id, metrics.program, metrics.status) == (kernel.id, "core", "active")
        assert (metrics.accepted, metrics.replied, metrics.failed) == (8, 7, 1)
        assert (metrics.in_flight, metrics.queued, metrics.unreceived) == (0, 0, 0)
        assert metrics.bytes_in > 0 and metrics.messages_in == 8
        assert (metrics.program_version, metrics.methods) == (1, ())


def test_a_runtime_says_where_it_is(runtime):
    whole = runtime.metrics()
    assert whole.name.startswith("tests on ") and whole.backend in whole.name
    assert pathlib.Path(whole.telemetry_file).is_file()
    assert whole.arena_bytes == 128 * 2**20
    assert 0 < whole.arena_largest_free_bytes <= whole.arena_free_bytes < whole.arena_bytes
    assert whole.backend in repr(runtime)


def test_every_figure_of_the_list_is_there():
    for cls, kinds in (
        (rk.KernelMetrics, ("KERNEL_METRIC", "KERNEL_LATENCY")),
        (rk.RuntimeMetrics, ("RUNTIME_METRIC",)),
    ):
        for kind in kinds:
            assert len(listed(kind)) > 5 and listed(kind) <= names(cls)
            for name in listed(kind):
                assert re.search(rf"^ *{name} +\w", cls.__doc__, re.MULTILINE), name


def test_latencies(runtime, new_id):
    with runtime.launch(new_id()) as kernel:
        while kernel.metrics().latency.count == 0:  # one in 64 is timed
            kernel.relu(F32([1]))
        latency = kernel.metrics().latency
    assert type(latency) is rk.LatencySummary
    assert 0 < latency.p50_ns <= latency.p90_ns <= latency.p99_ns <= latency.p999_ns
    assert latency.sum_ns >= latency.count


def test_they_are_frozen_and_compare_and_become_dicts(native, native_kernel):
    for metrics in (native_kernel.metrics(), native.metrics()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            metrics.slices = 1
        again = dataclasses.replace(metrics)
        assert again == metrics and hash(again) == hash(metrics)
        as_dict = dataclasses.asdict(metrics)
        assert set(as_dict) == names(type(metrics))
    assert dataclasses.asdict(native_kernel.metrics())["latency"]["count"] == 0


def test_a_repr_leaves_out_what_is_zero_and_can_be_read_back(native, native_kernel):
    native_kernel.relu(F32([1]))
    for metrics in (native_kernel.metrics(), native.metrics()):
        text = repr(metrics)
        assert not re.search(r"=(0|0\.0|'')[,)]", text) and "LatencySummary()" not in text
        assert eval(text, dict(vars(rk))) == metrics


def test_errors_say_when(runtime, new_id):
    before = time.monotonic_ns()
    with runtime.launch(new_id()) as kernel:
        for _ in range(3):
            with pytest.raises(rk.IndexOutOfBounds):
                kernel.gather(F32([1]), I32([1]))
    (record,) = [record for record in runtime.errors() if record.kernel == kernel.id]
    assert (record.code, record.count) == (6001, 3)
    a_tick = 10**8
    assert before - a_tick <= record.first_ns <= record.last_ns <= time.monotonic_ns()
    assert repr(record).startswith(f"ErrorRecord(kernel={kernel.id!r}, code=6001, text=")
