#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/format.sh -i | --dry-run: clang-format on every C++ file of ours, in
# place or only looking. One major version, because they differ.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
MODE=${1:---dry-run}
[ -x "$(command -v clang-format-19)" ] || "$ROOT/scripts/setup.sh" check
# -co: what is committed and what is new; deleted files are still listed.
git ls-files -co --exclude-standard '*.cc' '*.h' |
  while read -r FILE; do [ ! -f "$FILE" ] || echo "$FILE"; done |
  xargs -r clang-format-19 "$MODE" --Werror
