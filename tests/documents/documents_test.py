#!/usr/bin/env python3
"""README.md's chart, what Doxygen reads instead of our pages and headers, and tutorial.py."""

import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "docs")]

import chart  # noqa: E402
import doxygen_filter  # noqa: E402
import tutorial  # noqa: E402

ROWS = [
    {"name": "add16_native", "value": 0.7, "unit": "us", "samples": 9, "spread": 0.1},
    {"name": "add16_opencl", "value": 22, "unit": "us"},
    {"name": "mlp64_ort", "value": 2.8, "unit": "us"},
    {"name": "mlp64_vs_ort", "value": 2.5, "unit": "x"},
]


def luminance(colour):
    """Of #rrggbb, as WCAG defines it."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def elements(text, name):
    return xml.etree.ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}" + name)


@contextlib.contextmanager
def in_folder(folder):
    before = pathlib.Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Chart(unittest.TestCase):
    def test_has_a_row_for_each_work_and_a_mark_for_each_time(self):
        texts = [element.text for element in elements(chart.svg(ROWS), "text")]
        self.assertIn("add of 16 floats", texts)
        self.assertIn("MLP 64-32-10", texts)
        self.assertNotIn("matmul 512 x 512 x 512", texts)
        titles = [element.text for element in elements(chart.svg(ROWS), "title")]
        self.assertIn("ringkernel, native: 700 ns", titles)
        self.assertIn("OpenCL launches: 22 us", titles)
        self.assertIn("onnxruntime: 2.8 us", titles)

    def test_places_faster_tools_further_left(self):
        def native_at(us):
            text = chart.svg([ROWS[0] | {"value": us}, ROWS[1]])
            return float(list(elements(text, "circle"))[-1].get("cx"))
        self.assertLess(chart.LEFT, native_at(2))
        self.assertLess(native_at(2), native_at(7))
        self.assertLess(native_at(7), chart.WIDTH - chart.RIGHT)

    def test_refuses_the_figures_of_another_bench(self):
        with self.assertRaises(ValueError):
            chart.svg([{"name": "call_add16_p50_us", "value": 1, "unit": "us"}])

    def test_is_readable_on_light_and_dark_pages(self):
        for _, name, _, light, dark in chart.TOOLS:
            self.assertGreater(contrast(light, "#ffffff"), 3, name)
            self.assertGreater(contrast(dark, "#0d1117"), 3, name)
        self.assertIn("prefers-color-scheme:dark", chart.svg(ROWS))

    def test_the_one_in_the_repository_is_of_the_figures_beside_it(self):
        rows = json.loads((ROOT / "bench/choose.json").read_text())
        self.assertEqual(chart.svg(rows), (ROOT / "bench/choose.svg").read_text())

    def test_the_table_of_choosing_has_the_same_figures(self):
        rows = json.loads((ROOT / "bench/choose.json").read_text())
        times = {row["name"]: row["value"] for row in rows}
        columns = ("loop", "ort", "opencl", "opencl_basic", "native", "pocl")
        text = (ROOT / "docs/CHOOSING.md").read_text()
        lines = re.findall(r"^\| (?:add|MLP|CNN|a stream|matmul).*$", text, re.M)
        works = ("add16", "mlp64", "mlp784", "cnn", "add64k", "stream", "matmul512")
        self.assertEqual(len(lines), len(works))
        for work, line in zip(works, lines):
            cells = re.split(r" \| |, (?=\d)", line.split(" | ", 1)[1])
            for column, cell in zip(columns, cells):
                us = float(cell.split()[0]) * (1000 if cell.endswith("ms") else 1)
                self.assertLessEqual(abs(us - times[f"{work}_{column}"]), 0.05 * us,
                                     f"{work}_{column}")


class Pages(unittest.TestCase):
    def test_headings_get_the_anchors_of_a_forge(self):
        text = doxygen_filter.page("guide/A.md", "# A\n\n## One & `two`\n\n## One & `two`\n")
        self.assertIn("# A {#guide_a}\n", text)
        self.assertIn("## One & two {#guide_a_one--two}\n", text)
        self.assertIn("## One & two {#guide_a_one--two-1}\n", text)

    def test_links_to_pages_become_references_and_others_lead_to_the_file(self):
        with in_folder(ROOT):
            text = doxygen_filter.page(
                "docs/OPS.md", "[a](TENSORS.md#order), [b](#x), [c\nd](../rk), [e](https://f)")
        self.assertEqual(text, "[a](@ref docs_tensors_order), [b](@ref docs_ops_x), "
                               "\n[c d](../../../rk), [e](https://f)")

    def test_code_stays_as_it_is(self):
        block = "```\n# no heading [x](y.md)\n```\n"
        self.assertEqual(doxygen_filter.page("guide/A.md", block), block)
        self.assertEqual(doxygen_filter.page("guide/A.md", "`[x](y)`"), "`[x](y)`")

    def test_a_quote_does_not_end_code(self):
        self.assertEqual(doxygen_filter.page("guide/A.md", "`input 'a'`"), "``input 'a'``")


class Headers(unittest.TestCase):
    def filtered(self, *lines):
        return doxygen_filter.header(["/// What it is.", "///", "/// Threading: any.", "", *lines])

    def test_the_opening_comment_is_the_files(self):
        self.assertTrue(self.filtered().startswith("/// @file\n/// What it is.\n"))
        self.assertIn("/// @par Threading\n/// any.\n", self.filtered())

    def test_overloads_share_a_comment_and_others_do_not(self):
        text = self.filtered("/// Twice.", "int twice(int x);", "int twice(float x);",
                             "int half(int x);", "", "int twice(char x);")
        self.assertEqual(text.count("/// Twice."), 2)
        self.assertIn("/// Twice.\nint twice(float x);\nint half", text)

    def test_overloads_with_bodies_and_templates_share_a_comment(self):
        text = self.filtered("/// It.", "template <class T>", "void f(T t) {", "  g(t);", "}",
                             "template <class T>", "void f(T t,", "       int i);")
        self.assertEqual(text.count("/// It.\ntemplate <class T>\nvoid f("), 2)

    def test_a_comment_behind_a_field_is_about_it(self):
        self.assertIn("int a; /**< what */", self.filtered("int a; /* what */"))

    def test_members_that_a_list_makes_are_written_out(self):
        with in_folder(ROOT):
            text = self.filtered(
                "#define RK_KERNEL_METRIC(name, kind, help) std::uint64_t name = 0;",
                '#include "ringkernel/metrics.def"')
        self.assertIn("  std::uint64_t accepted = 0;  ///< Messages accepted\n", text)
        self.assertIn("  std::uint64_t queued = 0;  ///< Messages that wait", text)
        self.assertNotIn("latency", text)
        self.assertNotIn("include", text)

    def test_what_is_not_public_is_hidden(self):
        text = self.filtered("namespace detail {", "struct A;", "}  // namespace detail", "int b;")
        self.assertNotIn("struct A", text)
        self.assertIn("int b;", text)


class Tutorial(unittest.TestCase):
    def program_of(self, *blocks):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("".join(f"```cpp\n{block}```\nText.\n" for block in blocks))
            return tutorial.program(page)

    def test_steps_stand_above_run_and_are_called_in_it_in_order(self):
        run = tutorial.RUN + tutorial.MARK + "}\n"
        self.assertEqual(
            self.program_of("int a;\n", run, "RK_TRY(b, f());\n", "int c;\n", "RK_TRY(d, g());\n"),
            "int a;\n\nint c;\n\n" + tutorial.RUN + "  RK_TRY(b, f());\n  RK_TRY(d, g());\n}\n")

    def test_a_page_without_run_or_without_steps_is_refused(self):
        run = tutorial.RUN + tutorial.MARK + "}\n"
        for blocks in ([run], ["RK_TRY(b, f());\n"], [tutorial.RUN + "}\n", "RK_TRY(b, f());\n"]):
            with self.assertRaises(SystemExit):
                self.program_of(*blocks)

    def test_what_is_printed_has_every_character_but_where_the_page_leaves_out(self):
        self.assertTrue(tutorial.matches("score 1\n... us\n", "score 1\n0.7 us\n"))
        for printed in ("score 2\n0.7 us\n", "score 1\n0.7 us\nmore\n", "score 1\n0\n.7 us\n"):
            self.assertFalse(tutorial.matches("score 1\n... us\n", printed))

    def test_figures_may_differ_and_words_and_their_order_may_not(self):
        printed = "a (12/1)  1.5 ms ago\n  score#0  active   7  2.1 us\n  rest#0  quiet  0  -\n"
        for expected in (printed, "a (3/1) 9 us ago\nscore#0 active 1 -\n", "rest#0 ... 0 3 ns\n"):
            self.assertTrue(tutorial.shows(printed, expected), expected)
        for expected in ("b (12/1) 1 ms ago\n", "score#1 active 7 2.1 us\n", "score#0 active 7\n",
                         "rest#0 quiet 0 -\nscore#0 active 7 2.1 us\n"):
            self.assertFalse(tutorial.shows(printed, expected), expected)


if __name__ == "__main__":
    unittest.main()
