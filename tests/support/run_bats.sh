#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_bats.sh BIN FILE: runs a file of bats with the programs in BIN on the PATH
# and ends with the totals that scripts/count_tests.py reads.
set -uo pipefail
export PATH=$1:$PATH
STATUS=0
OUTPUT=$(bats --tap "$2" 2>&1) || STATUS=$?
printf '%s\n' "$OUTPUT"
count() { grep -cE "$1" <<<"$OUTPUT" || true; }
SKIPPED=$(count '^ok .*# skip')
echo "$(($(count '^ok ') - SKIPPED)) passed, $(count '^not ok ') failed," \
  "$SKIPPED skipped"
exit "$STATUS"
