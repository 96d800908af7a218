#!/usr/bin/env python3
"""Checks the rules of docs/STYLE.md that a compiler does not: `tidy.py ROOT`.

A rule is a generator over a Tree that yields findings; `@rule` puts it into RULES. tidy_test.py
holds a bad sample for every rule.
"""

import pathlib
import re
import sys
from typing import NamedTuple

import prose

TOP_LEVEL = set("""
    CMakeLists.txt include src kernels schemas bridge tests bench examples docs packaging
    README.md CHANGELOG.md CONTRIBUTING.md LICENSE CMakePresets.json pyproject.toml
    .clang-format .clang-tidy .editorconfig .gitignore .ci rk
""".split())
NOT_OURS = {".git", "build", "__pycache__", ".pytest_cache", "uplot-1.6.32"}
COLUMNS_MAX = prose.COLUMNS_MAX
LINES_MAX = 500
HEADER_LINES_MAX = 60
README_LINES_MAX = 100
LABELS = ["Threading:", "Memory ordering:", "Ownership:", "Errors:", "Units:"]

CODE = {".hpp", ".cpp", ".h", ".c", ".cl", ".def", ".fbs", ".py", ".cmake", ".pml"}
C_FAMILY = {".hpp", ".cpp", ".h", ".c", ".cl", ".def"}
HEADERS = {".hpp", ".h"}
TEXT = CODE | {".md", ".txt", ".json", ".supp", ".svg", ""}
LIBRARY = ("include/", "src/", "bridge/", "kernels/")
USERS = ("examples/", "bench/", "tests/")

# Layer -> what it may include beside itself (docs/ARCHITECTURE.md). Of the kernels, native compiles
# the sources and opencl embeds them.
LAYERS = {
    "protocol": set(),
    "kernels": {"foundation", "protocol"},
    "foundation": {"protocol"},
    "ops": {"foundation", "protocol"},
    "message": {"ops", "foundation", "protocol"},
    "program": {"foundation", "protocol", "kernels", "backend"},
    "schema": {"runtime", "program", "foundation", "protocol"},
    "ring": {"foundation", "protocol"},
    "backend": {"backend/native", "backend/opencl", "foundation", "protocol"},
    "backend/cache": {"foundation", "protocol"},
    "backend/native": {"backend", "backend/cache", "foundation", "protocol", "kernels"},
    "backend/opencl": {"backend", "backend/cache", "foundation", "protocol", "kernels"},
    "bridge": {"ring", "backend", "foundation", "protocol"},
    "telemetry": {"foundation", "protocol"},
    "http": {"telemetry", "foundation", "protocol"},
    "async": {"bridge", "foundation", "protocol"},
    "observe": {"async", "telemetry", "foundation", "protocol"},
    "graph": {"message", "ops", "foundation", "protocol"},
    "runtime": {"graph", "observe", "async", "program", "http", "telemetry", "bridge", "message",
                "ops", "ring", "backend", "foundation", "protocol"},
    "mind": {"runtime", "async", "telemetry", "message", "ops", "foundation", "protocol"},
    "onnx": {"runtime", "graph", "message", "ops", "foundation", "protocol"},
    "mlir": {"runtime", "graph", "backend", "backend/cache", "message", "ops", "foundation",
             "protocol"},
    "python": {"onnx", "mlir", "runtime", "graph", "observe", "async", "telemetry", "message",
               "ops", "foundation", "protocol"},
    "python_json": {"python", "schema", "program", "foundation", "protocol"},
    "capi": {"mind", "onnx", "mlir", "runtime", "graph", "observe", "async", "telemetry", "message",
             "ops", "foundation", "protocol"},
    "capi_json": {"capi", "schema", "runtime", "program", "foundation", "protocol"},
    "tools": {"telemetry", "backend", "backend/native", "backend/opencl", "program", "schema",
              "mlir", "foundation", "protocol"},
}
# Folder of a layer -> what of its own layer it may include beside itself. The files beside the
# folders may include all of it.
ROOMS = {
    "bridge/executor": {"bridge"},
    "bridge/dma": {"bridge", "bridge/executor"},
    "bridge/channel": {"bridge", "bridge/executor"},
    "src/backend/opencl/cache": {"src/backend/opencl"},
    "src/backend/opencl/self_test": {"src/backend/opencl", "src/backend/opencl/cache"},
    "src/runtime/memory": set(),
    "src/runtime/calls": {"src/runtime", "src/runtime/memory"},
    "src/runtime/functions": {"src/runtime", "src/runtime/calls", "src/runtime/memory"},
}
PUBLIC_HEADERS = {
    "foundation": {"diagnostic.hpp", "error.hpp", "errc.def", "result.hpp", "tensor.hpp",
                   "limits.hpp", "message_buffer.hpp", "interrupt.hpp", "metrics.def"},
    "ops": {"op.hpp"},
    "message": {"message.hpp", "ops.hpp"},
    "program": {"program.hpp"},
    "schema": {"schema_text.hpp", "json.hpp"},
    "backend": {"backend_abi.h"},
    "telemetry": {"telemetry.hpp"},
    "async": {"as_result.hpp", "completion_queue.hpp", "detail/handler.hpp"},
    "observe": {"events.hpp", "log.hpp"},
    "graph": {"graph.hpp", "function_result.hpp"},
    "mind": {"mind_runtime.hpp"},
    "onnx": {"onnx.hpp"},
    "mlir": {"mlir.hpp"},
    "capi": {"mind_runtime.h", "ringkernel.h", "ringkernel_graph.h", "ringkernel_async.h",
             "ringkernel_metrics.h"},
    "capi_json": {"ringkernel_json.h"},
}

