"""Every op with every element type that it takes gives what numpy gives."""

import re

import numpy as np
import pytest

import pyringkernel as rk
from conftest import ROOT
from opcases import CASES, F32, I32, I64, METHOD_CASES, check, values


def kinds(cases):
    return [
        pytest.param(case, dtype, id=f"{case.op}-{case.label}-{dtype.__name__}")
        for case in cases
        for dtype in case.dtypes
    ]


@pytest.mark.parametrize("case, dtype", kinds(METHOD_CASES))
def test_a_method_gives_what_numpy_gives(shared_kernel, case, dtype):
    operands = case.operands(dtype)
    method = getattr(shared_kernel, case.op)
    for _ in range(3):  # the second time it is prepared, the third time it was
        check(case, method(*operands, **case.words), operands)


@pytest.mark.parametrize("case, dtype", kinds(CASES))
def test_a_call_by_name_gives_what_numpy_gives(shared_kernel, case, dtype):
    operands = case.operands(dtype)
    for _ in range(2):
        check(case, shared_kernel.call(case.op, *operands, **case.words), operands)


@pytest.mark.parametrize("case, dtype", kinds(METHOD_CASES))
def test_a_result_goes_into_an_array_of_the_callers(shared_kernel, case, dtype):
    operands = case.operands(dtype)
    method = getattr(shared_kernel, case.op)
    expected = method(*operands, **case.words)
    out = np.zeros_like(expected)
    for _ in range(2):
        out[...] = 0
        assert method(*operands, **case.words, out=out) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("case, dtype", kinds(METHOD_CASES))
def test_operands_and_results_may_stay_on_the_device(runtime, shared_kernel, case, dtype):
    operands = case.operands(dtype)
    method = getattr(shared_kernel, case.op)
    residents = []
    for operand in operands:
        resident = runtime.tensor(operand.shape, operand.dtype)
        resident[...] = operand
        residents.append(resident)
    expected = method(*operands, **case.words)
    out = runtime.tensor(expected.shape, expected.dtype)
    for _ in range(2):
        check(case, method(*residents, **case.words), operands)
        out[...] = np.zeros_like(expected)
        assert method(*residents, **case.words, out=out) is out
        np.testing.assert_array_equal(out.read(), expected)
    mixed = (residents[0], *operands[1:])
    check(case, method(*mixed, **case.words), operands)


def table():
    text = (ROOT / "include/ringkernel/protocol/ops.def").read_text()
    return re.findall(r"^RK_OP\(\s*\d+,\s*(\w+),\s*\d+,\s*(\w+)", text, re.MULTILINE)


def test_every_op_of_the_table_is_tested_with_every_type():
    tested = {}
    for case in CASES:
        tested.setdefault(case.op, set()).update(case.dtypes)
    assert {name for name, _ in table()} == tested.keys() | {"noop"}
    for name, types in table():
        if name != "noop":
            assert tested[name] == ({F32} if types == "f32" else {F32, I32, I64}), name


@pytest.mark.parametrize("cls", (rk.Kernel, rk.Graph))
def test_every_op_of_the_table_is_a_method(cls):
    assert [name for name, _ in table() if name != "noop" and not hasattr(cls, name)] == []


def test_an_op_without_a_result_gives_none_each_time(shared_kernel):
    assert [shared_kernel.call("noop") for _ in range(3)] == [None] * 3


def test_the_accuracy_is_the_one_promised(shared_kernel):
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0, 1, (3, 4000)).astype(F32), rng.uniform(0, 1, (4000, 2)).astype(F32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    got = shared_kernel.matmul(a, b)
    assert np.all(np.abs(got - exact) <= 1e-6 * (1 + exact))
    exact = a.astype(np.float64).sum()
    assert abs(shared_kernel.sum(a) - exact) <= 1e-6 * (1 + exact)


def test_backends_give_the_same_bits(native, kernel, new_id):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 30)).astype(F32)
    with native.launch(new_id()) as other:
        for op in ("exp", "tanh", "erf", "softmax", "sum", "mean"):
            here, there = (getattr(k, op)(x) for k in (kernel, other))
            assert here.tobytes() == there.tobytes(), op


def test_nan_infinity_and_the_ends_of_ranges(shared_kernel):
    x = F32([np.nan, -np.inf, -0.0, 3e9, -3e9])
    cast = shared_kernel.cast(x, "int32")
    assert cast.tolist() == [0, -(2**31), 0, 2**31 - 1, -(2**31)]
    np.testing.assert_array_equal(shared_kernel.relu(x), F32([0, 0, 0, 3e9, 0]))
    assert not np.signbit(shared_kernel.relu(x)).any()
    np.testing.assert_array_equal(shared_kernel.max(x, F32(0)), F32([np.nan, 0, 0, 3e9, 0]))
    assert shared_kernel.cast(I64([2**32 + 5]), I32).tolist() == [5]


def test_attributes_have_defaults(shared_kernel):
    x = values(F32, 2, 3)
    assert shared_kernel.sum(x) == x.sum()
    np.testing.assert_array_equal(shared_kernel.softmax(x), shared_kernel.softmax(x, axes=[1]))
    np.testing.assert_array_equal(shared_kernel.concat(x, x), np.concatenate((x, x)))


def test_defaults_are_the_same_by_name(shared_kernel):
    x = values(F32, 2, 3)
    call = shared_kernel.call
    np.testing.assert_array_equal(call("softmax", x), shared_kernel.softmax(x))
    np.testing.assert_array_equal(call("concat", x, x), shared_kernel.concat(x, x))
    images, ones = values(F32, 1, 3, 3, 1), np.ones((2, 2, 1, 1), F32)
    np.testing.assert_array_equal(call("conv2d", images, ones), shared_kernel.conv2d(images, ones))


def test_attributes_may_be_positional(shared_kernel):
    x = values(F32, 2, 3)
    np.testing.assert_array_equal(shared_kernel.sum(x, 1), x.sum(axis=1))
    np.testing.assert_array_equal(shared_kernel.sum(x, np.int64(0), True), x.sum(0, keepdims=True))
    np.testing.assert_array_equal(shared_kernel.reshape(x, (np.int32(3), -1)), x.reshape(3, 2))
