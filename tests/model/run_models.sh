#!/bin/sh
# Checks every model exhaustively, and that every seeded mutant fails. Prints a table.
#
#     run_models.sh [model ...]     default: all of them; those that pass go into checked.txt
#     run_models.sh --changed MODEL exit code 77 if it is what checked.txt says: its states are
#                                   what they were, and take minutes. RINGKERNEL_MODELS=all: anyway
#
# A clean model must pass twice: safety (assertions, invalid end states) and its ltl claim under
# weak fairness. A mutant must fail an assertion of the safety run. Needs spin and a compiler (CC).
set -eu

models=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
compiler=${CC:-cc}
all="parking parking_bounded parking_yield parking_remembers parking_turns pool mover backpressure"

# included MODEL: the model that it is a variant of, if it is one
included() { sed -n 's/^#include "\(parking[a-z_]*\)\.pml"/\1/p' "$models/$1.pml"; }

# fingerprint MODEL: of all that decides how it ends
fingerprint() {
  for part in "$1" $(included "$1") tso; do cat "$models/$part.pml"; done |
    cat - "$models/run_models.sh" | sha256sum | cut -d ' ' -f 1
}

record=$models/checked.txt
if [ "${1:-}" = --changed ]; then
  shift
  record=
  if [ "${RINGKERNEL_MODELS:-}" != all ] &&
    grep -qx "$1 $(fingerprint "$1")" "$models/checked.txt"; then
    echo "skipped: a model that was checked as it is; RINGKERNEL_MODELS=all checks it again"
    exit 77
  fi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failures=0

# generate MODEL MUTANT: pan.c, from a copy, because spin writes beside its input.
generate() {
  rm -f pan.* ./*.trail
  cp "$models"/*.pml .
  spin -a -DMUTANT="$2" "$1.pml" >spin.log 2>&1 && test -f pan.c || {
    cat spin.log
    exit 2
  }
}

# Each builds pan and runs it into pan.log.
safety() {
  "$compiler" -O3 -w -DSAFETY -DNOCLAIM -DCOLLAPSE -o pan pan.c
  ./pan -m1000000 >pan.log 2>&1 || true
}
liveness() {
  "$compiler" -O3 -w -DCOLLAPSE -DNFAIR=4 -o pan pan.c
  ./pan -a -f -m1000000 >pan.log 2>&1 || true
}

passed() {
  grep -q 'errors: 0' pan.log && ! grep -Eq 'Search not completed|max search depth|error:' pan.log
}
assertion_failed() { grep -q 'pan:1: assertion violated' pan.log; }
states() { sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.log; }
mutant_names() { sed -n 's/^#define \([A-Z_]*\) (MUTANT == \([0-9]*\))$/\2 \1/p' "$models/$1.pml"; }

# row MODEL VARIANT EXPECTED OUTCOME
row() {
  verdict=ok
  test "$3" = "$4" || { verdict=FAIL; failures=$((failures + 1)); }
  printf '%-15s %-32s %-8s %-8s %10s  %s\n' "$1" "$2" "$3" "$4" "$(states)" "$verdict"
}

printf '%-15s %-32s %-8s %-8s %10s\n' model variant expected outcome states
for model in ${*:-$all}; do
  failures_before=$failures
  for run in safety liveness; do
    generate "$model" 0
    $run
    outcome=error
    if passed; then outcome=pass; fi
    row "$model" "clean, $run" pass $outcome
  done
  mutant_names "$model" >mutants
  while read -r number name; do
    generate "$model" "$number"
    safety
    outcome=error
    if assertion_failed; then outcome=caught; elif passed; then outcome=missed; fi
    row "$model" "$name" caught $outcome
  done <mutants
  if [ -n "$record" ] && [ $failures -eq "$failures_before" ]; then
    { grep -v "^$model " "$record" || true; echo "$model $(fingerprint "$model")"; } >checked
    sort checked >"$record"
  fi
done
test $failures -eq 0
