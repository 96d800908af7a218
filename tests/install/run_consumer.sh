#!/bin/sh
# run_consumer.sh BUILD: installs BUILD into a temporary prefix, then builds and runs consumer/
# against it, by find_package and by pkg-config, and configures subproject/. CMAKE, CC, CXX and
# BOOST_INCLUDE (or nothing) are as in that build, TOOLS the programs that it has to install (or
# nothing). WITH_SCHEMA: it has the library ringkernel::schema; WITH_JSON: ringkernel::json.
set -eu
consumer=$(dirname "$(readlink -f "$0")")/consumer
build=$1
command -v pkg-config >/dev/null || { echo "pkg-config is missing (./rk packages)"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CMAKE" --install "$build" --prefix "$work/installed" >"$work/log"
# A moved tree works as well: nothing inside names the place where it was built or installed.
mv "$work/installed" "$work/moved"
if grep -rl --include='*.cmake' --include='*.pc' -e "$work/installed" -e "$build" \
    "$work/moved"; then
  echo "these name the build or the prefix"
  exit 1
fi

echo "== tools and licences"
for tool in ${TOOLS:-}; do
  "$work/moved/bin/$tool" --help >/dev/null
done
for file in LICENSE LICENSE.uPlot THIRD_PARTY.md; do
  test -s "$work/moved/share/doc/ringkernel/$file"
done
flatc --cpp -o "$work" "$work/moved/share/ringkernel/schemas/message.fbs"

echo "== nothing of FlatBuffers' own names, which a user's program may have, too"
if nm -C "$(find "$work/moved" -name libringkernel_cpp.a)" | grep -m 5 '[^_]flatbuffers::'; then
  exit 1
fi

echo "== find_package"
"$CMAKE" -S "$consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE=Debug \
  ${BOOST_INCLUDE:+-DBoost_NO_BOOST_CMAKE=ON "-DBoost_INCLUDE_DIR=$BOOST_INCLUDE"} >"$work/log"
"$CMAKE" --build "$work/build"
"$work/build/consumer"
"$work/build/c_consumer"
# With rkc the program is compiled with its executable, and needs no compiler now.
case " ${TOOLS:-} " in
  *" rkc "*) RINGKERNEL_CXX=/nonexistent; export RINGKERNEL_CXX ;;
esac
RINGKERNEL_CACHE=0 "$work/build/program_consumer"
RINGKERNEL_CACHE=0 "$work/build/c_program_consumer"
[ -z "${WITH_SCHEMA:-}" ] || RINGKERNEL_CACHE=0 "$work/build/json_consumer"
unset RINGKERNEL_CXX
[ -z "${WITH_JSON:-}" ] || RINGKERNEL_CACHE=0 "$work/build/c_json_consumer"

echo "== as a subproject"
"$CMAKE" -S "$consumer/../subproject" -B "$work/subproject" \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  ${BOOST_INCLUDE:+-DRINGKERNEL_BOOST_INCLUDE="$BOOST_INCLUDE"} >"$work/log"

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name ringkernel.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # lists of flags
"$CXX" -std=c++20 "$consumer/main.cpp" -o "$work/consumer" $(pkg-config --cflags --libs ringkernel)
"$work/consumer"
# shellcheck disable=SC2046
"$CC" -std=c11 "$consumer/main.c" -o "$work/c_consumer" $(pkg-config --cflags --libs ringkernel-c)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir ringkernel-c) "$work/c_consumer"
if [ -n "${WITH_JSON:-}" ]; then
  # shellcheck disable=SC2046
  "$CC" -std=c11 "$consumer/json.c" -o "$work/json" $(pkg-config --cflags --libs ringkernel-json)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir ringkernel-c) "$work/json"
fi
