#!/usr/bin/env python3
"""Shows that each rule of tidy.py catches what it is there for, and leaves good files alone."""

import unittest

import tidy

RING = "src/ring/a.hpp"
VERSIONS = {
    "CMakeLists.txt": "project(ringkernel VERSION 0.1.2 LANGUAGES C)\n",
    "include/ringkernel/version.hpp":
        "int version_major = 0;\nint version_minor = 1;\nint version_patch = 2;\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased (0.1.2)\n\n## 0.1.1, today\n",
    "packaging/conan/conanfile.py": '    version = "0.1.2"\n',
    "packaging/vcpkg/ringkernel/vcpkg.json": '  "version": "0.1.2",\n',
}

# Rule -> trees with exactly one finding of that rule. A tree is {path: text}.
BAD = {
    "include_direction": [
        {RING: '#include "message/b.hpp"\n', "src/message/b.hpp": ""},
        {RING: '#include "ringkernel/message.hpp"\n', "include/ringkernel/message.hpp": ""},
        {"include/ringkernel/protocol/a.h": '#include "ringkernel/error.hpp"\n',
         "include/ringkernel/error.hpp": ""},
        {"src/backend/a.cpp": '#include "kernels/b.h"\n', "kernels/b.h": ""},
        {"bridge/a.cpp": '#include "ringkernel/runtime.hpp"\n',
         "include/ringkernel/runtime.hpp": ""},
        {"examples/a.cpp": '#include "ring/b.hpp"\n', "src/ring/b.hpp": ""},
        {"src/tools/rkstat/a.cpp": '#include "runtime/b.hpp"\n', "src/runtime/b.hpp": ""},
    ],
    "room_direction": [
        {"src/runtime/elsewhere/a.cpp": ""},
        {"src/runtime/memory/a.cpp": '#include "runtime/b.hpp"\n', "src/runtime/b.hpp": ""},
        {"bridge/dma/a.cpp": '#include "bridge/channel/b.hpp"\n', "bridge/channel/b.hpp": ""},
    ],
    "foreign_headers": [
        {"src/runtime/a.cpp": '#include "flatbuffers/flatbuffers.h"\n'},
        {"src/runtime/a.cpp": '#include "message_generated.h"\n'},
        {"src/backend/a.cpp": "#include <CL/cl.h>\n"},
        {"src/backend/opencl/a.cpp": "#include <dlfcn.h>\n"},
        {"src/ring/a.cpp": "#  include <boost/asio/post.hpp>\n"},
        {"include/ringkernel/message.hpp": "#include <boost/asio/post.hpp>\n"},
    ],
    "top_level": [
        {name: "" for name in tidy.TOP_LEVEL | {"notes.txt"}},
        {name: "" for name in tidy.TOP_LEVEL - {"LICENSE"}},
    ],
    "banned_words": [
        {"src/a.cpp": "// TODO: later\n"},
        {"docs/A.md": "FIXME\n"},
        {"src/a.hpp": "  using namespace std;\n"},
        {"tests/a.cpp": "out << std::endl;\n"},
        {"src/a.cpp": 'std::fprintf(stderr, "x");\n'},
        {"bridge/a.cpp": 'std::cerr << "x";\n'},
        {"bridge/a.cpp": 'std::getenv("A");\n'},
        {"src/a.cpp": 'secure_getenv("A");\n'},
    ],
    "line_length": [{"src/a.cpp": "x" * 101 + "\n"}, {"rk": "x" * 101 + "\n"}],
    "prose_length": [
        {"docs/A.md": "word " * 20 + "w\n"},
        {"docs/A.md": "A word or\n" + "two more\n" * 14},
        {"docs/A.md": "- One.\n- " + "word\n" * 31},
        {"README.md": "# A\n\n" * 50 + "end\n"},
    ],
    "file_length": [{"src/a.cpp": "x\n" * 501}],
    "blanks": [
        {"src/a.cpp": "x \n"},
        {"src/a.cpp": "x\ty\n"},
        {"src/a.cpp": "x"},
        {"docs/A.md": "x\n\n"},
    ],
    "header_opening": [
        {"src/a.hpp": "#pragma once\n"},
        {"src/a.hpp": "/// A.\n" * (tidy.HEADER_LINES_MAX + 1)},
        {"src/a.hpp": "/// A.\n/// Units: ns.\n/// Threading: any.\n"},
        {"include/ringkernel/a.hpp": "/// A.\nclass A {\n"},
        {"src/a.hpp": "/// A.\n/// Threading: any.\nstd::atomic<int> a;\n"},
    ],
    "ops_documented": [
        {"include/ringkernel/protocol/ops.def": "RK_OP(  1, add, 2)\nRK_OP(  2, mul, 2)\n",
         "docs/OPS.md": "`add` adds; addmul\n"},
    ],
    "one_version": [
        VERSIONS | {"include/ringkernel/version.hpp": "int version_major = 0;\n"},
        VERSIONS | {"CHANGELOG.md": "# Changelog\n\n## Unreleased (0.1.3)\n\n## 0.1.2, today\n"},
        VERSIONS | {"packaging/conan/conanfile.py": ""},
        VERSIONS | {"packaging/vcpkg/ringkernel/vcpkg.json": '  "version": "0.1.1",\n'},
    ],
    "dead_files": [
        {"src/a/b.cpp": "", "src/a/CMakeLists.txt": "rk_layer(a SOURCES c.cpp bb.cpp)\n"},
        {"src/a/b.cpp": "", "CMakeLists.txt": "file(GLOB sources *.cpp)\n"},
        {"src/a.hpp": ""},
        {"kernels/a.cl": ""},
    ],
    "environment_table": [
        {"src/a.cpp": 'environment("PATH");\n'},
        {"src/a.cpp": "", "docs/ENVIRONMENT.md": "| `RINGKERNEL_A` |\n"},
    ],
    "references": [
        {"src/a.hpp": "// see docs/NONE.md\n"},
        {"docs/A.md": "[x](../src/none.hpp)\n"},
    ],
    "one_skip": [{"tests/a_test.cpp": 'GTEST_SKIP() << "no";\n'}],
}