# Headers of others -> the library files that may include them. Users may include any.
FOREIGN = [
    (r"flatbuffers/|.*_generated\.h", ("src/message/", "src/program/", "src/schema/",
                                           "include/ringkernel/typed.hpp")),
    (r"CL/", ("src/backend/opencl/",)),
    (r"nanobind/", ("src/python/",)),
    (r"dlfcn\.h", ("src/backend/loader.cpp",)),
    (r"boost/beast", ("src/http/",)),
    (r"boost/lockfree", ("src/foundation/trace_log.hpp", "src/observe/")),
    (r"boost/asio", ("bridge/", "src/http/", "src/async/", "src/runtime/", "src/mind/",
                     "src/capi/", "src/python/", "include/ringkernel/kernel.hpp",
                     "include/ringkernel/runtime.hpp", "include/ringkernel/mind_runtime.hpp",
                     "include/ringkernel/compiled_function.hpp", "include/ringkernel/events.hpp",
                     "include/ringkernel/as_result.hpp", "include/ringkernel/typed.hpp",
                     "include/ringkernel/completion_queue.hpp",
                     "include/ringkernel/detail/")),
]

# Text that is banned -> (files it is banned in, files excepted, what to do).
BANNED = [
    (r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", lambda path: True, (), "needs an issue: TODO(#123)"),
    (r"^\s*using namespace\b", lambda path: path.suffix in HEADERS, (), "not in a header"),
    (r"\bstd::endl\b", lambda path: path.suffix in C_FAMILY, (), r"write '\n'"),
    (r"\b(f?printf|puts|std::cout|std::cerr)\b",
     lambda path: str(path).startswith(LIBRARY) and not str(path).startswith("src/tools/"),
     ("src/foundation/assert.hpp",), "a library returns errors, it does not print"),
    (r"\b(secure_)?getenv\b",
     lambda path: str(path).startswith(LIBRARY) and not str(path).startswith("src/tools/"),
     ("src/foundation/environment.cpp",), "use environment(): it knows what may be believed"),
]


class Finding(NamedTuple):
    path: str
    line: int
    text: str


class Tree:
    """Paths relative to the root, as posix text, with their contents."""

    def __init__(self, files):
        self.files = files

    @classmethod
    def read(cls, root):
        files = {}
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and not NOT_OURS & set(relative.parts):
                if path.suffix in TEXT or len(relative.parts) == 1:
                    files[relative.as_posix()] = path.read_text(encoding="utf-8")
        return cls(files)

    def suffixed(self, suffixes):
        """(path, lines) of the files with one of the suffixes."""
        for name, text in self.files.items():
            if pathlib.PurePosixPath(name).suffix in suffixes:
                yield name, text.splitlines()

    def code(self):
        yield from self.suffixed(CODE)
        for name, text in self.files.items():
            if name == "rk" or name.startswith(".ci/") or name.endswith("CMakeLists.txt"):
                yield name, text.splitlines()

    def includes(self):
        """(path, line number, included name, quoted) of every #include."""
        for name, lines in self.suffixed(C_FAMILY):
            for number, line in enumerate(lines, 1):
                if match := re.match(r'\s*#\s*include\s*(["<])([^">]+)', line):
                    yield name, number, match[2], match[1] == '"'

    def resolve(self, includer, included):
        """The path of one of our files that an #include names, or None."""
        here = pathlib.PurePosixPath(includer).parent
        for folder in (here.as_posix(), "include", "src", "tests", "."):
            candidate = pathlib.PurePosixPath(folder, included).as_posix()
            if candidate in self.files:
                return candidate
        return None


RULES = []


def rule(function):
    RULES.append(function)
    return function


def layer_of(path):
    """The layer a file belongs to; "users" for examples, bench and tests."""
    parts = pathlib.PurePosixPath(path).parts
    if path.startswith("include/ringkernel/"):
        if parts[2] == "protocol":
            return "protocol"
        name = "/".join(parts[2:])
        owners = [layer for layer, names in PUBLIC_HEADERS.items() if name in names]
        return owners[0] if owners else "runtime"
    if parts[0] == "src":
        nested = "/".join(parts[1:3])
        return nested if nested in LAYERS else parts[1]
    return "users" if path.startswith(USERS) else parts[0]


@rule
def include_direction(tree):
    """A layer includes only the layers below it; examples include only what is public."""
    for path, number, included, _ in tree.includes():
        target = tree.resolve(path, included)
        if target is None:
            continue
        layer, target_layer = layer_of(path), layer_of(target)
        if layer == "users":
            private = not target.startswith(("include/",) + USERS)
            if path.startswith("examples/") and private:
                yield Finding(path, number, f"an example includes the private {target}")
        elif target_layer != layer and target_layer not in LAYERS.get(layer, set()):
            yield Finding(path, number, f"layer {layer} may not include {target} ({target_layer})")


@rule
def room_direction(tree):
    """A folder of a layer includes only those of the same layer that it may know."""
    layers = {str(pathlib.PurePosixPath(room).parent) for room in ROOMS}
    for path, _ in tree.suffixed({".cpp", ".hpp"}):
        room = pathlib.PurePosixPath(path).parent
        if str(room.parent) in layers and str(room) not in ROOMS:
            yield Finding(path, 1, f"{room} is no agreed folder of its layer")
    for path, number, included, _ in tree.includes():
        target = tree.resolve(path, included)
        room = pathlib.PurePosixPath(path).parent.as_posix()
        if target is None or room not in ROOMS:
            continue
        other = pathlib.PurePosixPath(target).parent.as_posix()
        is_near = layer_of(target) == layer_of(path) and not target.startswith("include/")
        if is_near and other not in {room} | ROOMS[room]:
            yield Finding(path, number, f"{room} may not include {target}")


@rule
def foreign_headers(tree):
    """Each library of others is known to one place only."""
    for path, number, included, _ in tree.includes():
        for pattern, homes in FOREIGN:
            allowed = path.startswith(homes + USERS)
            if re.match(pattern, included) and not allowed:
                yield Finding(path, number, f"{included} belongs into {', '.join(homes)}")


@rule
def top_level(tree):
    """The top level holds exactly the agreed entries."""
    present = {pathlib.PurePosixPath(path).parts[0] for path in tree.files}
    for name in sorted(present - TOP_LEVEL):
        yield Finding(name, 1, "not an agreed entry of the top level")
    for name in sorted(TOP_LEVEL - present):
        yield Finding(name, 1, "missing from the top level")


@rule
def banned_words(tree):
    for path, lines in tree.suffixed(TEXT):
        if path.startswith("tests/tidy/"):
            continue
        for pattern, applies, excepted, advice in BANNED:
            if path in excepted or not applies(pathlib.PurePosixPath(path)):
                continue
            for number, line in enumerate(lines, 1):
                if match := re.search(pattern, line):
                    yield Finding(path, number, f"'{match[0].strip()}': {advice}")


@rule
def line_length(tree):
    for path, lines in tree.code():
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield Finding(path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")


@rule
def prose_length(tree):
    """Lines and sentences of Markdown are short, and the README fits on two screens."""
    for path, lines in tree.suffixed({".md"}):
        for number, line in prose.prose_lines(lines):
            if prose.too_long(line):
                yield Finding(path, number, f"{len(line)} columns, at most {prose.COLUMNS_MAX}")
        for number, paragraph in prose.paragraphs(lines):
            for words in prose.sentences(paragraph):
                if len(words) > prose.WORDS_MAX:
                    beginning = " ".join(words[:6])
                    yield Finding(path, number, f"{len(words)} words in a sentence, at most "
                                                f"{prose.WORDS_MAX}: {beginning} ...")
        if path == "README.md" and len(lines) > README_LINES_MAX:
            yield Finding(path, README_LINES_MAX, f"{len(lines)} lines, at most {README_LINES_MAX}")


@rule
def file_length(tree):
    for path, lines in tree.code():
        if len(lines) > LINES_MAX:
            yield Finding(path, LINES_MAX, f"{len(lines)} lines, at most {LINES_MAX}: split it")


@rule
def blanks(tree):
    """No tabs or trailing blanks in code; every text file ends with one newline."""
    for path, lines in tree.code():
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                yield Finding(path, number, "trailing blanks")
            if "\t" in line:
                yield Finding(path, number, "a tab")
    for path, text in tree.files.items():
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, text.count("\n") + 1, "must end with exactly one newline")


def opening_comment(lines):
    """The `///` block at the top of a header."""
    block = []
    for line in lines:
        if not line.startswith("///"):
            break
        block.append(line[3:].strip())
    return block


@rule
def header_opening(tree):
    """A header says what it is, then its labels in order; atomics need the first two labels."""
    for path, lines in tree.suffixed(HEADERS):
        block = opening_comment(lines)
        if not block:
            yield Finding(path, 1, "a header opens with a /// comment that says what it is")
            continue
        if len(block) > HEADER_LINES_MAX:
            yield Finding(path, 1, f"opening comment of over {HEADER_LINES_MAX} lines")
        labels = [label for line in block for label in LABELS if line.startswith(label)]
        if labels != sorted(labels, key=LABELS.index):
            yield Finding(path, 1, "labels in the order " + " ".join(LABELS))
        needed = []
        text = "\n".join(lines)
        declares_class = re.search(r"^(class|struct) \w+.*{", text, re.M)
        if re.match(r"include/ringkernel/[^/]*$", path) and declares_class:
            needed = LABELS[:1]
        if path.startswith(("include/ringkernel/", "src/", "bridge/")) and "std::atomic" in text:
            needed = LABELS[:2]
        for label in needed:
            if label not in labels:
                yield Finding(path, 1, f"the opening comment needs '{label}'")


@rule
def ops_documented(tree):
    """docs/OPS.md names every op of the table."""
    table, document = "include/ringkernel/protocol/ops.def", "docs/OPS.md"
    for number, line in enumerate(tree.files.get(table, "").splitlines(), 1):
        if match := re.match(r"RK_OP\(\s*\d+,\s*(\w+)", line):
            if f"`{match[1]}`" not in tree.files.get(document, ""):
                yield Finding(table, number, f"op `{match[1]}` is not in {document}")


# Who repeats the version of CMakeLists.txt, and how it is found there.
VERSION_HOME = ("CMakeLists.txt", r"^project\(ringkernel VERSION ([\d.]+)")
VERSION_COPIES = [
    ("include/ringkernel/version.hpp", r"version_\w+ = (\d+);"),
    ("CHANGELOG.md", r"^## (?:Unreleased \()?([\d.]+)"),
    ("packaging/conan/conanfile.py", r'^    version = "([\d.]+)"'),
    ("packaging/vcpkg/ringkernel/vcpkg.json", r'^  "version": "([\d.]+)"'),
]


@rule
def one_version(tree):
    """The version is the same wherever it stands; of the changelog the uppermost heading counts."""
    def version(path, pattern):
        found = re.findall(pattern, tree.files.get(path, ""), re.M)
        return ".".join(found) if path.endswith(".hpp") else "".join(found[:1])
    expected = version(*VERSION_HOME)
    for path, pattern in VERSION_COPIES:
        if version(path, pattern) != expected or not expected:
            yield Finding(path, 1, f"version '{version(path, pattern)}', and not '{expected}'")


@rule
def dead_files(tree):
    """A source file is named or globbed by a CMakeLists.txt above it, a header is included."""
    included = {tree.resolve(path, name) for path, _, name, _ in tree.includes()}
    for path, _ in tree.suffixed(C_FAMILY | {".fbs"}):
        if path not in included and not is_built(tree, pathlib.PurePosixPath(path)):
            yield Finding(path, 1, "nothing includes or builds this file")


def is_built(tree, path):
    """Whether a word of a CMakeLists.txt above names the file; a variable stands for any text."""
    for folder in path.parents:
        build = tree.files.get((folder / "CMakeLists.txt").as_posix(), "")
        star = ".*" if "GLOB_RECURSE" in build else "[^/]*"
        for word in re.findall(rf"[^\s()\"]+{re.escape(path.suffix)}(?=[\s()\"])", build):
            pattern = re.sub(r"\\\$\\\{\w+\\\}/?", ".*", re.escape(word)).replace(r"\*", star)
            if any(re.fullmatch(pattern, str(name)) for name in (path, path.relative_to(folder))):
                return True
    return False


@rule
def environment_table(tree):
    """docs/ENVIRONMENT.md lists the variables that the library names, and no others."""
    page = "docs/ENVIRONMENT.md"
    listed = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", tree.files.get(page, "")))
    named = set()
    for path, lines in tree.suffixed({".cpp", ".hpp"}):
        if not path.startswith(LIBRARY) or path.startswith("src/tools/"):
            continue
        for number, line in enumerate(lines, 1):
            named |= set(re.findall(r'"([A-Z][A-Z0-9_]+)"', line))
            variable = r'"(RINGKERNEL_\w+)"|(?:environment|setenv)\("(\w+)"'
            for names in re.findall(variable, line):
                if "".join(names) not in listed:
                    yield Finding(path, number, f"{''.join(names)} is not listed in {page}")
    for name in sorted(listed - named):
        yield Finding(page, 1, f"{name} is read nowhere")


@rule
def references(tree):
    """A document that is linked or named exists."""
    for path, lines in tree.suffixed(TEXT):
        if path.startswith("tests/tidy/"):
            continue
        here = pathlib.PurePosixPath(path).parent
        for number, line in enumerate(lines, 1):
            for name in re.findall(r"\bdocs/[\w/-]+\.md\b", line):
                if name not in tree.files:
                    yield Finding(path, number, f"{name} does not exist")
            if path.endswith(".md"):
                for target in re.findall(r"\]\(([^)#:]+)\)", line):
                    if not exists(tree, here / target):
                        yield Finding(path, number, f"link to {target}, which does not exist")


@rule
def one_skip(tree):
    """Tests are skipped by one helper, which knows what is required."""
    homes = {"tests/support/skip.hpp", "tests/unit/support/skip_test.cpp"}
    for path, lines in tree.suffixed({".cpp", ".hpp"}):
        for number, line in enumerate(lines, 1):
            if "GTEST_SKIP" in line and path not in homes:
                yield Finding(path, number, "GTEST_SKIP belongs into tests/support/skip.hpp")


def exists(tree, path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    name = "/".join(parts)
    return any(file == name or file.startswith(name + "/") for file in tree.files)


def check(tree):
    return [finding for check_rule in RULES for finding in check_rule(tree)]


def main():
    findings = check(Tree.read(pathlib.Path(sys.argv[1]).resolve()))
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.text}")
    print(f"tidy: {len(findings)} findings")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
