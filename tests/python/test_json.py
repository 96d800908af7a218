"""Programs with a schema: its text, and messages and states as dicts."""

import json
import math

import numpy as np
import pytest

import pyringkernel as rk
from conftest import BACKENDS
from test_programs import TILL, TILL_HANDLERS, sale, total

#: Answers with what it is asked.
MIRROR = """
attribute "state_of";
attribute "max";
enum Colour : byte { red, green }
table Image { d: double; f: float; u: ulong; i: byte; b: bool; colour: Colour;
              name: string (max: 64); numbers: [float] (max: 8); }
struct MirrorState (state_of: "Mirror") { d: double; f: float; u: ulong; seen: [float:3]; }
rpc_service Mirror { Show(Image): Image; }
"""

MIRROR_HANDLERS = """
#include "mirror.rk.h"
RK_ON(Mirror, Show) {
  if (!rk_leads(self)) return RK_OK;
  reply->d = state->d = Image_d(request);
  reply->f = state->f = Image_f(request);
  reply->u = state->u = Image_u(request);
  reply->i = Image_i(request);
  reply->b = Image_b(request);
  reply->colour = Image_colour(request);
  RK_LET name = Image_name(request);
  RK_LET shown = Image_put_name(reply, name.count);
  for (rk_u32 at = 0; at < name.count; ++at) shown[at] = name.at[at];
  RK_LET numbers = Image_numbers(request);
  RK_LET copies = Image_put_numbers(reply, numbers.count);
  for (rk_u32 at = 0; at < numbers.count; ++at) copies[at] = numbers.at[at];
  return RK_OK;
}
"""


@pytest.fixture(params=BACKENDS)
def runtime(request):
    """One for each test: a runtime takes eight programs."""
    with rk.Runtime(backend=request.param) as runtime:
        yield runtime


@pytest.fixture
def till(runtime):
    runtime.add_program("till", TILL_HANDLERS, schema=TILL)
    return runtime.launch("t", "till")


@pytest.fixture
def mirror(native, new_id):
    if not hasattr(native, "has_mirror"):
        native.add_program("mirror", MIRROR_HANDLERS, schema=MIRROR)
        native.has_mirror = True
    with native.launch(new_id(), "mirror") as kernel:
        yield kernel


# --- the text of a schema -------------------------------------------------------------------------


@pytest.mark.parametrize("given", ("text", "path", "path as text"))
def test_a_schema_is_given_as_text(native, new_id, tmp_path, given):
    name = new_id()
    path = tmp_path / "till.fbs"
    path.write_text(TILL)
    schema = {"text": TILL, "path": path, "path as text": str(path)}[given]
    header = f"{name}.rk.h" if given == "text" else "till.rk.h"  # as the file is called
    handlers = TILL_HANDLERS.replace("till.rk.h", header)
    native.add_program(name, handlers, schema=schema)
    with native.launch(new_id(), name) as kernel:
        assert total(kernel.call_bytes(sale(2.5, 4), "Sell")) == (4, 10)


def test_a_schema_includes_another_beside_it(tmp_path):
    (tmp_path / "sale.fbs").write_text("namespace kiosk; table Sale { price: float; count: uint; }")
    text = TILL.replace("table Sale { price: float; count: uint = 1; }", "")
    (tmp_path / "till.fbs").write_text('include "sale.fbs";' + text)
    with rk.Runtime(backend="native") as runtime:
        runtime.add_program("till", TILL_HANDLERS, schema=tmp_path / "till.fbs")
        with runtime.launch("t", "till") as kernel:
            assert kernel.call_json("Sell", {"price": 2, "count": 3})["revenue"] == 6


def test_an_error_names_the_line_of_the_text(native, tmp_path):
    path = tmp_path / "wrong.fbs"
    path.write_text("table Sale {\n  price: float = x;\n}\n")
    for schema in (path, path.read_text()):
        with pytest.raises(rk.MessageError, match=r"wrong\.fbs:2:\d+: .*x"):
            native.add_program("wrong", TILL_HANDLERS, schema=schema)
    # What the parser takes, and programs do not.
    of_nobody = TILL.replace('state_of: "Till"', 'state_of: "Nobody"')
    with pytest.raises(rk.MessageError, match=r"wrong\.fbs:8.*Nobody"):
        native.add_program("wrong", TILL_HANDLERS, schema=of_nobody)
    path.write_bytes(b"table A { b: string; } // \xff\n")
    with pytest.raises(rk.MessageError, match="utf-8"):
        native.add_program("wrong", TILL_HANDLERS, schema=path)


def test_a_swap_takes_text(till, runtime):
    till.call_json("Sell", {"price": 1})
    more = TILL.replace("Sell(Sale): Total;", "Sell(Sale): Total; Give(Sale): Total;")
    give = "RK_ON(Till, Give) { reply->sales = 99; return RK_OK; }\n"
    with pytest.raises(rk.NotFound):
        till.call_json("Give", {})
    assert runtime.swap_program("till", TILL_HANDLERS + give, schema=more).version == 2
    assert till.call_json("Sell", {"price": 1}) == {"sales": 2, "revenue": 2}
    assert till.call_json("Give", {})["sales"] == 99


