#!/bin/sh
# fetch.sh VERSION: unpacks what Debian's packages of this MLIR have that we use (the library, its C
# API's archives and headers) into build/deps/mlir-VERSION, once. Nothing is put into the system.
# Exit code 77: it is not to be had here; the last line says why.
set -eu
cd "$(dirname "$0")/../.."
version=$1
folder=build/deps/mlir-$version
packages="libmlir-$version libmlir-$version-dev libllvm$version"

part=mlir
. tests/support/skip.sh

[ ! -e "$folder/packages" ] || exit 0
command -v apt-get >/dev/null || skip "there is no apt-get"
mkdir -p build/deps
part=$(mktemp -d build/deps/part.XXXXXX)
trap 'rm -rf "$part"' EXIT
trap 'exit 1' INT TERM
echo "fetching the Debian packages of MLIR $version (some 70 MB)" >&2
# shellcheck disable=SC2086 # a list of names
(cd "$part" && apt-get -q download $packages >&2) || skip "apt-get could not download $packages"

# take PACKAGE PATTERN...: unpacks those of its files. Nine tenths of them are archives and headers
# for C++.
take() {
  package=$1
  shift
  dpkg-deb --fsys-tarfile "$part/$package"_*.deb |
    tar -x -C "$part" --wildcards "$@" "./usr/share/doc/$package/copyright"
  basename "$part/$package"_*.deb >>"$part/packages"
  rm "$part/$package"_*.deb
}
llvm=./usr/lib/llvm-$version
take "libllvm$version" './usr/lib/*/libLLVM*.so*'
take "libmlir-$version" "$llvm/lib/libMLIR.so.*"
take "libmlir-$version-dev" "$llvm/lib/libMLIRCAPIIR.a" "$llvm/lib/libMLIRCAPIRegisterEverything.a" \
  "$llvm/include/mlir-c" "$llvm/include/mlir/Config"
chmod 755 "$part"
rm -rf "$folder"
mv "$part" "$folder"

# What they need is there wherever a driver of OpenCL brings an LLVM of its own.
if LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-*-*) ldd "$folder/$llvm"/lib/libMLIR.so.* |
  grep 'not found' >&2; then
  rm -rf "$folder"
  skip "MLIR $version needs libraries that are not installed"
fi
