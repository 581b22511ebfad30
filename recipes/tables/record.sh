#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the tables of docs/measured/tables.md: one coordinator, one worker,
# and the studies of this folder, each once for every training seed.
#
# usage: recipes/tables/record.sh OUT [SLOTS [TABLE...]]
#
# OUT has the registry, the database and, for each table, OUT/tables/NAME.table,
# of frozen depths NAME.csv, written anew after every seed. The same command goes on where it was stopped.
# FROSTLINE_DATA names the public data (see make_registry.py), FROSTLINE_MODEL
# the folder of MiniLM; FROSTLINE_BIN has the programs, default build/bin.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OUT=$(mkdir -p "${1:?usage: record.sh OUT [SLOTS]}" && cd "$1" && pwd)
SLOTS=${2:-2}
BIN=${FROSTLINE_BIN:-$HERE/../../build/bin}
# Table and training seed, in the order in which they are recorded: so that
# every table is of use long before the last of its seeds.
PARTS=(reviews-groups:1 reviews-groups:2 reviews-groups:3
  tagging-groups:1 tagging-groups:2 reviews-modules:1 reviews-modules:2
  reviews-levels:1 tagging-groups:3 tagging-modules:1 tagging-modules:2
  reviews-groups:4 reviews-groups:5 tagging-levels:1 reviews-levels:2
  reviews-modules:3 tagging-modules:3 tagging-groups:4 tagging-groups:5
  tagging-levels:2 reviews-ranks:1 reviews-ranks:2 tagging-ranks:1
  tagging-ranks:2 tagging-depths:1 tagging-depths:2)
if [ $# -gt 2 ]; then
  wanted=" ${*:3} "
  for part in "${!PARTS[@]}"; do
    [[ $wanted == *" ${PARTS[part]%:*} "* ]] || unset "PARTS[part]"
  done
  PARTS=("${PARTS[@]}")
fi

[ -f "$OUT/registry/models.yaml" ] || python3 "$HERE/make_registry.py" \
  --data "${FROSTLINE_DATA:?names the folder of the data sets}" \
  --model "${FROSTLINE_MODEL:?names the folder of the model}" \
  --out "$OUT/registry"

WORKER=
# The worker first, so that it can hand back what it has begun.
finish() {
  trap '' INT TERM
  if [ -n "$WORKER" ] && kill "$WORKER" 2>/dev/null; then
    wait "$WORKER" || true
  fi
  jobs -p | xargs -r kill 2>/dev/null || true
  wait
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$OUT/db" "$OUT/tables"
"$BIN/frostline-coordinator" --data "$OUT/db" --listen 127.0.0.1:0 \
  >"$OUT/coordinator.out" 2>>"$OUT/coordinator.log" &
COORDINATOR=$!
until grep -qs '[0-9]:[0-9]' "$OUT/coordinator.out"; do
  kill -0 "$COORDINATOR" || exit 1
  sleep 0.2
done
FROSTLINE_CONNECT=$(grep -om1 '127\.0\.0\.1:[0-9]*' "$OUT/coordinator.out")
export FROSTLINE_CONNECT

priority=${#PARTS[@]}
for part in "${PARTS[@]}"; do
  id=${part/:/-}
  "$BIN/frostline" study show "$id" >/dev/null 2>&1 ||
    { sed "s/^  seed: 1\$/  seed: ${part#*:}/" "$HERE/${part%:*}.yaml" &&
      echo "priority: $priority"; } |
    "$BIN/frostline" study create - --id "$id" >/dev/null
  priority=$((priority - 1))
done

OMP_NUM_THREADS=1 nice -n 10 "$BIN/frostline-worker" --id tables \
  --registry "$OUT/registry" --slots "$SLOTS" --run-dir "$OUT/runs" \
  --keep failed >"$OUT/worker.out" 2>>"$OUT/worker.log" &
WORKER=$!

declare -A recorded  # by table: its studies' files
for part in "${PARTS[@]}"; do
  id=${part/:/-}
  table=${part%:*}
  # Beside this script, which hears a signal only while it waits.
  "$BIN/frostline" study watch "$id" --until-done >/dev/null &
  wait "$!"
  "$BIN/frostline" study show "$id" --json >"$OUT/$id.json"
  "$BIN/frostline" trial list "$id" --json >"$OUT/$id.trials.json"
  recorded[$table]+=" $OUT/$id.json=$OUT/$id.trials.json"
  read -ra files <<<"${recorded[$table]}"
  if [[ $table == *-depths ]]; then
    file=$OUT/tables/$table.csv
    python3 "$HERE/pack_depths.py" --out "$file" "${files[@]}"
  else
    file=$OUT/tables/$table.table
    python3 "$HERE/pack.py" --registry "$OUT/registry" --out "$file" \
      "${files[@]}"
  fi
  echo "$table with seed ${part#*:} is recorded: $file"
done
