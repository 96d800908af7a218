#!/bin/sh
# Fetches Intel's OpenCL driver for CPUs into build/deps/intel-opencl, once, and makes vendors/ there,
# a folder for OCL_ICD_VENDORS that names this driver alone. Nothing is put into the system.
# Exit code 77: it is not to be had here; the last line says why.
set -eu
cd "$(dirname "$0")/../.."
pins=tests/drivers/intel_opencl.txt
folder=build/deps/intel-opencl
library=libintelocl.so

part=intel
. tests/support/skip.sh

# Unpacks into a folder of another name, so that what bears the name is whole. Of 1.1 GB the driver
# needs 0.4; the rest is for other kinds of devices, or the same files under other names.
fetch() {
  python3 -m pip --version >/dev/null 2>&1 || ./rk packages python3-pip || skip "there is no pip"
  mkdir -p build/deps
  part=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  echo "fetching $(grep -c == "$pins") Python packages with Intel's OpenCL driver (270 MB)" >&2
  python3 -m pip -q download --no-cache-dir --no-deps --only-binary :all: --require-hashes \
    -d "$part" -r "$pins" >&2 || skip "pip could not fetch what $pins names"
  for wheel in "$part"/*.whl; do
    python3 -m zipfile -e "$wheel" "$part"
    rm "$wheel"
  done
  mkdir "$part/lib"
  for name in cl.cfg 'cl*.rtl' 'cllibrary*.o' 'libocl_svml_*.so' "$library.*.*" \
    'libcommon_clang.so.*' libimf.so libintlc.so.5 libirng.so libsvml.so libtbb.so.12; do
    # shellcheck disable=SC2086 # a pattern
    mv "$part"/*.data/data/lib/$name "$part/lib/"
  done
  rm -r "$part"/*.data "$part"/*.dist-info
  cp "$pins" "$part/pins"
  chmod 755 "$part"
  rm -rf "$folder"
  mv "$part" "$folder"
}

cmp -s "$pins" "$folder/pins" || fetch

# Written each time, because the repository may have moved.
mkdir -p "$folder/vendors"
echo "$PWD/$(echo "$folder"/lib/$library.*)" >"$folder/vendors/intel.icd"
if ldd "$(cat "$folder/vendors/intel.icd")" | grep 'not found' >&2; then
  echo "the driver needs libraries that $pins does not bring" >&2
  exit 1
fi
