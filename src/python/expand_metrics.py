"""Puts the list of figures into a text: expand_metrics.py TEMPLATE FIGURES.DEF RESULT.

A line `@LIST type = default@` becomes a field for each RK_LIST row of the list, and `@LIST help@` a
line of a docstring. Rows of counters are kernel figures.
"""

import pathlib
import re
import sys


def rows(figures, kind):
    """(name, help) of each row."""
    if kind == "KERNEL_METRIC":
        kind = r"(?:KERNEL_METRIC|\w+_COUNTER)"
    found = re.findall(rf'^RK_{kind}\((\w+),(?: \w+,)? "(.*)"\)$', figures, re.MULTILINE)
    if not found:
        raise SystemExit(f"no rows RK_{kind}")
    return found


def expanded(line, figures):
    marked = re.fullmatch(r"@(\w+) (.*)@", line)
    if marked is None:
        return [line]
    listed = rows(figures, marked[1])
    if marked[2] != "help":
        return [f"    {name}: {marked[2]}" for name, _ in listed]
    widest = max(len(name) for name, _ in listed)
    return [f"    {name:{widest}}  {help[0].lower()}{help[1:]}." for name, help in listed]


template, figures, result = map(pathlib.Path, sys.argv[1:])
definitions = figures.read_text()
lines = [new for line in template.read_text().splitlines() for new in expanded(line, definitions)]
result.write_text("\n".join(lines) + "\n")
