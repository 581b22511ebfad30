# SPDX-License-Identifier: Apache-2.0
# Nodes that differ from the coordinator's host in their clock, their way to it
# and what lies on their disks; and hosts that are none.

load world.bash

# A proxy host that node2 can reach, and no other way for node2.
new_proxy() {
  new_host proxy
  wire wp proxy "$PROXY" head "$HEAD" "$PROXY/32"
  wire w3 node2 10.79.2.2 proxy "$PROXY" 10.79.2.2/32
  at node2 ip route del "$HEAD"
  at proxy python3 "$NODES/connect_proxy.py" "$PROXY" 3128 >proxy.log 2>&1 3>&- &
  wait_for 10 at node2 python3 -c "import socket
socket.create_connection(('$PROXY', 3128), timeout=1)"
}

# The library without the program of its name, which refuses to start where one
# of the same process id was killed.
clock() { echo env "LD_PRELOAD=$LIBFAKETIME" "FAKETIME=$1"; }

@test "clocks that are minutes off do no harm; hours are named" {
  LIBFAKETIME=$(find /usr/lib -name libfaketimeMT.so.1 | head -n 1)
  [ -n "$LIBFAKETIME" ] || skip "the package faketime is missing"
  serve --lease-ttl 10s
  export DONT_FAKE_MONOTONIC=1
  # shellcheck disable=SC2046  # words
  join node1 ahead $(clock +10m)
  # shellcheck disable=SC2046
  join_and_wait node2 behind $(clock -10m)
  wait_for 20 grep -q registered ahead.log
  study clocks 4 5 0.2
  await_end clocks 40
  judge clocks 4
  [ "$(registrations ahead)" -eq 1 ]
  # shellcheck disable=SC2046
  join node2 ancient $(clock -2h)
  ended_with ancient 4
  says ancient.log "error[FL-" "this machine's clock has not reached" "set the clock"
}

@test "a node whose address changes keeps its trial" {
  serve --lease-ttl 40s
  join_and_wait node1 node1
  study moved 1 20 0.4
  wait_for 10 runs_on moved/0 node1
  at node1 ip address add 10.77.1.9/32 dev w1
  at node1 ip route replace "$HEAD" dev w1 src 10.77.1.9
  at node1 ip address del 10.77.1.2/32 dev w1
  await_end moved 45
  judge moved 1
  [ "$(registrations node1)" -eq 1 ]
  head_says audit --json | grep Finish | grep -q 10.77.1.9
}

@test "a node behind a proxy joins and works; without it it says so" {
  serve --lease-ttl 10s
  new_proxy
  # It goes on trying, since a coordinator may come later, and says where.
  join node2 direct
  wait_for 20 grep -q "not_joined coordinator=$HEAD:7443" direct.log
  kill "$(cat direct.pid)"
  says direct.log "Network is unreachable"
  https_proxy=http://$PROXY:3128 join_and_wait node2 node2
  study proxied 3 2 0.1
  await_end proxied 40
  judge proxied 3
  says proxy.log "connected $HEAD:7443"
}

# registry HOST TEXT: a registry of that host, whose data set holds the text
# that all were promised, or another.
registry() {
  mkdir -p "$1/model"
  echo "$2" >"$1/train.tsv"
  echo weights >"$1/model/model.safetensors"
  echo '{}' >"$1/model/config.json"
  local promised
  promised=$(printf 'good\tlovely\n' | sha256sum | cut -d ' ' -f 1)
  cat >"$1/datasets.yaml" <<END
reviews:
  format: tsv
  header: false
  names: [label, text]
  splits:
    train: {path: train.tsv, sha256: $promised}
END
  cat >"$1/models.yaml" <<END
demo-mlp:
  path: model
  sha256: $(sha256sum "$1/model/model.safetensors" | cut -d ' ' -f 1)
END
}

@test "a node with other data under the same id gets no trial, and why" {
  serve --lease-ttl 10s
  registry one $'bad\tother rows'
  registry two $'good\tlovely'
  WORKER_FLAGS=(--registry one)
  join_and_wait node1 node1
  DATA=reviews study stock 3 3 0.1
  sleep 2
  head_says study watch stock >watch.log 2>&1 3>&- &
  wait_for 10 grep -q registry watch.log
  kill %% || true
  cat watch.log node1.log
  says watch.log "reviews" "which is in no registry of"
  says node1.log reviews
  WORKER_FLAGS=(--registry two)
  join_and_wait node2 node2
  await_end stock 40
  judge stock 3
  for trial in 0 1 2; do runs_on stock/$trial node2; done
}

@test "who is on no node gets nothing" {
  serve
  at node1 python3 "$NODES/knock.py" "$HEAD"
  run at node1 frostline status --connect "$HEAD:7443" --wait 0s
  [ "$status" -ne 0 ]
  run at node1 frostline status --connect "$HEAD:7070" --wait 0s
  [ "$status" -ne 0 ]
  head_says status
}
