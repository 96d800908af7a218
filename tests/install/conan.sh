#!/bin/sh
# conan.sh [create]: has Conan judge packaging/conan, with Debian's packages in the place of Conan's;
# create: also builds the package, and tests/install/consumer against it. Conan is fetched once, into
# the build folder. Exit code 77: it is not to be had here; the last line says why.
set -eu
cd "$(dirname "$0")/../.."
folder=build/deps/conan
part=conan
. tests/support/skip.sh

if [ ! -d $folder ]; then
  python3 -m pip --version >/dev/null 2>&1 || ./rk packages python3-pip || skip "there is no pip"
  mkdir -p build/deps
  part=$(mktemp -d $folder.XXXXXX)
  trap 'rm -rf "$part"' EXIT
  python3 -m pip -q --disable-pip-version-check install --no-cache-dir --target "$part" \
    'conan==2.*' >&2 || skip "pip could not fetch Conan"
  chmod 755 "$part"
  mv "$part" $folder
fi
CONAN_HOME=$PWD/build/deps/conan-home
PYTHONPATH=$PWD/$folder
export CONAN_HOME PYTHONPATH
conan() {
  python3 $folder/bin/conan "$@" packaging/conan --no-remote \
    --profile:all=packaging/conan/system.profile
}

if [ "${1:-}" = create ]; then
  conan create '--build=ringkernel*' -c "tools.cmake.cmake_layout:test_folder=$CONAN_HOME/test" \
    -c 'tools.cmake.cmaketoolchain:extra_variables={"CMAKE_UNITY_BUILD": "ON"}'
else
  conan graph info
fi
