"""Messages that are sent, and their outcomes; what is known of kernels."""

import threading

import numpy as np
import pytest

import pyringkernel as rk

F32, I32 = np.float32, np.int32


def test_outcomes_come_in_the_order_of_the_messages(kernel):
    ids = [kernel.send("add", F32([i]), F32([1])) for i in range(50)]
    assert ids == sorted(set(ids))
    outcomes = [kernel.receive(10) for _ in ids]
    assert [outcome.id for outcome in outcomes] == ids
    assert [outcome.value[0] for outcome in outcomes] == [i + 1 for i in range(50)]
    assert {outcome.error for outcome in outcomes} == {None}
    assert outcomes[0].result() is outcomes[0].value
    assert repr(outcomes[0]) == f"<Outcome {ids[0]}>"


def test_a_value_is_an_array_of_its_own(kernel):
    operand = F32([1, 2])
    kernel.send("add", operand, 1)
    operand[:] = 50  # it was copied
    kernel.send("add", operand, 1)
    first, second = kernel.receive(10).value, kernel.receive(10).value
    assert (first.tolist(), second.tolist()) == ([2, 3], [51, 51])
    assert first.dtype == F32 and first.flags.writeable


def test_an_error_is_an_outcome(kernel):
    good = kernel.send("gather", F32([1, 2]), I32([1]))
    bad = kernel.send("gather", F32([1, 2]), I32([2]))
    last = kernel.send("relu", F32([1]))
    assert kernel.receive(10).id == good
    outcome = kernel.receive(10)
    assert (outcome.id, outcome.value) == (bad, None)
    assert isinstance(outcome.error, rk.IndexOutOfBounds)
    assert outcome.error.message == bad
    assert repr(outcome) == f"<Outcome {bad}, failed>"
    for _ in range(2):
        with pytest.raises(rk.IndexOutOfBounds) as caught:
            outcome.result()
        assert caught.value is outcome.error
    assert kernel.receive(10).id == last


def test_what_can_be_checked_is_refused_when_it_is_sent(kernel):
    with pytest.raises(rk.ShapeError):
        kernel.send("add", F32([1, 2]), F32([1, 2, 3]))
    with pytest.raises(TypeError, match="resident tensor"):
        kernel.send("relu", F32([1]), out=np.zeros(1, F32))
    with pytest.raises(rk.DeadlineExceeded):
        kernel.receive(0)
    for timeout in (-1, float("nan")):
        with pytest.raises(ValueError):
            kernel.receive(timeout)


def test_attributes_options_and_positions(kernel):
    kernel.send("sum", F32([[1, 2], [3, 4]]), axes=[0], keepdims=True, timeout=10, priority=3)
    assert kernel.receive(timeout=10).value.tolist() == [[4, 6]]


def test_a_result_that_stays_on_the_device_has_no_value(runtime, kernel):
    tensor = runtime.tensor(2)
    kernel.send("add", F32([1, 2]), 1, out=tensor)
    outcome = kernel.receive(10)
    assert (outcome.value, outcome.error) == (None, None)
    assert tensor.read().tolist() == [2, 3]


def test_an_op_without_a_result_has_no_value(kernel):
    kernel.send("noop")
    outcome = kernel.receive(10)
    assert (outcome.value, outcome.error) == (None, None)


def test_the_time_of_a_message_is_over_in_its_outcome(kernel):
    kernel.deactivate()
    message = kernel.send("relu", F32([1]), timeout=0.01)
    outcome = kernel.receive(10)
    assert outcome.id == message
    assert isinstance(outcome.error, rk.DeadlineExceeded)
    kernel.activate()
    assert kernel.relu(F32([3])).tolist() == [3]


def test_priorities_order_what_waits_on_the_host(runtime, new_id):
    kernel = runtime.launch(new_id(), input_bytes=4096, output_bytes=4096)
    kernel.deactivate()
    sent = {}
    for number in range(40):  # more than the ring takes
        urgent = number >= 30
        message = kernel.send("relu", np.full(64, number, F32), priority=5 if urgent else 0)
        sent[message] = number
    kernel.activate()
    order = [sent[kernel.receive(10).id] for _ in sent]
    assert sorted(order) == list(range(40))
    urgent = [number for number in order if number >= 30]
    assert urgent == list(range(30, 40))
    assert order.index(39) < order.index(29)
    kernel.terminate()


def test_receive_without_an_end_waits_for_what_comes(kernel):
    got = []
    receiver = threading.Thread(target=lambda: got.append(kernel.receive()))
    receiver.start()
    message = kernel.send("relu", F32([1]))
    receiver.join(20)
    assert [outcome.id for outcome in got] == [message]


def test_terminate_with_drain_ends_after_what_is_queued(runtime, new_id):
    x = runtime.tensor(1)
    kernel = runtime.launch(new_id())
    for _ in range(100):
        kernel.send("add", x, 1, out=x)
    kernel.terminate(drain=True)
    assert x.read().tolist() == [100]
    assert kernel.status == "terminated"


def test_a_with_block_ends_a_kernel_after_what_is_queued(runtime, new_id):
    x = runtime.tensor(1)
    with runtime.launch(new_id()) as kernel:
        for _ in range(100):
            kernel.send("add", x, 1, out=x)
    assert x.read().tolist() == [100]
    assert kernel.status == "terminated"
    assert kernel.id not in runtime.kernels()
    with pytest.raises(ZeroDivisionError), runtime.launch(new_id()) as kernel:
        raise ZeroDivisionError
    assert kernel.status == "terminated"


def test_what_was_accepted_can_be_received_after_the_end(runtime, new_id):
    with runtime.launch(new_id()) as kernel:
        kernel.send("relu", F32([5]))
    assert kernel.receive(10).value.tolist() == [5]
    with pytest.raises(rk.Closed):
        kernel.receive(10)


def test_states_and_names(runtime, new_id):
    id = new_id()
    kernel = runtime.launch(id, activate=False)
    assert (kernel.id, kernel.status) == (id, "launched")
    kernel.activate()
    assert kernel.status == "active"
    assert id in runtime.kernels() and runtime.kernels() == sorted(runtime.kernels())
    same = runtime.kernel(id)
    kernel.deactivate()
    assert same.status == "deactivated"
    assert repr(same) == f"<Kernel '{id}', core, deactivated>"
    same.terminate()
    same.terminate()
    assert kernel.status == "terminated"
