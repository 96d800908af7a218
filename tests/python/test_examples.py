"""The examples run, and say what they ought to."""

import re
import subprocess
import sys
import xml.etree.ElementTree

from conftest import ROOT


def output_of(name, *arguments):
    """What an example of examples/python writes."""
    done = subprocess.run(
        [sys.executable, "-B", str(ROOT / "examples/python" / name), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


def test_hello():
    text = output_of("hello.py")
    assert "1 + 2 is 3.0" in text
    ours, theirs = numbers(r"class is (\d+) and numpy says (\d+)", text)
    assert ours == theirs


def test_digits(tmp_path):
    picture = tmp_path / "wrong.svg"
    text = output_of("digits.py", "--svg", str(picture))
    right, count, share = numbers(r"right: (\d+) of (\d+), ([\d.]+)%", text)
    assert count == 797 and right > 740 and abs(share - 100 * right / count) < 0.1
    assert numbers(r"the same as numpy says: (\d+) of (\d+)", text) == [797, 797]
    assert all(time > 0 for time in numbers(r"image: ([\d.]+) us; numpy: ([\d.]+) us", text))
    svg = "{http://www.w3.org/2000/svg}"
    groups = xml.etree.ElementTree.parse(picture).getroot().findall(f"{svg}g")
    assert len(groups) == count - right
    assert {len(group.findall(f"{svg}rect")) for group in groups} == {64}


def test_stream():
    text = output_of("stream.py", "--streams", "20", "--seconds", "1.2")
    assert re.search(r"time +messages +a second +alarms\n +\d+\.\d s +\d+ +\d+ +\d+\n", text), text
    streams, messages, alarms = numbers(r"(\d+) streams, (\d+) messages, (\d+) alarms", text)
    assert streams == 20 and messages >= 20 and 0 <= alarms < messages
    assert numbers(r"numpy agrees on (\d+) of (\d+) streams", text) == [20, 20]
