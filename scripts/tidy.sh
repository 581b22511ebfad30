#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tidy.sh: clang-tidy on the sources that changed, the newest first: a long
# branch is read in the order in which it hurts. A header is read together with
# the source of its name.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

# The build compiles in batches; clang-tidy wants a command for each source.
python3 -B "$ROOT/scripts/sources_alone.py" build
MOST=${FROSTLINE_TIDY_MOST:-30}  # about four minutes on two cores
# Only what this build compiles: clang-tidy needs the command line.
FILES=()
while read -r FILE; do
  [ ${#FILES[@]} -lt "$MOST" ] || break
  if [ -f "$FILE" ] &&
    grep -qF "\"file\": \"$ROOT/$FILE\"" build/alone/compile_commands.json; then
    FILES+=("$FILE")
  fi
done < <("$ROOT/scripts/changed_sources.sh")
[ ${#FILES[@]} -gt 0 ] || { echo "tidy: no source changed"; exit 0; }
echo "tidy: ${#FILES[@]} changed sources (at most $MOST)"
# The compile commands are g++'s; the counts of hidden warnings are noise.
printf '%s\n' "${FILES[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-19 -p build/alone --quiet \
    --extra-arg=-Wno-unknown-warning-option 2>&1 |
  { grep -v -E '^[0-9]+ (warning|error)s?.* generated\.$' || true; }
