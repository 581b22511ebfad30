# SPDX-License-Identifier: Apache-2.0
# Nodes that are taken away: what the real worker does within the grace, and
# where the trial goes on. And run folders that take nothing.

load world.bash

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  frostline serve --data data --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
  FROSTLINE_CONNECT=$(cat ready)
  export FROSTLINE_CONNECT
  cat >study.yaml <<'END'
id: spot
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
maximize: accuracy
budget: 1
seed: 7
sampler: random
training: {epochs: 40, extra: {seconds_per_epoch: 0.3}}
space:
  modules:
    embeddings: &rates [0, 1e-3, 1e-2]
    "layer.*": *rates
    head: *rates
END
  frostline study create study.yaml >create.log 2>&1
}

teardown() {
  [ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 -- *.log >&2
  local name
  for name in *.pid; do kill -9 "$(cat "$name")" 2>/dev/null || true; done
  [ ! -e full ] || umount -l full 2>/dev/null || true
}

# worker NAME RUN_DIR WORDS…
worker() {
  frostline-worker --connect "$FROSTLINE_CONNECT" --id "$1" --run-dir "$2" \
    --exec frostline-demo-trainer "${@:3}" >"$1.log" 2>&1 3>&- &
  echo $! >"$1.pid"
}
# has_steps N: the coordinator has heard of so many.
has_steps() {
  frostline trial show spot 0 --json |
    python3 -c "import json, sys
trial = json.load(sys.stdin)
sys.exit(int(trial.get('trial', trial)['last_step']) < $1)"
}
completed() { frostline study show spot | grep -q COMPLETED; }

# evict NAME: SIGTERM, and the worker has gone within ten seconds, with 75.
evict() {
  local status=0 since=$SECONDS
  kill -TERM "$(cat "$1.pid")"
  wait "$(cat "$1.pid")" || status=$?
  [ "$status" -eq 75 ]
  [ $((SECONDS - since)) -le 10 ]
}

# went_on: the trial ended well in its second attempt, from a checkpoint.
went_on() {
  frostline trial show spot 0 --json >trial.json
  python3 - <<'END'
import json
trial = json.load(open("trial.json"))
trial = trial.get("trial", trial)
assert trial["state"].endswith("SUCCEEDED"), trial["state"]
assert int(trial["attempt"]) == 2, trial["attempt"]
END
}

@test "evicted, it goes on from its checkpoint on shared storage" {
  worker first shared
  wait_for 30 has_steps 3
  evict first
  worker second shared
  wait_for 60 completed
  went_on
  ! grep -q not_resumed second.log
}

@test "evicted without shared storage, a hook carries the checkpoint" {
  mkdir bucket
  cat >hook <<END
#!/bin/sh
set -e
AT=$PWD/bucket/\$(echo "\$2" | tr / _)
case \$1 in
  save) cp -r "\$3" "\$AT.new" && mv "\$AT.new" "\$AT" ;;
  fetch) cp -r "\$AT" "\$3" ;;
esac
END
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  [ "$(ls bucket | wc -l)" -eq 1 ]
  worker second two --checkpoint-hook "$PWD/hook"
  wait_for 60 completed
  went_on
  ! grep -q not_resumed second.log
}

@test "a hook that fails costs no trial" {
  printf '#!/bin/sh\nexit 9\n' >hook
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  grep -q checkpoint_not_saved first.log
  worker second two --checkpoint-hook "$PWD/hook" # it is tried, then does without
  wait_for 90 completed
  grep -q checkpoint_not_fetched second.log
  frostline trial list spot --json | grep -q SUCCEEDED
}

@test "a hook that is not there is told at the start" {
  run frostline-worker --exec true --checkpoint-hook ./nothing
  [ "$status" -eq 2 ]
  [[ $output == *"--checkpoint-hook is './nothing', no program that may be run"* ]]
}

@test "a run folder that cannot be written is told at the start" {
  [ "$(id -u)" -eq 0 ] || skip "this needs root"
  mkdir full
  mount -t tmpfs -o ro tmpfs full || skip "nothing can be mounted here"
  run timeout 20 frostline-worker --connect "$FROSTLINE_CONNECT" --run-dir full/runs \
    --exec frostline-demo-trainer
  echo "$output"
  [ "$status" -ne 0 ]
  [ "$status" -ne 124 ]
  [[ $output == *"error[FL-"*"full/runs"* ]]
}

@test "a run folder that is full keeps the trial" {
  [ "$(id -u)" -eq 0 ] || skip "this needs root"
  mkdir full
  mount -t tmpfs -o size=200k tmpfs full || skip "nothing can be mounted here"
  worker first full
  wait_for 30 has_steps 1
  dd if=/dev/zero of=full/ballast bs=4k 2>/dev/null || true
  wait_for 60 completed
  frostline trial show spot 0 --json >trial.json
  grep -q SUCCEEDED trial.json
}
