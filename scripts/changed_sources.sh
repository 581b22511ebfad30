#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/changed_sources.sh: the sources that differ from where this branch left
# main, committed or not; on main itself, from the commit before. The newest come
# first. For a header stands the source of its name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base_commit() {
  local base main
  for main in origin/main main; do
    base=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    [ "$base" = "$(git rev-parse HEAD)" ] || { echo "$base"; return; }
  done
  git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD
}

{
  git diff --name-only HEAD
  git ls-files --others --exclude-standard
  git log --format= --name-only "$(base_commit)..HEAD"
} | sed -n 's/\.h$/.cc/p; /\.cc$/p' | awk '!seen[$0]++'