# --- calls ----------------------------------------------------------------------------------------


def test_a_call_takes_and_gives_dicts(till):
    assert till.call_json("Sell", {"price": 2.5, "count": 4}) == {"sales": 4, "revenue": 10}
    assert till.call_json("Sell", {"price": 1}, timeout=10, priority=1)["sales"] == 5
    assert till.call_json("Sell") == {"sales": 6, "revenue": 11}
    with pytest.raises(rk.HandlerFault):
        till.call_json("Sell", {"count": 0})


def test_a_call_is_awaited(till, run):
    async def calls():
        with pytest.raises(rk.HandlerFault):
            await till.acall_json("Sell", {"count": 0})
        return await till.acall_json("Sell", {"price": 2.5, "count": 4}, timeout=10)

    assert run(calls())["revenue"] == 10


def test_wrong_requests_name_the_place(till):
    for request, text in (
        ({"prize": 1}, "Sell:1:.*unknown field: prize"),
        ({"count": -1}, "Sell:1:"),
        ({"count": 2**40}, "Sell:1:"),
        ({"count": "many"}, "Sell:1:"),
    ):
        with pytest.raises(rk.MessageError, match=text) as caught:
            till.call_json("Sell", request)
        assert caught.value.name == "malformed_request"
    with pytest.raises(rk.NotFound, match="Sell"):
        till.call_json("Steal", {})
    for wrong in ([1], "text", None, 5):
        with pytest.raises(TypeError, match="is a dict"):
            till.call_json("Sell", wrong)
    with pytest.raises(TypeError, match="no JSON of object"):
        till.call_json("Sell", {"price": object()})


def test_every_kind_of_value_comes_back(mirror):
    shown = {
        "d": 0.1, "f": -1.5, "u": 2**64 - 1, "i": -128, "b": True, "colour": "green",
        "name": 'nan "NaN" \\ Infinity \u20ac', "numbers": [1, 2.5, -3],
    }  # fmt: skip
    assert mirror.call_json("Show", shown) == shown
    arrays = {"numbers": np.float32([1, 2]), "u": np.uint64(7), "d": np.float64(0.5)}
    got = mirror.call_json("Show", arrays)
    assert (got["numbers"], got["u"], got["d"]) == ([1, 2], 7, 0.5)


def test_floats_that_json_has_no_number_for(mirror):
    shown = {"d": math.nan, "f": -math.inf, "numbers": [math.inf, math.nan], "name": "NaN -inf nan"}
    got = mirror.call_json("Show", shown)
    assert math.isnan(got["d"]) and got["f"] == -math.inf
    assert got["numbers"][0] == math.inf and math.isnan(got["numbers"][1])
    assert got["name"] == shown["name"]
    mirror.deactivate()
    state = mirror.read_state_json()
    assert math.isnan(state["d"]) and state["f"] == -math.inf
    mirror.activate()


# --- states ---------------------------------------------------------------------------------------


def test_a_state_is_read_and_written_as_a_dict(mirror):
    mirror.deactivate()
    state = {"d": 0.1, "f": 2.5, "u": 2**64 - 1, "seen": [1, 2, 3]}
    mirror.write_state_json(state)
    assert mirror.read_state_json() == state
    assert json.loads(mirror.state_json()) == state
    with pytest.raises(rk.MessageError, match="MirrorState.*nothing"):
        mirror.write_state_json({**state, "nothing": 1})
    assert mirror.read_state_json() == state
    mirror.activate()
    with pytest.raises(rk.StateError):
        mirror.read_state_json()


def test_programs_without_a_schema_have_no_json(native, native_kernel, new_id):
    with native.launch(new_id(), "echo") as echo:
        for kernel in (echo, native_kernel):
            for use in (
                lambda: kernel.call_json("Show", {}),
                lambda: kernel.read_state_json(),
                lambda: kernel.write_state_json({}),
            ):
                with pytest.raises(rk.Error, match="schema"):
                    use()


# --- the parser -----------------------------------------------------------------------------------

SELF_CONTAINED = """
import sys
import pyringkernel as rk
assert "pyringkernel._json" not in sys.modules, "loaded by nobody who wants it"
with rk.Runtime(backend="native") as runtime:
    try:
        runtime.add_program("p", "", schema="table A { b: string; }")
    except rk.MessageError:
        pass
assert "pyringkernel._json" in sys.modules
print("libflatbuffers" in open("/proc/self/maps").read())
"""


def test_the_parser_comes_with_the_package_and_only_who_wants_it_loads_it(script):
    done = script(SELF_CONTAINED)
    assert (done.stderr, done.stdout, done.returncode) == ("", "False\n", 0)


def test_a_package_without_the_parser_says_what_to_do(native, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyringkernel._json", None)
    monkeypatch.delattr(rk, "_json", raising=False)
    with pytest.raises(rk.Unsupported, match="flatc -b --schema"):
        native.add_program("p", "", schema=TILL)
