# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of this folder say: a Slurm of their own (cluster.bash), a
# coordinator that workers join over TLS, and studies for frostline-demo-trainer.

SLURM_TESTS=$(cd "$(dirname "$BATS_TEST_FILENAME")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source-path=SCRIPTDIR
source "$SLURM_TESTS/cluster.bash"

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  local missing
  missing=$(cluster_missing)
  [ -z "$missing" ] || skip "missing: $(tr '\n' ' ' <<<"$missing")"
  export CLUSTER=$PWD/slurm XDG_CONFIG_HOME=$PWD/config
  unset FROSTLINE_CONNECT FROSTLINE_CONTEXT
}

teardown() {
  [ -n "$BATS_TEST_COMPLETED" ] ||
    tail -n 25 -- serve.log frostline-slurm/*/log/*.log slurm/log/slurmctld.log 2>/dev/null >&2
  cluster_down
  [ ! -e serve.pid ] || kill -KILL "$(cat serve.pid)" 2>/dev/null || true
}

# Without it only the smoke runs: all of it takes minutes.
all_or_skip() {
  [ "${FROSTLINE_SLURM_ALL:-0}" = 1 ] || skip "long: FROSTLINE_SLURM_ALL=1 runs it"
}

# figure TEXT: a number worth knowing, beside the test's result.
figure() { echo "# $*" >&3; }
millis() { echo $((${EPOCHREALTIME/./} / 1000)); }

# serve FLAG…: a coordinator with a CA, in plaintext for this user, over TLS at
# $JOIN_HOST for workers; again after its end, with the same data and ports.
serve() {
  local host=127.0.0.1
  [ "${CLUSTER_HOSTS:-0}" = 0 ] || host=$CLUSTER_HEAD
  if [ ! -e ports ]; then
    cluster_free_ports 2 >ports
    frostline tls init --host "$host" >/dev/null
  fi
  read -r PORT JOIN_PORT <ports
  export FROSTLINE_CONNECT=127.0.0.1:$PORT
  rm -f ready
  # shellcheck disable=SC2086  # NAME=VALUE words
  env ${SERVE_WITH:-} frostline serve --data frost --tls frostline-tls --listen "127.0.0.1:$PORT" \
    --listen "tls:$host:$JOIN_PORT" --ready-file ready --lease-ttl 6s "$@" \
    >>serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
}

# study ID TRIALS EPOCHS SECONDS_PER_EPOCH [LINE…]: creates it.
study() {
  {
    printf '%s\n' "id: $1" "model: {id: demo-mlp, layers: 6, no_pooler: true}" \
      "data: demo" "maximize: accuracy" "budget: $2" "seed: 7" "sampler: random" \
      "training: {epochs: $3, extra: {seconds_per_epoch: $4}}" "${@:5}" \
      "space:" "  modules:" "    embeddings: &rates [0, 1e-3, 1e-2]" \
      '    "layer.*": *rates' "    head: *rates"
  } >"$1.yaml"
  frostline study create "$1.yaml" >/dev/null
}

# up STUDY WORKERS [FLAG…]: its fleet, of $TRAINER; the array's id is in $ARRAY.
up() {
  ARRAY=$(frostline slurm up "$1" --max "$2" \
    --exec "${TRAINER:-frostline-demo-trainer}" \
    --run-dir runs --json "${@:3}" | sed -n 's/.*"array": \([0-9]*\).*/\1/p')
  [ -n "$ARRAY" ]
}

count_states() { # STUDY STATE
  frostline trial list "$1" --json | grep -c "TRIAL_STATE_$2\"" || true
}
has_states() { [ "$(count_states "$1" "$2")" -ge "$3" ]; } # STUDY STATE AT_LEAST
is_completed() { frostline study show "$1" | grep -q COMPLETED; }
await_end() { wait_for "$2" is_completed "$1"; }
# judge STUDY TRIALS [--lost N]: see tests/nodes/judge.py.
judge() { python3 "$SLURM_TESTS/../../nodes/judge.py" "$@"; }

tasks_in() { squeue -h -r -j "$ARRAY" -t "$1" -o %K 2>/dev/null | wc -l; }
has_tasks() { [ "$(tasks_in "$1")" -eq "$2" ]; } # STATE COUNT
has_no_task() { [ -z "$(squeue -h -r -j "$ARRAY" -o %K 2>/dev/null)" ]; }
job_is() { [ "$(cluster_job "${ARRAY}_$1" JobState)" = "$2" ]; } # TASK STATE
restarted() { [ "$(cluster_job "${ARRAY}_$1" Restarts)" -ge 1 ] && job_is "$1" RUNNING; }
log_of() { cat frostline-slurm/*/log/"$1".log; }
