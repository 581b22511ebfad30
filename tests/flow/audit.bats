# SPDX-License-Identifier: Apache-2.0
# The audit's files against the database, with a coordinator and without one.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  serve_from data
  for study in a b c d e f g; do
    frostline study create "$TOY" --id "$study"
  done
  wait_for 20 moved 7
}

teardown_file() { end_serving; }

# The database knows that the files have so many entries.
moved() {
  frostline-coordinator --data "$BATS_FILE_TMPDIR/data" --audit-end |
    grep -qx "{\"moved\":$1}"
}

# A copy of the data folder, as a backup of the whole machine would have it.
copied() {
  rm -rf "$BATS_TEST_TMPDIR/copy"
  cp -a "$BATS_FILE_TMPDIR/data" "$BATS_TEST_TMPDIR/copy"
  cd "$BATS_TEST_TMPDIR"
}

cut_off() {
  run frostline audit verify "$1"
  [ "$status" -eq 1 ]
  says "error[FL-4025]" "the end was cut off" "entry 7 was written"
}

# Once for the files of a coordinator that runs, once for those of one that has
# ended.
verify_cuts() {
  run frostline audit verify "$BATS_FILE_TMPDIR/data"
  [ "$status" -eq 0 ]
  says "7 entries from" ", whole"
  [[ $output != *note:* ]]
  copied
  for lines in 1 4; do # one, five
    for _ in $(seq "$lines"); do sed -i '$d' copy/audit/audit.jsonl; done
    cut_off copy
    cut_off copy/audit
  done
  rm copy/audit/audit.jsonl
  cut_off copy
  rm -r copy/audit
  cut_off copy
}

@test "verify sees a cut end beside a coordinator that runs" { verify_cuts; }

@test "verify sees a cut end of a coordinator that was killed" {
  kill -KILL "$(cat "$BATS_FILE_TMPDIR/serve.pid")"
  verify_cuts
}

@test "verify sees a cut end of a coordinator that has ended" {
  cd "$BATS_FILE_TMPDIR"
  rm ready
  serve_from data
  end_serving
  wait_for 20 test ! -e ready
  wait_for 20 test ! -e data/frostline.sqlite-wal
  verify_cuts
  [ ! -e "$BATS_FILE_TMPDIR/data/frostline.sqlite-wal" ]
  [ ! -e "$BATS_TEST_TMPDIR/copy/frostline.sqlite-wal" ]
  cd "$BATS_FILE_TMPDIR"
  serve_from data
}

@test "a database that cannot be read is said, and a copy of the lines is read" {
  copied
  printf 'no database' >copy/frostline.sqlite
  run frostline audit verify copy
  [ "$status" -ne 0 ]
  says "cannot be held against the database" "error[FL-3003]"
  cp -a copy/audit lines
  sed -i '$d' lines/audit.jsonl
  run frostline audit verify lines
  [ "$status" -eq 0 ]
  says "6 entries from" "there is no database beside"
}
