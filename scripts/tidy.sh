#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tidy.sh: clang-tidy on the sources that differ from where this branch
# left main, committed or not; on main itself, from the commit before. A header
# is read together with the source of its name.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

base_commit() {
  local base main
  for main in origin/main main; do
    base=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    [ "$base" = "$(git rev-parse HEAD)" ] || { echo "$base"; return; }
  done
  git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD
}

# The newest first: a long branch is read in the order in which it hurts.
changed_sources() {
  { git diff --name-only HEAD
    git ls-files --others --exclude-standard
    git log --format= --name-only "$(base_commit)..HEAD"; } |
    sed -n 's/\.h$/.cc/p; /\.cc$/p' | awk '!seen[$0]++'
}

MOST=${FROSTLINE_TIDY_MOST:-30}  # about four minutes on two cores
# Only what this build compiles: clang-tidy needs the command line.
FILES=()
while read -r FILE; do
  [ ${#FILES[@]} -lt "$MOST" ] || break
  if [ -f "$FILE" ] &&
    grep -qF "\"file\": \"$ROOT/$FILE\"" build/compile_commands.json; then
    FILES+=("$FILE")
  fi
done < <(changed_sources)
[ ${#FILES[@]} -gt 0 ] || { echo "tidy: no source changed"; exit 0; }
echo "tidy: ${#FILES[@]} changed sources (at most $MOST)"
# The compile commands are g++'s; the counts of hidden warnings are noise.
printf '%s\n' "${FILES[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-19 -p build --quiet \
    --extra-arg=-Wno-unknown-warning-option 2>&1 |
  { grep -v -E '^[0-9]+ (warning|error)s?.* generated\.$' || true; }
