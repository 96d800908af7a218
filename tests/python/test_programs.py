"""Programs of one's own: with plain bytes and with a schema."""

import json
import shutil
import struct
import subprocess

import numpy as np
import pytest

import pyringkernel as rk
from conftest import BACKENDS, skip_without

#: Adds up the numbers that it is sent, and answers with the sum and how many there were.
ADDER = """
typedef struct {
  rk_u64 sum;
  rk_u64 count;
} adder_state;

RK_ON_BYTES {
  RK_GLOBAL adder_state* total = (RK_GLOBAL adder_state*)state;
  RK_GLOBAL rk_u64* answer = (RK_GLOBAL rk_u64*)rk_reply_bytes(self);
  if (rk_request_length(self) != 8) return rk_fault(self, 2, rk_request_length(self));
  const rk_u64 number = *(RK_GLOBAL const rk_u64*)rk_request_bytes(self);
  if (number == 0) return rk_fault(self, 1, 77);
  total->sum += STEP * number;
  total->count += 1;
  answer[0] = total->sum;
  answer[1] = total->count;
  rk_reply_length(self, 16);
  return RK_OK;
}
"""

TILL = """
namespace kiosk;
attribute "state_of";
attribute "version";
attribute "max";
table Sale { price: float; count: uint = 1; }
table Total { sales: ulong; revenue: float; }
struct TillState (state_of: "Till", version: 1) { sales: ulong; revenue: float; }
rpc_service Till { Sell(Sale): Total; }
"""

TILL_HANDLERS = """
#include "till.rk.h"
RK_ON(Till, Sell) {
  if (!rk_leads(self)) return RK_OK;
  if (Sale_count(request) == 0) return rk_fault(self, 1, 0);
  state->sales += Sale_count(request);
  state->revenue += Sale_price(request) * (rk_f32)Sale_count(request);
  reply->sales = state->sales;
  reply->revenue = state->revenue;
  return RK_OK;
}
"""


def adder(step=1):
    return f"#define STEP {step}\n{ADDER}"


def number(value):
    return struct.pack("<Q", value)


def answer(reply):
    assert type(reply) is bytes
    return struct.unpack("<QQ", reply)


@pytest.fixture(params=BACKENDS)
def runtime(request):
    """One for each test: a runtime takes eight programs."""
    with rk.Runtime(backend=request.param) as runtime:
        yield runtime


@pytest.fixture
def added(runtime):
    runtime.add_program("adder", adder(), state_bytes=16, reply_bytes=64)
    return runtime


@pytest.fixture
def adding(added, new_id):
    with added.launch(new_id(), "adder") as kernel:
        yield kernel


