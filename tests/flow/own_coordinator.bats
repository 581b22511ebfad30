# SPDX-License-Identifier: Apache-2.0
# `frostline up` and `down`: a coordinator in the background, shared with
# frostline.local() of Python.
load coordinator.bash

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$BATS_TEST_TMPDIR/share
}

teardown() { frostline down >/dev/null 2>&1 || true; }

address() { sed -n 's/.*FROSTLINE_CONNECT=//p' <<<"$output"; }

@test "up starts one, and finds it the next time" {
  run frostline up
  [ "$status" -eq 0 ]
  says "the coordinator is up" "frostline.local()" "frostline down"
  local first
  first=$(address)
  run frostline --connect "$first" status
  [ "$status" -eq 0 ]
  run frostline up
  [ "$status" -eq 0 ]
  says "runs already"
  [ "$(address)" = "$first" ]
  [ "$(stat -c %a share/frostline/local)" = 700 ]
}

@test "two at once start one" {
  frostline up >one.txt & frostline up >two.txt &
  wait
  [ "$(grep -c "is up" one.txt two.txt | grep -c ":1")" -eq 1 ]
  [ "$(grep -c "runs already" one.txt two.txt | grep -c ":1")" -eq 1 ]
}

@test "down stops it, and studies stay" {
  run frostline up
  export FROSTLINE_CONNECT
  FROSTLINE_CONNECT=$(address)
  frostline study create "$BATS_TEST_DIRNAME/../../recipes/demo/study.yaml" >/dev/null
  run frostline down
  [ "$status" -eq 0 ]
  says "is down"
  fails frostline down
  run frostline up
  run frostline study list
  says "demo"
}

@test "a coordinator that was killed is started anew" {
  frostline up >/dev/null
  local pid
  pid=$(cat share/frostline/local/pid)
  kill -9 "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  run frostline up
  [ "$status" -eq 0 ]
  says "is up"
}

@test "python finds it, and leaves it" {
  frostline up --dir here >/dev/null
  run env PYTHONPATH="$BATS_TEST_DIRNAME/../../python" python3 -c '
from frostline._local import _Use
print(_Use("here").address())'
  [[ $output == unix:*/here/socket ]]
  run frostline down --dir here
  [ "$status" -eq 0 ]
}

@test "a folder that cannot be says why" {
  touch file
  run frostline up --dir file/below
  [ "$status" -ne 0 ]
  says "cannot be used" "name another folder"
  run frostline up --dir "$(printf 'long/%.0s' {1..40})x"
  [ "$status" -ne 0 ]
  says "too long for a socket"
  run frostline down --dir nowhere
  [ "$status" -ne 0 ]
  says "none runs in nowhere"
}
