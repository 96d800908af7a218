#!/bin/sh
# deb.sh [BUILD]: makes the Debian packages, of BUILD or by the preset, and tries them in a clean
# Debian 12: they bring what they need, the tools run, consumer/ is built and runs by find_package
# and by pkg-config. Exit code 77: there can be no clean Debian 12 here; the last line says why.
set -eu
cd "$(dirname "$0")/../.."
part=debian
. tests/support/skip.sh

[ "$(id -u)" -eq 0 ] || skip "to make a clean Debian needs root"
./rk packages debootstrap || skip "no package debootstrap"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
echo "== a clean Debian 12"
debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 ||
  { tail -n 3 "$work/log" >&2; skip "debootstrap could not make one"; }

echo "== packages"
mkdir "$root/try"
if [ $# -gt 0 ]; then
  (cd "$1" && cpack -G DEB -B "$root/try") >"$work/log"
else
  ./rk packages
  cmake --workflow --preset deb >"$work/log" || { tail -n 40 "$work/log"; exit 1; }
  cp build/deb/*.deb "$root/try"
fi
ls -sh "$root/try"
cp -r tests/install/consumer "$root/try"

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH="$PATH:/sbin" "$@"; }
echo "== installed, with what they name and no more"
inside sh -ec 'apt-get -q update; apt-get -q -y --no-install-recommends install /try/*.deb' \
  >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
inside rkinfo
inside rkstat --help >"$work/log"

inside apt-get -q -y --no-install-recommends install g++ cmake make pkg-config \
  flatbuffers-compiler libflatbuffers-dev >"$work/log" 2>&1
echo "== find_package"
inside sh -ec 'cmake -S /try/consumer -B /try/build >/try/log; cmake --build /try/build
  /try/build/consumer; /try/build/c_consumer; /try/build/program_consumer'
echo "== pkg-config"
inside sh -ec 'cd /try/consumer
  c++ -std=c++20 main.cpp -o /try/cpp $(pkg-config --cflags --libs ringkernel)
  cc -std=c11 main.c -o /try/c $(pkg-config --cflags --libs ringkernel-c)
  /try/cpp; /try/c'
echo "== gone again"
inside apt-get -q -y purge libringkernel0 ringkernel-tools >"$work/log" 2>&1
if find "$root/usr" -name '*ringkernel*' | grep .; then
  echo "these are left"
  exit 1
fi