def test_a_handler_answers_and_keeps_its_state(adding):
    for i in range(1, 20):
        assert answer(adding.call_bytes(number(i))) == (i * (i + 1) // 2, i)
    assert repr(adding) == f"<Kernel '{adding.id}', adder, active>"


@pytest.mark.parametrize("kind", (bytes, bytearray, memoryview, np.frombuffer))
def test_any_buffer_is_a_message(adding, kind):
    data = kind(number(5)) if kind is not np.frombuffer else np.frombuffer(number(5), np.uint8)
    assert answer(adding.call_bytes(data, timeout=10, priority=1)) == (5, 1)


def test_what_is_no_buffer_is_no_message(adding):
    for wrong in ("text", 5, None, [1, 2]):
        with pytest.raises(TypeError):
            adding.call_bytes(wrong)


def test_a_fault_leaves_the_state(adding):
    adding.call_bytes(number(3))
    with pytest.raises(rk.HandlerFault, match=adding.id) as caught:
        adding.call_bytes(number(0))
    assert (caught.value.fault_code, caught.value.fault_detail) == (1, 77)
    with pytest.raises(rk.HandlerFault) as caught:
        adding.call_bytes(b"12345")
    assert (caught.value.fault_code, caught.value.fault_detail) == (2, 5)
    assert answer(adding.call_bytes(number(4))) == (7, 2)
    assert adding.metrics().faults == 2


def test_bytes_are_sent_and_received(adding):
    ids = [adding.send_bytes(number(i)) for i in (1, 0, 2)]
    outcomes = [adding.receive(10) for _ in ids]
    assert [outcome.id for outcome in outcomes] == ids
    assert answer(outcomes[0].value) == (1, 1)
    assert isinstance(outcomes[1].error, rk.HandlerFault) and outcomes[1].value is None
    assert answer(outcomes[2].result()) == (3, 2)


def test_bytes_are_awaited(adding, run):
    async def calls():
        first = answer(await adding.acall_bytes(number(5), timeout=10))
        with pytest.raises(rk.HandlerFault) as caught:
            await adding.acall_bytes(number(0))
        assert caught.value.fault_detail == 77
        return first

    assert run(calls()) == (5, 1)


def test_a_state_is_read_and_written_while_the_kernel_rests(adding):
    adding.call_bytes(number(3))
    with pytest.raises(rk.StateError):
        adding.read_state(16)
    with pytest.raises(rk.StateError):
        adding.write_state(bytes(16))
    adding.deactivate()
    assert adding.read_state(16) == struct.pack("<QQ", 3, 1)
    for wrong in (0, 8, 17):
        with pytest.raises(rk.MessageError):
            adding.read_state(wrong)
    with pytest.raises(rk.MessageError):
        adding.write_state(b"1234")
    adding.write_state(memoryview(struct.pack("<QQ", 100, 10)))
    adding.activate()
    assert answer(adding.call_bytes(number(1))) == (101, 11)


def test_ops_are_not_for_programs_of_ones_own(added, adding):
    kernel = added.launch("core")
    with pytest.raises(rk.Unsupported, match="plain bytes"):
        adding.add(np.float32([1]), 1)
    with pytest.raises(rk.MessageError) as caught:
        kernel.call_bytes(number(1))
    assert caught.value.name == "malformed_message"
    with pytest.raises(rk.StateError):
        kernel.state_json()


def test_a_swap_keeps_states(runtime, new_id):
    runtime.add_program("swapped", adder(), state_bytes=16, reply_bytes=64)
    with runtime.launch(new_id(), "swapped") as kernel:
        assert answer(kernel.call_bytes(number(1))) == (1, 1)
        swap = runtime.swap_program("swapped", adder(10), state_bytes=16, reply_bytes=64)
        assert (swap.version, swap.migrated) == (2, 0)
        assert 0 <= swap.pause < 60
        assert answer(kernel.call_bytes(number(1))) == (11, 2)
        assert kernel.metrics().program_version == 2
        runtime.swap_back("swapped")
        assert answer(kernel.call_bytes(number(1))) == (12, 3)
        with pytest.raises(rk.StateError):
            runtime.swap_program("swapped", adder(10), state_bytes=24, reply_bytes=64)
        assert answer(kernel.call_bytes(number(1))) == (13, 4)
    with pytest.raises(rk.NotFound):
        runtime.swap_program("nobody", adder())


def test_a_program_comes_from_a_file(native, new_id, tmp_path):
    path = tmp_path / "file.rk.cl"
    with pytest.raises(rk.MessageError, match="file.rk.cl"):
        native.add_program("file", path=path, state_bytes=16, reply_bytes=64)
    path.write_text(adder())
    native.add_program("file", path=path, state_bytes=16, reply_bytes=64)
    with native.launch(new_id(), "file") as kernel:
        assert answer(kernel.call_bytes(number(9))) == (9, 1)
    with pytest.raises(rk.Error):
        native.add_program("file", path=str(path))  # the name is in use


def test_an_error_names_the_line(native, tmp_path):
    path = tmp_path / "mine.rk.cl"
    path.write_text("RK_ON_BYTES {\n  return no_such_thing(self);\n}\n")
    with pytest.raises(rk.DeviceError, match=r"mine\.rk\.cl:2") as caught:
        native.add_program("mine", path=path)
    assert caught.value.name == "build_failed"


def test_a_handler_that_writes_too_far_is_found(native, new_id):
    text = "RK_ON_BYTES { rk_reply_bytes(self)[9] = 1; return RK_OK; }\n"
    native.add_program("far", text, reply_bytes=8, guard=True)
    kernel = native.launch(new_id(), "far")
    with pytest.raises(rk.DeviceError) as caught:
        kernel.call_bytes(b"")
    assert caught.value.name == "program_overran"
    kernel.terminate()


@pytest.fixture(scope="module")
def till_schema(tmp_path_factory):
    flatc = shutil.which("flatc")
    if flatc is None:
        skip_without("flatc", "it is not installed")
    folder = tmp_path_factory.mktemp("till")
    (folder / "till.fbs").write_text(TILL)
    command = [flatc, "-b", "--schema", "--bfbs-comments", "--bfbs-builtins", "till.fbs"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "till.bfbs"


def sale(price, count):
    """A finished FlatBuffer of the table Sale."""
    vtable = struct.pack("<HHHH", 8, 12, 4, 8)
    return struct.pack("<IHH", 12, 0, 0)[:4] + vtable + struct.pack("<ifI", 8, price, count)


def total(data):
    """(sales, revenue) of the table Total."""

    def at(kind, place):
        return struct.unpack_from("<" + kind, data, place)[0]

    table = at("I", 0)
    vtable = table - at("i", table)
    sales, revenue = at("H", vtable + 4), at("H", vtable + 6)
    return at("Q", table + sales), at("f", table + revenue)



@pytest.mark.parametrize("given", ("path", "text", "bytes"))
def test_a_program_with_a_schema(runtime, new_id, till_schema, given):
    schema = {"path": till_schema, "text": str(till_schema), "bytes": till_schema.read_bytes()}
    runtime.add_program("till", TILL_HANDLERS, schema=schema[given])
    with runtime.launch(new_id(), "till", "Till") as kernel:
        assert repr(kernel) == f"<Kernel '{kernel.id}', till.Till, active>"
        assert total(kernel.call_bytes(sale(2.5, 4), "Sell")) == (4, 10)
        assert total(kernel.call_bytes(sale(1, 1), method="Sell")) == (5, 11)
        kernel.send_bytes(sale(1, 2), "Sell")
        assert total(kernel.receive(10).value) == (7, 13)
        assert json.loads(kernel.state_json()) == {"sales": 7, "revenue": 13}
        with pytest.raises(rk.HandlerFault):
            kernel.call_bytes(sale(1, 0), "Sell")
        with pytest.raises(rk.MessageError) as caught:
            kernel.call_bytes(b"\xff" * 16, "Sell")
        assert caught.value.name == "malformed_request"
        with pytest.raises(rk.NotFound, match="Sell") as caught:
            kernel.call_bytes(sale(1, 1), "Steal")
        assert caught.value.name == "unknown_method"
        methods = kernel.metrics().methods
        assert [method.name for method in methods] == ["Sell"]


def test_a_method_is_awaited(runtime, new_id, till_schema, run):
    runtime.add_program("till", TILL_HANDLERS, schema=till_schema)
    with runtime.launch(new_id(), "till") as kernel:
        assert total(run(kernel.acall_bytes(sale(2.5, 4), "Sell"))) == (4, 10)


def test_what_is_no_schema_is_refused(native, tmp_path):
    with pytest.raises(rk.MessageError):
        native.add_program("bad", TILL_HANDLERS, schema=b"no schema")
    with pytest.raises(FileNotFoundError):
        native.add_program("bad", TILL_HANDLERS, schema=tmp_path / "none.bfbs")


def test_echo(runtime, new_id):
    with runtime.launch(new_id(), "echo") as kernel:
        for data in (b"", b"x", bytes(range(256)) * 10):
            assert kernel.call_bytes(data) == data