# Trees without any finding of the rule.
GOOD = {
    "include_direction": [
        {RING: '#include "foundation/b.hpp"\n#include <vector>\n', "src/foundation/b.hpp": ""},
        {"src/backend/native/a.cpp": '#include "kernels/b.h"\n', "kernels/b.h": ""},
        {"tests/unit/a.cpp": '#include "ring/b.hpp"\n', "src/ring/b.hpp": ""},
        {"examples/x/a.cpp": '#include "b.hpp"\n', "examples/x/b.hpp": ""},
        {"src/tools/rkinfo/a.cpp": '#include "backend/b.hpp"\n', "src/backend/b.hpp": ""},
    ],
    "room_direction": [
        {"src/runtime/b.cpp": '#include "runtime/memory/a.hpp"\n', "src/runtime/memory/a.hpp": ""},
        {"src/runtime/functions/b.cpp": '#include "runtime/memory/a.hpp"\n#include "ops/c.hpp"\n',
         "src/runtime/memory/a.hpp": "", "src/ops/c.hpp": ""},
    ],
    "foreign_headers": [
        {"src/message/a.cpp": '#include "message_generated.h"\n'},
        {"src/backend/loader.cpp": "#include <dlfcn.h>\n"},
        {"include/ringkernel/kernel.hpp": "#include <boost/asio/post.hpp>\n"},
    ],
    "top_level": [{name: "" for name in tidy.TOP_LEVEL}],
    "banned_words": [
        {"src/a.cpp": "// TODO(#12): soon\n"},
        {"src/a.cpp": "std::snprintf(a, 1, b);\n"},
        {"src/a.cpp": "using namespace std;\n"},
        {"examples/a.cpp": 'std::printf("x");\n'},
        {"src/tools/rkinfo/a.cpp": 'std::printf("x");\n'},
        {"src/foundation/assert.hpp": 'std::fprintf(stderr, "x");\n'},
        {"src/foundation/environment.cpp": 'secure_getenv("A");\n'},
        {"tests/a.cpp": 'std::getenv("A");\n'},
    ],
    "line_length": [{"src/a.cpp": "x" * 100 + "\n"}, {"docs/A.md": "x" * 200 + "\n"}],
    "prose_length": [
        {"docs/A.md": "| a table " + "word " * 40 + "|\n"},
        {"docs/A.md": "```\n" + "word " * 40 + "\n```\n"},
        {"docs/A.md": "A link:\n[" + "x" * 60 + "](" + "y" * 60 + ")\n"},
        {"docs/A.md": ("Ten words are in this, and that is no more. " * 2 + "\n") * 4},
        {"docs/A.md": "- " + "word\n" * 15 + "- " + "word\n" * 16},
        {"docs/A.md": "`" + "word " * 15 + "`\n" + "word\n" * 29},
        {"README.md": "# A\n\n" * 50},
    ],
    "file_length": [{"src/a.cpp": "x\n" * 500}, {"docs/A.md": "x\n" * 600}],
    "blanks": [{"src/a.cpp": "x\n"}, {"src/a.cpp": ""}],
    "header_opening": [
        {"include/ringkernel/a.hpp": "/// A.\n/// Threading: any.\n/// Units: ns.\nclass A {\n"},
    ],
    "ops_documented": [
        {"include/ringkernel/protocol/ops.def": "RK_OP(1, add, 2)\n", "docs/OPS.md": "`add`\n"},
    ],
    "one_version": [VERSIONS, VERSIONS | {"CHANGELOG.md": "## 0.1.2, today\n\n## 0.1.1, then\n"}],
    "dead_files": [
        {"src/a/b.cpp": "", "src/a/CMakeLists.txt": "rk_layer(a SOURCES b.cpp)\n"},
        {"src/a/b.cpp": "", "src/a/CMakeLists.txt": "file(GLOB sources *.cpp)\n"},
        {"bench/a_bench.cpp": "", "bench/CMakeLists.txt": "add_executable(x ${a}_bench.cpp)\n"},
        {"src/a.hpp": "", "src/b.cpp": '#include "a.hpp"\n', "src/CMakeLists.txt": "f(b.cpp)\n"},
    ],
    "environment_table": [
        {"src/a.cpp": 'x("RINGKERNEL_A");\n', "docs/ENVIRONMENT.md": "| `RINGKERNEL_A` |\n"},
    ],
    "references": [
        {"src/a.hpp": "// see docs/A.md\n", "docs/A.md": "[x](../src/a.hpp)\n"},
        {"docs/A.md": "[x](https://example.org) [y](#section)\n"},
        {"README.md": "[x](docs)\n", "docs/A.md": ""},
    ],
    "one_skip": [{"tests/support/skip.hpp": 'GTEST_SKIP() << "no";\n'}],
}


class TidyTest(unittest.TestCase):
    def findings(self, name, files):
        return list(getattr(tidy, name)(tidy.Tree(files)))

    def test_every_rule_has_good_and_bad_samples(self):
        names = [rule.__name__ for rule in tidy.RULES]
        self.assertEqual(names, list(BAD))
        self.assertEqual(names, list(GOOD))

    def test_a_bad_sample_gives_one_finding(self):
        for name, samples in BAD.items():
            for files in samples:
                with self.subTest(rule=name, files=files):
                    self.assertEqual(len(self.findings(name, files)), 1)

    def test_a_good_sample_gives_no_finding(self):
        for name, samples in GOOD.items():
            for files in samples:
                with self.subTest(rule=name, files=files):
                    self.assertEqual(self.findings(name, files), [])


if __name__ == "__main__":
    unittest.main()
