#!/bin/sh
# Prints the path of ptxas: that of a CUDA toolkit on PATH, or one fetched into build/deps/ptxas,
# once. Nothing is put into the system.
# Exit code 77: it is not to be had here; the last line says why.
set -eu
cd "$(dirname "$0")/../.."
pins=tests/devices/ptxas.txt
folder=build/deps/ptxas

part=ptxas
. tests/support/skip.sh

# Unpacks into a folder of another name, so that what bears the name is whole.
fetch() {
  [ "$(uname -m)" = x86_64 ] || skip "the package with ptxas is for x86-64"
  python3 -m pip --version >/dev/null 2>&1 || skip "there is no pip to fetch ptxas with"
  mkdir -p build/deps
  part=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  echo "fetching the Python package with ptxas (47 MB)" >&2
  python3 -m pip -q download --no-cache-dir --no-deps --only-binary :all: --require-hashes \
    -d "$part" -r "$pins" >&2 || skip "pip could not fetch what $pins names"
  python3 -m zipfile -e "$part"/*.whl "$part/unpacked"
  mv "$part"/unpacked/nvidia/*/bin/ptxas "$part"/unpacked/*.dist-info/licenses/License.txt "$part"
  rm -r "$part"/*.whl "$part/unpacked"
  chmod 755 "$part" "$part/ptxas"
  cp "$pins" "$part/pins"
  rm -rf "$folder"
  mv "$part" "$folder"
}

if command -v ptxas; then exit 0; fi
cmp -s "$pins" "$folder/pins" || fetch
"$folder/ptxas" --version >/dev/null || skip "ptxas does not run here"
echo "$PWD/$folder/ptxas"
