# What a script lacks, as skip.hpp says it: `part=conan; . tests/support/skip.sh`, and then
# `skip WHY` ends it, with exit code 77, or with 1 where RINGKERNEL_REQUIRE names the part.
skip() {
  case ",${RINGKERNEL_REQUIRE:-}," in
    *",$part,"*)
      echo "$part is required (RINGKERNEL_REQUIRE), and missing: $*" >&2
      exit 1
      ;;
  esac
  echo "skipped: without $part: $*" >&2
  exit 77
}
