"""Names, states and resident tensors of compiled functions."""

import asyncio

import numpy as np
import pyringkernel as rk
import pytest


@pytest.fixture
def counter(runtime):
    """total += x; answers the new total, and twice it."""
    graph = rk.Graph("counter")
    x = graph.input((4,), name="x")
    total = graph.state((4,), name="total")
    added = total + x
    graph.update(total, added)
    graph.output(added, "sum")
    graph.output(added * 2, "twice")
    return runtime.compile(graph)


def test_names_of_a_function(counter):
    assert counter.input_names == ["x"]
    assert counter.output_names == ["sum", "twice"]
    assert counter.state_names == ["total"]
    assert counter.states == (("float32", (4,)),)


def test_operands_by_name(runtime):
    graph = rk.Graph("difference")
    a, b = graph.input((2,), name="a"), graph.input((2,), name="b")
    graph.output(a - b)
    minus = runtime.compile(graph)
    one, two = np.float32([1, 1]), np.float32([2, 3])
    assert minus(b=one, a=two).tolist() == [1, 2]
    assert minus(two, b=one).tolist() == [1, 2]
    for wrong, text in (
        (lambda: minus(one, c=two), "'c'"),
        (lambda: minus(one, a=two), "twice"),
        (lambda: minus(b=one), "'a' is missing"),
        (lambda: minus(one, two, b=one), "twice"),
    ):
        with pytest.raises(TypeError, match=text):
            wrong()
    with pytest.raises(rk.MessageError, match="'a'"):
        rk.Graph("twice").input((1,), name="a").graph.input((1,), name="a")


def test_states_from_outside(counter):
    x = np.float32([1, 2, 3, 4])
    other = counter.instance()
    total, twice = counter(x)
    assert total.tolist() == [1, 2, 3, 4] and twice.tolist() == [2, 4, 6, 8]
    assert counter.read_state("total").tolist() == [1, 2, 3, 4]
    assert other.read_state(0).tolist() == [0, 0, 0, 0]
    counter.write_state("total", np.float32([10, 0, 0, 0]))
    assert counter(x)[0].tolist() == [11, 2, 3, 4]
    counter.reset_states()
    assert counter(x)[0].tolist() == [1, 2, 3, 4]
    with pytest.raises(rk.MessageError, match="nothing"):
        counter.read_state("nothing")
    with pytest.raises(rk.MessageError):
        counter.read_state(1)
    with pytest.raises(rk.ShapeError):
        counter.write_state(0, np.zeros(3, np.float32))
    with pytest.raises(rk.DTypeError):
        counter.write_state(0, np.zeros(4, np.int32))


def test_resident_inputs_and_outputs(runtime, counter):
    x = runtime.tensor((4,))
    x[...] = np.float32([1, 2, 3, 4])
    kept = runtime.tensor((4,))
    given = np.zeros(4, np.float32)
    result = counter(x, out=(kept, given))
    assert result[0] is kept and result[1] is given
    assert kept.read().tolist() == [1, 2, 3, 4] and given.tolist() == [2, 4, 6, 8]
    # None: a new array. The other one stays on the device.
    result = counter(kept, out=[kept, None])
    assert kept.read().tolist() == [2, 4, 6, 8] and result[1].tolist() == [4, 8, 12, 16]

    async def awaited():
        return await counter.acall(x, out=(kept, None))

    result = asyncio.run(awaited())
    assert result[0] is kept
    assert kept.read().tolist() == [3, 6, 9, 12] and result[1].tolist() == [6, 12, 18, 24]


def test_a_wrong_place_is_found_before_anything_runs(counter):
    x = np.ones(4, np.float32)
    for out in ((None,), (None, np.zeros(3, np.float32)), (None, np.zeros(4, np.int32))):
        with pytest.raises(rk.Error):
            counter(x, out=out)

        async def awaited():
            await counter.acall(x, out=out)

        with pytest.raises(rk.Error):
            asyncio.run(awaited())
    assert counter.read_state(0).tolist() == [0, 0, 0, 0]


def test_outputs_in_one_place_are_refused(counter):
    x = np.ones(4, np.float32)
    place = np.zeros(8, np.float32)
    for out in ((place[:4], place[:4]), (place[:4], place[3:7])):
        with pytest.raises(rk.MessageError, match="overlap"):
            counter(x, out=out)
    counter(x, out=(place[:4], place[4:]))
    assert place.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


def test_a_call_inside_of_a_trace_says_what_to_write(runtime):
    with runtime.launch("inside") as kernel:
        with pytest.raises(rk.MessageError, match="rk.ops"):
            runtime.function(lambda x: kernel.relu(x))(np.ones(2, np.float32))
