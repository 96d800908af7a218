#!/usr/bin/env python3
"""What Doxygen reads instead of a file of ours: `doxygen_filter.py FILE` prints it.

The sources keep to docs/STYLE.md and the pages to what a forge shows; both differ from what Doxygen
expects. Lines stay where they are as far as they can, so that its warnings name the right ones.

Headers: the opening comment becomes the file's, with its labels as paragraphs. A comment stands for
all declarations up to the next blank line or comment. `/* ... */` behind a declaration is about it.
Members that a list makes (`#include "....def"` behind macros for its rows) are written out, each
with its description.
Pages: every heading gets a label, and links to pages and headings become references by label.
Other links go to the file in the checkout, which is three folders above the output.
"""

import pathlib
import re
import sys

LABEL = re.compile(r"/// (Threading|Memory ordering|Ownership|Errors|Units):")
HIDDEN = re.compile(r"^namespace detail\b.*?^}  // namespace detail[^\n]*|"
                    r"^template <[^{;]*\b(?:struct|class) boost::[^{]*{(?:};|.*?^};)", re.M | re.S)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|``.+?``|`[^`]+`", re.M | re.S)
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#+) (.*)$", re.M)


# --- headers -------------------------------------------------------------------------------------


def opening(lines):
    """The file's comment: how many lines it has, and itself as Doxygen wants it."""
    count = next((i for i, line in enumerate(lines) if not line.startswith("///")), len(lines))
    block = [LABEL.sub(r"/// @par \1\n///", line) for line in lines[:count]]
    return count, [f"/// @file\n{block[0]}"] + block[1:]


def name_of(lines):
    """What the first of the lines begins to declare: a function, or a macro's family.

    Constructors are none: the next one is mostly another thing.
    """
    if macro := re.match(r"#define (\w+_)\w+", lines[0]):
        return macro[1]
    text = "\n".join(line for line in lines if not line.strip().startswith("template <"))
    function = re.search(r"\b(operator\S+|[a-z]\w*)\(", re.split("[;{]", text)[0])
    return function[1] if function else None


def shared_comments(lines):
    """The lines, with a comment repeated for each overload, or macro of a family, right below it.

    A declaration begins where its comment does; what is deeper, or `}`, belongs to the one before.
    """
    comment, name, is_begun = [], None, False
    for i, line in enumerate(lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if not text:
            comment = []
        elif text.startswith("///") and not text.startswith(("///<", "///@")):
            comment, name, is_begun = ([] if name else comment) + [line], None, False
        elif comment and not is_begun and comment[0].index("/") == indent and text[0] != "}":
            declared = name_of(lines[i:i + 5])
            if name and declared == name:
                yield from comment
            elif name:
                comment = []
            name = declared or "a type or a variable"
            is_begun = text.startswith(("template <", "requires "))
        elif not text.startswith(("template <", "requires ")):
            is_begun = False
        yield line


def members(lines):
    """The lines, with members in place of a list that is included: `RK_ROW(name, ..., "help")`."""
    macros = {}
    for line in lines:
        if row := re.match(r"#define (RK_\w+)\(name, .*\) ([^;\\]*);$", line):
            macros[row[1]] = row[2]
        elif macros and (included := re.match(r'#include "(ringkernel/\w+\.def)"$', line)):
            yield from rows(included[1], macros)
            macros = {}
        else:
            yield line


def rows(included, macros):
    """The members that the macros make of the list's rows."""
    text = (pathlib.Path("include") / included).read_text(encoding="utf-8")
    stands_for = dict(re.findall(r"^#define (\w+)\([^)]*\) (RK_\w+)\(", text, re.M))
    for macro, name, help_ in re.findall(r'^(RK_\w+)\((\w+),.* "(.*)"\)$', text, re.M):
        member = macros.get(macro) or macros.get(stands_for.get(macro))
        if member:
            yield f"  {re.sub('name', name, member, count=1)};  ///< {help_}"


def header(lines):
    lines = list(members(lines))
    count, block = opening(lines)
    text = "\n".join(block + list(shared_comments(lines[count:])))
    text = HIDDEN.sub(lambda match: "\n" * match[0].count("\n"), text)
    return re.sub(r"([;,]|^[^\n/*]*=[^\n/*]*)( *)/\* ", r"\1\2/**< ", text, flags=re.M) + "\n"


# --- pages ---------------------------------------------------------------------------------------


def slug(heading):
    """The anchor that a forge gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def label(path):
    """The label of a page."""
    if path == "README.md":
        return "index"  # Doxygen's name of its main page
    return "_".join(pathlib.PurePosixPath(path).with_suffix("").parts).lower()


def is_page(path):
    return path.endswith(".md") and pathlib.Path(path).is_file()


def resolved(here, target):
    """(path from the root, fragment) of a link's target."""
    path, _, fragment = target.partition("#")
    parts = [] if not path else list(here.parent.parts)
    for part in pathlib.PurePosixPath(path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) if path else here.as_posix(), fragment


def code_of(text):
    """Code in a line, which ends at a quote unless its marks are doubled."""
    is_quoting = "'" in text and not text.startswith(("``", "~~~"))
    return f"`{text}`" if is_quoting else text


def page(name, text):
    here = pathlib.PurePosixPath(name)
    kept = []

    def keep(match):
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    def unkept(part):
        return re.sub(r"\0(\d+)\0", lambda match: code_of(kept[int(match[1])]), part)

    def link(match):
        if "://" in match[3]:
            return match[0]
        path, fragment = resolved(here, match[3])
        text = match[2].replace("\n", " ")  # a reference is one line
        moved = "\n" * match[2].count("\n")
        if not is_page(path):
            return f"{moved}{match[1]}[{text}](../../../{path})"
        target = label(path) + (f"_{fragment}" if fragment else "")
        return f"{moved}[{text}](@ref {target})"

    seen = {}

    def heading(match):
        title = unkept(match[0]).replace("`", "")  # Doxygen shows marks of code in titles
        if len(match[1]) == 1:
            return f"{title} {{#{'mainpage' if name == 'README.md' else label(name)}}}"
        anchor = slug(unkept(match[2]))
        seen[anchor] = seen.get(anchor, -1) + 1
        number = f"-{seen[anchor]}" if seen[anchor] else ""
        return f"{title} {{#{label(name)}_{anchor}{number}}}"

    text = CODE.sub(keep, text)
    text = HEADING.sub(heading, LINK.sub(link, text))
    return unkept(text)


def main():
    name = sys.argv[1]
    path = pathlib.Path(name)
    if path.is_absolute():
        name = path.relative_to(pathlib.Path.cwd()).as_posix()
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(page(name, text) if name.endswith(".md") else header(text.splitlines()))


if __name__ == "__main__":
    main()
