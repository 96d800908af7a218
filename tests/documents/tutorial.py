#!/usr/bin/env python3
"""docs/TUTORIAL.md, as a program and as what it prints.

tutorial.py write PAGE FILE             the page's blocks of C++ become the program FILE
tutorial.py run PAGE PROGRAM RKSTAT     PROGRAM prints the page's blocks of text; and RKSTAT, while
                                        PROGRAM waits for a key, those that begin with `$ rkstat`
"""

import pathlib
import re
import shlex
import subprocess
import sys
import time

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Where a step's lines for `run` belong, and what comes before that function.
MARK = "  // The next steps come here.\n"
RUN = "rk::Result<void> run() {\n"
#: How long until the figures of a service are there.
TIMEOUT_S = 60
#: What differs from run to run: a runtime's id; a figure with its unit, or a hyphen for none.
FIGURE = re.compile(r"(?<![\w#])(\d+/\d+|\d[\d.]*|-)( (ns|us|ms|s|B|KiB|MiB|GiB|%))?(?!\w)")


def blocks(page, language):
    """The texts of the blocks in that language."""
    found = BLOCK.findall(pathlib.Path(page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def program(page):
    """main.cpp as a reader has it at the end: lines for `run` at the mark, all else above `run`."""
    above, inside, last = [], [], None
    for text in blocks(page, "cpp"):
        if text.startswith(RUN):
            last = text
        elif text.startswith("RK_TRY"):
            inside.append("".join(f"  {line}\n" for line in text.splitlines()))
        else:
            above.append(text)
    if last is None or last.count(MARK) != 1 or not inside:
        raise SystemExit(f"{page}: no block has `run` with the line {MARK.strip()!r}, or no step")
    return "\n".join([*above, last.replace(MARK, "".join(inside))])


def matches(expected, printed):
    """Whether these are the same lines; `...` stands for anything within its line."""
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, printed) is not None


def without_figures(text):
    """Its lines with # for each figure, one space between words, and no trailing space."""
    return [" ".join(FIGURE.sub("#", line).split()) for line in text.splitlines()]


def shows(printed, expected):
    """Whether all lines of `expected` are among those of `printed`, in this order."""
    lines = iter(without_figures(printed))
    return all(any(matches(wanted, line) for line in lines) for wanted in without_figures(expected))


def check_rkstat(session, rkstat, pid):
    """Waits until `rkstat` shows that: `session` is a command behind `$ ` and some of its output.
    """
    command, expected = session.split("\n", 1)
    arguments = shlex.split(command.removeprefix("$ rkstat"))
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        done = subprocess.run([rkstat, *arguments, "--pid", str(pid)], capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False)
        if shows(done.stdout, expected):
            return
        if time.monotonic() > deadline:
            raise SystemExit(f"{command}\n{done.stdout}{done.stderr}\nIn the page:\n{expected}")


def check_run(page, path, rkstat):
    """Runs the program to its end, and rkstat when all is printed."""
    expected = "".join(blocks(page, "text"))
    sessions = [text for text in blocks(page, "") if text.startswith("$ rkstat")]
    if expected.count("\n") < 8 or not sessions:
        raise SystemExit(f"{page} has too few blocks that say what is printed")
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as service:
        try:
            printed = ""
            while not printed.endswith("press Enter to end\n"):
                line = service.stdout.readline()
                if not line:
                    break
                printed += line
            if not matches(expected, printed):
                raise SystemExit(f"Printed:\n{printed}\nIn the page:\n{expected}")
            for session in sessions:
                check_rkstat(session, rkstat, service.pid)
            rest, _ = service.communicate("\n", timeout=TIMEOUT_S)
        finally:
            service.kill()
    if rest or service.returncode != 0:
        raise SystemExit(f"The program ended with {service.returncode}: {rest}")


def main():
    if sys.argv[1:2] == ["write"] and len(sys.argv) == 4:
        pathlib.Path(sys.argv[3]).write_text(program(sys.argv[2]), encoding="utf-8")
    elif sys.argv[1:2] == ["run"] and len(sys.argv) == 5:
        check_run(*sys.argv[2:])
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
