#!/usr/bin/env python3
"""Writes into each file of corpus/ what goes in and what numpy says must come out, as comments at
its end. `--check` only says which files it would change.

A file that no case has, and a case without a file, are errors. NAME.19.mlir and NAME.22.mlir are
the same case in the spelling of two versions of MLIR.
"""

import pathlib
import sys
import textwrap

import numpy

import answers_bodies  # noqa: F401: each adds its cases
import answers_sums  # noqa: F401
import answers_tensors  # noqa: F401
import answers_windows  # noqa: F401
from answers_kit import CASES

CORPUS = pathlib.Path(__file__).parent / "corpus"
TYPES = {"float32": "f32", "int32": "i32", "int64": "i64"}


def comment(kind, array):
    """`// out f32[2,3] 0.5 ...`, and further lines that begin with three blanks."""
    array = numpy.asarray(array)
    if array.dtype == bool:
        array = array.astype(numpy.int32)
    dims = ",".join(map(str, array.shape))
    # What numpy writes of a float is the shortest that reads back as the same.
    words = " ".join(str(number) for number in array.flatten())
    lines = textwrap.wrap(f"{kind} {TYPES[array.dtype.name]}[{dims}] {words}", 96,
                          subsequent_indent="  ", break_on_hyphens=False)
    return "".join(f"// {line}\n" for line in lines)


def answered(text, inputs, answer):
    """The text with its comments anew."""
    kept = []
    for line in text.splitlines():
        if line.startswith(("// in ", "// out ")):
            break
        kept.append(line)
    with numpy.errstate(all="ignore"):
        outputs = answer(*[array.copy() for array in inputs])
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    return ("\n".join(kept).rstrip() + "\n\n"
            + "".join(comment("in", array) for array in inputs)
            + "".join(comment("out", array) for array in outputs))


def main(check):
    complaints = []
    left = set(CASES)
    for path in sorted(CORPUS.glob("*.mlir")):
        name = path.name.split(".")[0]
        if name not in CASES:
            complaints.append(f"{path.name}: no case")
            continue
        left.discard(name)
        text = path.read_text()
        new = answered(text, *CASES[name])
        if new == text:
            continue
        if check:
            complaints.append(f"{path.name}: not what numpy says")
        else:
            path.write_text(new)
    complaints += [f"{name}: no file" for name in sorted(left)]
    print("\n".join(complaints) or f"{len(CASES)} cases")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
