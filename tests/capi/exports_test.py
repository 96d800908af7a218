"""exports_test.py NM LIBRARY EXPORTS.MAP HEADER...: the library exports exactly what its version
script lists, under that version, and the C headers declare exactly these functions."""
import pathlib
import re
import subprocess
import sys

nm, library, version_script, *headers = sys.argv[1:]

script = re.sub(r"#.*", "", pathlib.Path(version_script).read_text(encoding="utf-8"))
version, names, rest = re.fullmatch(
    r"\s*(\w+)\s*{\s*global:(.*?)local:(.*?)}\s*;\s*", script, re.S).groups()
listed = [name.strip() for name in names.split(";") if name.strip()]
assert rest.split() == ["*;"], f"everything else is local, not {rest}"
assert listed == sorted(set(listed)), "each name once, sorted"

declared = set()
for header in headers:
    text = pathlib.Path(header).read_text(encoding="utf-8")
    declared |= set(re.findall(r"^RINGKERNEL_API[\w\s*]*?\b(\w+)\(", text, re.M))

lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True,
                       text=True).stdout.splitlines()
exported = {line.split()[-1] for line in lines} - {version}
wanted = {f"{name}@@{version}" for name in listed}

for what, more, less in (("exported, not listed", exported, wanted),
                         ("listed, not exported", wanted, exported),
                         ("declared, not listed", declared, set(listed)),
                         ("listed, not declared", set(listed), declared)):
    if more - less:
        sys.exit(f"{what}: {sorted(more - less)}")
print(f"{len(listed)} functions, version {version}")
