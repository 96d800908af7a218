"""Markdown as readers meet it: its lines, paragraphs and sentences, without code and tables."""

import re

WORDS_MAX = 30
COLUMNS_MAX = 100

FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")
SHORT_FORM = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx)\.", re.IGNORECASE)


def prose_lines(lines):
    """(number, line) of what is neither code, nor a table, nor HTML."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(("|", "<", "    ")):
            yield number, line


def too_long(line):
    """Whether a line goes on behind the last column where it could have ended before it."""
    text = line.rstrip()
    return len(text) > COLUMNS_MAX and " " in text[:COLUMNS_MAX].strip().lstrip("-*#> ")


def paragraphs(lines):
    """(number of the first line, text), an item of a list or a heading each one of its own."""
    first, text, last = 0, [], 0
    for number, line in prose_lines(lines):
        starts = ITEM.match(line) or line.startswith("#") or number != last + 1
        if text and (starts or not line.strip()):
            yield first, " ".join(text)
            text = []
        if line.strip():
            if not text:
                first = number
            text.append(ITEM.sub("", line).strip(" #>"))
        if line.startswith("#"):
            yield first, " ".join(text)
            text = []
        last = number
    if text:
        yield first, " ".join(text)


def sentences(paragraph):
    """Its sentences as lists of words: code is one word, of a link its text counts."""
    text = re.sub(r"``.+?``|`[^`]+`", "code", paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = SHORT_FORM.sub(r"\1", text)
    for sentence in re.split(r"(?<=[.!?])[)\"*_]*\s+", text):
        words = [word for word in sentence.split() if re.search(r"\w", word)]
        if words:
            yield words
