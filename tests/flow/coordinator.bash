# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What most flows begin with: a coordinator in the folder of the file's tests,
# and a worker whose trials trainer.py runs.
load ../support/wait_for.bash

# begin_in_own_folder: the tests of a file keep what they make together.
begin_in_own_folder() {
  export HOME=$BATS_FILE_TMPDIR
  cd "$BATS_FILE_TMPDIR" || return 1
}

# serve_from DATA: until end_serving; commands find it.
serve_from() {
  frostline serve --data "$1" --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
  FROSTLINE_CONNECT=$(cat ready)
  export FROSTLINE_CONNECT
}

end_serving() { kill "$(cat "$BATS_FILE_TMPDIR/serve.pid")"; }

# run_trials SECONDS: all that there are, one after the other, in so long.
run_trials() {
  timeout "$1" frostline worker --exec 'python3 trainer.py' --id one \
    --label trainer=frostline-demo-trainer \
    --idle-timeout 3s >worker.log 2>&1 3>&-
}

# Ends the worker $worker at once, and waits for it: it writes in its folder, which
# is removed behind the test, and would wait for a trainer that does not listen.
end_worker() {
  kill -KILL "$worker"
  wait "$worker" || true
}
