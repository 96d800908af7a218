#!/usr/bin/env python3
"""The chart of README.md, from what `./rk bench choose --json FILE` wrote:

    python3 bench/chart.py FILE > bench/choose.svg

One row for each kind of work, one mark for each tool, on a logarithmic axis of time. Colours are
those of the page, light or dark; each tool has a shape of its own besides.
"""

import json
import math
import sys
from xml.sax.saxutils import escape

WORKS = [
    ("add16", "add of 16 floats"),
    ("stream", "adds of 256 floats, 32 in flight"),
    ("mlp64", "MLP 64-32-10"),
    ("mlp784", "MLP 784-128-10"),
    ("cnn", "CNN 28x28, 2 convolutions"),
    ("add64k", "add of 64 KiB vectors"),
    ("matmul512", "matmul 512 x 512 x 512"),
]
# What a case's name ends with, the tool's name, its shape, its colour on light and on dark pages.
TOOLS = [
    ("native", "ringkernel, native", "disc", "#0a5ad6", "#6cb0ff"),
    ("pocl", "ringkernel, PoCL", "ring", "#0a5ad6", "#6cb0ff"),
    ("ort", "onnxruntime", "square", "#b35900", "#ffa657"),
    ("opencl", "OpenCL launches", "cross", "#a0156f", "#ff8fd8"),
    ("loop", "C++ loop", "bar", "#57606a", "#a7b0ba"),
]
LEFT, RIGHT, TOP, ROW, BOTTOM, WIDTH = 230, 32, 58, 30, 34, 800


def times(rows):
    """{(work, tool): us} of the cases that were measured."""
    measured = {row["name"]: row["value"] for row in rows if row["unit"] == "us"}
    return {(work, tool[0]): measured[f"{work}_{tool[0]}"]
            for work, _ in WORKS for tool in TOOLS if f"{work}_{tool[0]}" in measured}


def label(us):
    """A time in the unit that needs the fewest digits."""
    for factor, unit in ((1000, "ms"), (1, "us"), (0.001, "ns")):
        if us >= factor:
            return f"{us / factor:.3g} {unit}"
    return f"{us * 1000:.2g} ns"


def mark(shape, x, y):
    """Centred on a place; `fill` and `stroke` come from the class of its tool."""
    if shape == "disc":
        return f'<circle cx="{x:.1f}" cy="{y}" r="6"/>'
    if shape == "ring":
        return f'<circle cx="{x:.1f}" cy="{y}" r="5" class="open"/>'
    if shape == "square":
        return f'<rect x="{x - 5:.1f}" y="{y - 5}" width="10" height="10"/>'
    if shape == "bar":
        return f'<path d="M{x:.1f} {y - 8}v16" class="open"/>'
    return f'<path d="M{x - 5:.1f} {y - 5}l10 10m0 -10l-10 10" class="open"/>'


def style():
    light = "".join(f".{tool[0]}{{fill:{tool[3]};stroke:{tool[3]}}}" for tool in TOOLS)
    dark = "".join(f".{tool[0]}{{fill:{tool[4]};stroke:{tool[4]}}}" for tool in TOOLS)
    return ("text{font:13px sans-serif;fill:#1f2328;stroke:none}.small{font-size:12px}"
            ".grid{stroke:#d0d7de}.open{fill:none;stroke-width:2.5}" + light +
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#3d444d}" + dark +
            "}")


def legend():
    x = 12
    for tool, name, shape, _, _ in TOOLS:
        yield f'<g class="{tool}">{mark(shape, x + 6, 18)}</g>'
        yield f'<text x="{x + 18}" y="22">{escape(name)}</text>'
        x += 40 + 7.2 * len(name)


def svg(rows):
    """The chart as text. Works that were not measured have no row."""
    found = times(rows)
    if not found:
        raise ValueError("no case of bench choose is in the file")
    works = [(work, text) for work, text in WORKS if any(key[0] == work for key in found)]
    first = math.floor(math.log10(min(found.values())))
    last = math.ceil(math.log10(max(found.values())))
    height = TOP + ROW * len(works) + BOTTOM

    def place(us):
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(us) - first) / max(1, last - first)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
             "<title>Time of one request, by kind of work and tool</title>",
             f"<style>{style()}</style>", *legend(),
             f'<text x="12" y="{TOP - 12}" class="small">time of one request, logarithmic; '
             "further left is faster</text>"]
    for power in range(first, last + 1):
        x = place(10.0 ** power)
        lines.append(f'<path d="M{x:.1f} {TOP}v{ROW * len(works)}" class="grid"/>')
        lines.append(f'<text x="{x:.1f}" y="{height - 12}" class="small" text-anchor="middle">'
                     f"{label(10.0 ** power)}</text>")
    for number, (work, text) in enumerate(works):
        y = TOP + ROW * number + ROW // 2
        lines.append(f'<text x="12" y="{y + 4}">{escape(text)}</text>')
        for tool, name, shape, _, _ in reversed(TOOLS):
            if (work, tool) in found:
                us = found[work, tool]
                lines.append(f'<g class="{tool}"><title>{escape(f"{name}: {label(us)}")}</title>'
                             f"{mark(shape, place(us), y)}</g>")
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(svg(json.load(file)))


if __name__ == "__main__":
    main()
