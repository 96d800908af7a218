#!/bin/sh
# deb_contents.sh BUILD: packs BUILD as Debian packages and looks into them. CPACK and VERSION are
# as in that build; MLIR, too, the version whose library is packed, if one is. Exit code 77: there
# is nothing here to pack with.
set -eu
part=dpkg
. "$(dirname "$0")/../support/skip.sh"
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v $tool >/dev/null || skip "$tool is missing (./rk packages)"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Not compressed, which would take longer than all else.
(cd "$1" && "$CPACK" -G DEB -B "$work" -D CPACK_DEBIAN_COMPRESSION_TYPE=none) >"$work/log" ||
  { cat "$work/log"; exit 1; }
cd "$work"
architecture=$(dpkg --print-architecture)
failures=0

complain() { echo "$1"; failures=$((failures + 1)); }

# has NAME FIELD TEXT: the package's field contains the text.
has() {
  case "$(dpkg-deb --field "$1" "$2")" in
    *"$3"*) ;;
    *) complain "$1: $2 lacks '$3': $(dpkg-deb --field "$1" "$2")" ;;
  esac
}

# holds NAME PATTERN...: a file of the package ends with the pattern, a regular expression.
holds() {
  deb=$1
  shift
  for pattern; do
    grep -q "/$pattern\$" "$deb.files" || complain "$deb: no file $pattern"
  done
}

# shellcheck disable=SC2086 # names
for package in libringkernel0 libringkernel-json0 libringkernel-dev ringkernel-tools \
  ${MLIR:+libringkernel-mlir-$MLIR}; do
  deb=${package}_${VERSION}_$architecture.deb
  mv "$deb" $package
  dpkg-deb --fsys-tarfile $package | tar -t | grep -v '/$' | sort >$package.files
  dpkg-deb --control $package $package.control
  has $package Package $package
  has $package Version "$VERSION"
  has $package Maintainer '>'
  has $package Description 'persistent ring-kernel actor runtime on OpenCL - '
  holds $package "share/doc/$package/copyright"
done
has libringkernel0 Section libs
has libringkernel0 Depends 'libc6 (>= '
has libringkernel0 Depends 'libstdc++6 (>= '
holds libringkernel0 'libringkernel\.so\.0' "libringkernel\.so\.$VERSION"
grep -qx "libringkernel 0 libringkernel0 (>= $VERSION)" libringkernel0.control/shlibs ||
  complain "libringkernel0: no shlibs, by which other packages come to depend on it"
grep -q ldconfig libringkernel0.control/triggers || complain "libringkernel0: ldconfig is not run"
has libringkernel-json0 Section libs
has libringkernel-json0 Depends "libringkernel0 (= $VERSION)"
has libringkernel-json0 Depends 'libflatbuffers2'
holds libringkernel-json0 'libringkernel_json\.so\.0' "libringkernel_json\.so\.$VERSION"
grep -q ldconfig libringkernel-json0.control/triggers ||
  complain "libringkernel-json0: ldconfig is not run"
has libringkernel-dev Section libdevel
has libringkernel-dev Depends "libringkernel0 (= $VERSION)"
has libringkernel-dev Depends libboost1.81-dev
holds libringkernel-dev 'libringkernel\.so' 'libringkernel_cpp\.a' 'ringkernel/ringkernel\.hpp' \
  'ringkernel/ringkernel\.h' 'ringkernel-config\.cmake' 'ringkernel\.pc' 'ringkernel-c\.pc' \
  'libringkernel_json\.so' 'ringkernel/ringkernel_json\.h' 'ringkernel-json\.pc' \
  'schemas/message\.fbs' 'ringkernel/program\.cmake' 'ringkernel/embed_program\.cmake'
has ringkernel-tools Section utils
has ringkernel-tools Depends libncursesw6
holds ringkernel-tools bin/rkstat bin/rkinfo bin/rkc
if [ -n "${MLIR:-}" ]; then
  has "libringkernel-mlir-$MLIR" Depends "libmlir-$MLIR"
  holds "libringkernel-mlir-$MLIR" "ringkernel/libringkernel_mlir-$MLIR\.so"
fi

if ls -- *.deb 2>/dev/null; then complain "these packages are too many"; fi
if sort -- *.files | uniq -d | grep .; then complain "these files are in two packages"; fi
exit $failures
