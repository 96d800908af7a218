"""Threads share kernels and functions, and go on while one of them is in a call."""

import sys
import threading

import numpy as np
import pytest

import pyringkernel as rk

F32 = np.float32


def in_threads(count, work):
    """Runs `work(number)` in so many threads at once; raises what one of them raised."""
    gate = threading.Barrier(count)
    raised = []

    def body(number):
        gate.wait()
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_eight_threads_call_one_kernel(kernel):
    def work(number):
        out = np.zeros(3, F32)
        for i in range(100):
            x = F32([number, i, 1])
            assert kernel.add(x, x).tolist() == [2 * number, 2 * i, 2]
            assert kernel.mul(x, i, out=out) is out
            assert out.tolist() == [number * i, i * i, i]
            assert kernel.sum(np.full((number + 1, 2), i, F32)) == 2 * i * (number + 1)

    in_threads(8, work)


def test_eight_threads_call_one_function(runtime):
    weights = F32([[1, 2], [3, 4]])
    function = runtime.function(lambda x: (rk.ops.relu(x @ weights), x + 1))

    def work(number):
        for i in range(100):
            x = F32([[number, i]])
            product, sum = function(x)
            assert product.tolist() == (x @ weights).tolist()
            assert sum.tolist() == (x + 1).tolist()

    in_threads(8, work)


def test_threads_with_many_shapes(kernel):
    def work(number):
        for i in range(100):
            x = np.full(1 + (i * 7 + number) % 23, i, F32)
            assert kernel.add(x, number).tolist() == [i + number] * x.size

    in_threads(8, work)


def test_threads_send_and_one_receives(kernel):
    sent = [set() for _ in range(4)]

    def work(number):
        if number < 4:
            for i in range(50):
                sent[number].add(kernel.send("add", F32([i]), number))
        else:
            received = [kernel.receive(20) for _ in range(200)]
            assert sum(outcome.value[0] for outcome in received) == 4 * 1225 + 50 * 6
            ids.update(outcome.id for outcome in received)

    ids = set()
    in_threads(5, work)
    assert ids == set().union(*sent)


def test_a_call_that_waits_lets_others_go_on(kernel):
    kernel.deactivate()
    waits = threading.Event()

    def other():
        waits.wait()
        while kernel.metrics().in_flight == 0:
            pass
        kernel.activate()

    thread = threading.Thread(target=other)
    thread.start()
    waits.set()
    assert kernel.add(F32([1]), 1, timeout=20).tolist() == [2]
    thread.join()


@pytest.fixture
def no_switching():
    """A thread runs when another one gives the interpreter's lock up of itself, and else not."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


def test_an_op_lets_others_go_on(runtime, kernel, no_switching):
    x = runtime.tensor((700, 700))
    begins, ran = threading.Event(), []

    def other():
        begins.wait()
        ran.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    result = runtime.tensor((700, 700))
    kernel.matmul(x, x, out=result)
    for _ in range(20):  # one of them is long enough for a thread that is slow to wake up
        begins.set()
        kernel.matmul(x, x, out=result)
        if ran:
            break
    assert ran
    thread.join()


def test_a_function_lets_others_go_on(runtime, no_switching):
    x = np.ones((150, 150), F32)

    def long(value):
        for _ in range(100):
            value = value @ x * F32(1 / 150)
        return value

    function = runtime.function(long)
    function(x)
    begins, ran = threading.Event(), []

    def other():
        begins.wait()
        ran.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(20):
        begins.set()
        function(x)
        if ran:
            break
    assert ran
    thread.join()


def test_a_function_that_one_thread_is_in_serves_another(runtime):
    graph = rk.Graph("own")
    x = graph.input((2,))
    graph.output(graph.add(x, 1))
    function = runtime.compile(graph)
    newest = [id for id in runtime.kernels() if id.startswith("function:own#")][-1]
    kernel = runtime.kernel(newest)
    function(F32([0, 0]))
    kernel.deactivate()
    results = {}

    def work(number):
        if number < 4:
            results[number] = function(F32([number, 0]), timeout=20).tolist()
            return
        while kernel.metrics().in_flight < 4:
            pass
        kernel.activate()

    in_threads(5, work)
    assert results == {number: [number + 1, 1] for number in range(4)}


def test_an_end_in_another_thread_ends_a_wait(runtime, new_id):
    kernel = runtime.launch(new_id())
    kernel.deactivate()
    ends = []

    def work(number):
        if number == 2:
            while kernel.metrics().in_flight == 0:
                pass
            kernel.terminate()
            return
        with pytest.raises(rk.Closed):
            kernel.relu(F32([1])) if number == 0 else kernel.receive()
        ends.append(number)

    in_threads(3, work)
    assert sorted(ends) == [0, 1]
