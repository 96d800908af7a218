"""What a runtime tells `logging`."""

import gc
import logging
import threading

import numpy as np
import pytest

import pyringkernel as rk
from conftest import BACKENDS


@pytest.mark.parametrize("backend", BACKENDS)
def test_records_arrive(caplog, backend):
    caplog.set_level(logging.DEBUG, "pyringkernel")
    with rk.Runtime(backend=backend, log=True) as runtime:
        with runtime.launch("loud") as kernel:
            kernel.add(np.float32([1]), 1)
        function = runtime.function(lambda x: x + 1)
        function(np.float32([1]))
        del function
        gc.collect()  # its kernel ends and says so, in whatever thread
    texts = [record.getMessage() for record in caplog.records]
    for event in ("launched", "active", "terminated"):
        assert f"loud: {event}" in texts
    assert texts[-1] == "shut down"
    assert {record.name for record in caplog.records} == {"pyringkernel"}
    assert {record.levelno for record in caplog.records} == {logging.INFO}


def test_without_log_there_is_none(caplog):
    caplog.set_level(logging.DEBUG, "pyringkernel")
    with rk.Runtime(backend="native") as runtime:
        runtime.launch("quiet")
    assert caplog.records == []


def test_a_handler_that_raises_does_no_harm(monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", seen.append)

    class Raises(logging.Handler):
        def emit(self, record):
            raise ZeroDivisionError

    logger, handler = logging.getLogger("pyringkernel"), Raises()
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        with rk.Runtime(backend="native", log=True) as runtime:
            with runtime.launch("a") as kernel:
                assert kernel.add(np.float32([1]), 1).tolist() == [2]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert seen and seen[0].exc_type is ZeroDivisionError


def test_ends_in_another_thread_while_a_log_is_written(caplog):
    caplog.set_level(logging.INFO, "pyringkernel")
    runtime = rk.Runtime(backend="native", log=True)

    def work(number):
        for _ in range(20):
            with runtime.launch(f"k{number}") as kernel:
                kernel.add(np.float32([1]), 1)
            function = runtime.function(lambda x: x + 1)
            function(np.float32([1]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del runtime
    gc.collect()
    assert caplog.records[-1].getMessage() == "shut down"
