# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Hosts for the tests of this folder: network namespaces head, node1, node2 and
# proxy, joined by wires (wire.py). Every test has hosts of its own, whose names
# carry a process number, so that two runs never meet.

NODES=$(cd "$(dirname "$BATS_TEST_FILENAME")" && pwd)
HEAD=10.77.0.1
PROXY=10.78.0.5
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=tests/support/wait_for.bash
source "$(dirname "${BASH_SOURCE[0]}")/../support/wait_for.bash"

# at HOST COMMAND…: runs it on that host.
at() { ip netns exec "$WORLD-$1" "${@:2}"; }
# Commands of a person on the coordinator's host.
head_says() { at head frostline --connect 127.0.0.1:7070 "$@"; }
# on_wire NAME WORDS…: a command for a wire; see wire.py.
on_wire() { python3 "$NODES/wire.py" --tell "$BATS_TEST_TMPDIR/$1.wire" "${@:2}"; }

# The hosts of runs that were killed before they could clean up.
sweep() {
  local name
  for name in $(ip netns list | grep -oE '^fl[0-9]+-[a-z0-9]+'); do
    [ -d "/proc/$(grep -oE '[0-9]+' <<<"$name" | head -n 1)" ] || remove_host "$name"
  done
}

remove_host() {
  local pids
  # Another run may sweep at the same time.
  pids=$(ip netns pids "$1" 2>/dev/null) || return 0
  # shellcheck disable=SC2086  # one word for each process
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
  ip netns del "$1" 2>/dev/null || true
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export WORLD=fl$BASHPID
  ip netns add "$WORLD-head" 2>why ||
    skip "no network namespace can be made here: $(cat why)"
  [ -w /dev/net/tun ] || skip "there is no /dev/net/tun here"
  sweep
  at head ip link set lo up
  at head ip address add "$HEAD/32" dev lo
  new_node 1
  new_node 2
}

teardown() {
  [ -n "$BATS_TEST_COMPLETED" ] || tail -n 30 -- *.log >&2
  local host
  for host in head node1 node2 proxy; do
    [ ! -e "/run/netns/$WORLD-$host" ] || remove_host "$WORLD-$host"
  done
  [ ! -e wires.pid ] || kill $(cat wires.pid) 2>/dev/null || true
}

# new_host NAME: with a loopback of its own.
new_host() {
  ip netns add "$WORLD-$1"
  at "$1" ip link set lo up
}

# wire NAME NEAR NEAR_ADDRESS FAR FAR_ADDRESS NET: joins two hosts; the near one
# reaches the far one's address by it, the far one all of NET.
wire() {
  python3 "$NODES/wire.py" "$WORLD-$2:$1" "$WORLD-$4:$1" "$PWD/$1.wire" \
    >"$1-wire.log" 2>&1 3>&- &
  echo $! >>wires.pid
  wait_for 10 test -S "$1.wire"
  at "$2" ip link set "$1" up
  at "$4" ip link set "$1" up
  at "$2" ip address add "$3/32" dev "$1"
  at "$2" ip route add "$5" dev "$1" src "$3"
  at "$4" ip route add "$6" dev "$1" src "$5"
}

# new_node N: the host nodeN at 10.77.N.2, on the wire wN to the coordinator's.
new_node() {
  new_host "node$1"
  wire "w$1" "node$1" "10.77.$1.2" head "$HEAD" "10.77.$1.0/24"
}

# serve FLAG…: a coordinator with a CA, at 7070 for its own host, 7443 for all.
serve() {
  at head frostline tls init --host "$HEAD" >/dev/null
  at head frostline serve --data frost --tls frostline-tls \
    --listen 127.0.0.1:7070 --listen 0.0.0.0:7443 \
    --health-listen 127.0.0.1:7071 --ready-file ready "$@" \
    >serve.log 2>&1 3>&- &
  wait_for 30 test -s ready
}

# invite ID: an invitation, TOKEN@HOST:PORT#FINGERPRINT.
invite() {
  head_says worker invite --id "$1" 2>/dev/null | grep -oE 'frost_[^ ]+'
}

# join HOST ID [COMMAND…]: a worker of that name, begun by COMMAND where given;
# its log is ID.log, its process id in ID.pid.
join() {
  local line
  line=$(invite "$2")
  # Without a function, so that the process id is the worker's.
  ip netns exec "$WORLD-$1" "${@:3}" frostline worker --join "$line" \
    --id "$2" --run-dir "runs-$2" --exec frostline-demo-trainer \
    "${WORKER_FLAGS[@]}" \
    >"$2.log" 2>&1 3>&- &
  echo $! >"$2.pid"
}

# The same, and waits until the coordinator knows it.
join_and_wait() {
  join "$@"
  wait_for 30 grep -q registered "$2.log"
}

# ended_with ID STATUS: that worker has ended, so.
ended_with() {
  local status=0
  wait "$(cat "$1.pid")" || status=$?
  [ "$status" -eq "$2" ] || {
    echo "$1 ended with $status, not $2: $(cat "$1.log")"
    return 1
  }
}

# study ID TRIALS EPOCHS SECONDS_PER_EPOCH [LINE…]: creates it.
study() {
  {
    printf '%s\n' "id: $1" "model: {id: demo-mlp, layers: 6, no_pooler: true}" \
      "trainer: frostline-demo-trainer" "data: ${DATA:-demo}" \
      "maximize: accuracy" "budget: $2" "seed: 7" \
      "sampler: random" \
      "training: {epochs: $3, extra: {seconds_per_epoch: $4}}" "${@:5}" \
      "space:" "  modules:" "    embeddings: &rates [0, 1e-3, 1e-2]" \
      '    "layer.*": *rates' "    head: *rates"
  } >"$1.yaml"
  head_says study create "$1.yaml" >/dev/null
}

is_completed() { head_says study show "$1" | grep -q COMPLETED; }
await_end() { wait_for "$2" is_completed "$1"; }
# runs_on STUDY/TRIAL ID: that worker has it, or had it last.
runs_on() {
  head_says trial show "${1%/*}" "${1#*/}" --json |
    grep -q "\"worker\": \"workers/$2"
}

# judge STUDY TRIALS [--lost N]: see judge.py.
judge() { at head env FROSTLINE_CONNECT=127.0.0.1:7070 python3 "$NODES/judge.py" "$@"; }

# registrations ID: how often it was registered, by the audit.
registrations() {
  head_says audit --method WorkerService.Register --outcome OK --json |
    grep -c "\"workers/$1\"" || true
}

# says FILE TEXT…: the file has each.
says() {
  local text
  for text in "${@:2}"; do
    grep -qF -- "$text" "$1" || {
      echo "'$text' is not in: $(cat "$1")"
      return 1
    }
  done
}
