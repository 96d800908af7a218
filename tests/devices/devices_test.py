#!/usr/bin/env python3
"""Whether the device programs fit GPUs that are not here, as far as compilers can tell.

    devices_test.py DEVICE_SOURCES FOLDER

Compiles what the tool DEVICE_SOURCES writes into FOLDER with Debian's clang and libclc, for GPUs of
NVIDIA (where ptxas has the last word) and of AMD, prints what a work-item needs, and fails where
that is more than docs/devices.md allows. A driver's own compiler may decide otherwise.

Exit code 77: a compiler is missing; the last line says which. What could be compiled was judged.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

# 15, the first that knows gfx1100, keeps to half of its registers, and writes instructions for it
# that its own assembler refuses. The bitcode of libclc may be older.
CLANG = "clang-16"
LIBCLC = pathlib.Path("/usr/lib/clc")
NVIDIA, AMD = ("sm_80", "sm_90"), ("gfx90a", "gfx1100")

PTX = "-DRK_PTX"  # as the backend says on NVIDIA's devices

PRIVATE_MAX = 1024  # bytes of each work-item: a GPU keeps them for all that are resident
SPILL_MAX = 64  # bytes
COMMON = ["-x", "cl", "-O3", "-w", "-Xclang", "-finclude-default-header",
          "-cl-fp32-correctly-rounded-divide-sqrt"]


class Failed(Exception):
    pass


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(" ".join(map(str, command)) + "\n" + done.stderr[-4000:])
    return done.stdout + done.stderr


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"no '{pattern}' in what the compiler said")
    return int(found.group(1))


def builtins(name):
    return ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBCLC / name]


def for_nvidia(source, options, ptxas):
    """PTX for sm_80 is what ptxas takes for any later one."""
    ptx = source.with_suffix(".ptx")
    run(CLANG, *COMMON, *options, PTX, "--target=nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu",
        "-Xclang", "sm_80", *builtins("nvptx64--nvidiacl.bc"), "-S", source, "-o", ptx)
    externals = re.findall(r"^\.extern.*?(\w+)\s*[;(]?$", ptx.read_text(), re.MULTILINE)
    for device in NVIDIA:
        said = run(ptxas, "-v", f"-arch={device}", ptx, "-o", source.with_suffix(f".{device}"))
        frames = [tuple(map(int, frame)) for frame in re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)]
        cumulative = re.findall(r"(\d+) bytes cumulative stack size", said)
        local = re.search(r"(\d+) bytes smem", said)
        yield {
            "program": source.stem, "device": device,
            "private": max([int(size) for size in cumulative] + [frame[0] for frame in frames]),
            "spills": max(max(frame[1:]) for frame in frames),
            "local": int(local.group(1)) if local else 0,
            "registers": number(r"Used (\d+) registers", said),
            "externals": externals,
        }


def for_amd(source, options, device):
    assembly = source.with_suffix(f".{device}.s")
    target = ["--target=amdgcn-amd-amdhsa", f"-mcpu={device}"]
    run(CLANG, *COMMON, *options, *target, "-nogpulib", *builtins("amdgcn--amdhsa.bc"), "-S",
        source, "-o", assembly)
    said = assembly.read_text()
    called = set(re.findall(r"(\w+)@(?:rel32|gotpcrel32)@lo", said))
    defined = set(re.findall(r"^(\w+):", said, re.MULTILINE))
    return {
        "program": source.stem, "device": device,
        "private": number(r"\.private_segment_fixed_size: *(\d+)", said),
        # What scalar registers spill goes into lanes of vector registers, not to memory.
        "spills": 4 * number(r"\.vgpr_spill_count: *(\d+)", said),
        "local": number(r"\.group_segment_fixed_size: *(\d+)", said),
        "registers": number(r"\.vgpr_count: *(\d+)", said),
        "externals": sorted(called - defined),
    }


def objections(row):
    for what, limit in (("private", PRIVATE_MAX), ("spills", SPILL_MAX), ("local", 0)):
        if row[what] > limit:
            yield f"{row['program']} on {row['device']}: {row[what]} bytes {what}, of {limit}"
    if row["externals"]:
        yield f"{row['program']} on {row['device']} needs {', '.join(row['externals'])}"


def skip(part, why):
    """As tests/support/skip.sh."""
    if part in os.environ.get("RINGKERNEL_REQUIRE", "").split(","):
        print(f"{part} is required (RINGKERNEL_REQUIRE), and missing: {why}")
        return 1
    print(f"skipped: without {part}: {why}")
    return 77


def main(device_sources, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [] if shutil.which(CLANG) else [CLANG]
    missing += [] if (LIBCLC / "amdgcn--amdhsa.bc").exists() else ["libclc-15"]
    if missing:
        return skip("clang", "there is no " + " and no ".join(missing))
    options, local = run(device_sources, folder).splitlines()
    options = options.split()
    here = pathlib.Path(__file__).parent
    found = subprocess.run([here / "ptxas.sh"], stdout=subprocess.PIPE, text=True)
    ptxas = found.stdout.strip() if found.returncode == 0 else None
    sources = sorted(folder.glob("*.cl"))
    rows = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for source in sources:
            if ptxas:
                jobs.append(pool.submit(lambda at: list(for_nvidia(at, options, ptxas)), source))
            jobs += [pool.submit(lambda at, device: [for_amd(at, options, device)], source, device)
                     for device in AMD]
        for job in jobs:
            rows += job.result()
    print(f"| program | device | private, of {PRIVATE_MAX} | spills, of {SPILL_MAX} | "
          "local, fixed | vector registers |")
    print("|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: (row["program"], (NVIDIA + AMD).index(row["device"]))):
        print(f"| `{row['program']}` | {row['device']} | {row['private']} | {row['spills']} | "
              f"{row['local']} | {row['registers']} |")
    print(f"\nBytes; an executor's work-group gets {local} bytes of local memory besides.")
    failures = [text for row in rows for text in objections(row)]
    for text in failures:
        print("FAILED:", text)
    if failures:
        return 1
    if not ptxas:
        return skip("ptxas", "NVIDIA's devices were not compiled for, see above")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Failed as failure:
        print("FAILED:", failure)
        sys.exit(1)
