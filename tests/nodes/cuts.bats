# SPDX-License-Identifier: Apache-2.0
# A bad network between the coordinator's host and two nodes, with mTLS on.

load world.bash

# For ./dev record.
cut_off() {
  on_wire "$1" cut both
  echo "# record: partitions=1" >&3
}

@test "loss and delay: every trial once, no lease lost" {
  serve --lease-ttl 10s
  for wire in w1 w2; do
    on_wire $wire loss 0.05
    on_wire $wire delay 20 10
  done
  join node1 node1
  join_and_wait node2 node2
  study lossy 40 3 0.1
  await_end lossy 60
  judge lossy 40
  [ "$(registrations node1)" -eq 1 ]
  # It was a bad network indeed.
  [ "$(on_wire w1 counts | python3 -c 'import json, sys
print(json.load(sys.stdin)["dropped"])')" -gt 5 ]
}

@test "a cut shorter than the lease costs nothing" {
  serve --lease-ttl 10s
  join_and_wait node1 node1
  join_and_wait node2 node2
  study short 4 10 0.3
  wait_for 10 runs_on short/0 node
  cut_off w1
  cut_off w2
  sleep 3
  on_wire w1 cut none
  on_wire w2 cut none
  await_end short 40
  judge short 4
  [ "$(registrations node1)" -eq 1 ]
}

# Two nodes wait, one gets the study's only trial: $here and its $wire; $there
# does not. From here on the wire is cut.
part() {
  serve --lease-ttl 3s
  join node1 node1
  join_and_wait node2 node2
  wait_for 30 grep -q registered node1.log
  study "$@"
  wait_for 20 runs_on "$1/0" node
  here=node1 there=node2
  runs_on "$1/0" node1 || here=node2 there=node1
  wire=w${here#node}
  wait_for 20 grep -q "trainer software" "$here.log"
  cut_off "$wire"
}

@test "a partition longer than the lease: the trial runs elsewhere, once" {
  part parted 1 55 0.4
  sleep 8
  runs_on parted/0 "$there"
  on_wire "$wire" cut none
  # It hears that its lease is over, and stops its trainer.
  wait_for 20 grep -q "lease_lost trial=studies/parted" "$here.log"
  wait_for 10 grep -q "trial_ended trial=studies/parted" "$here.log"
  fails is_completed parted
  await_end parted 60
  judge parted 1 --lost 1
  runs_on parted/0 "$there"
  # And it works on.
  kill "$(cat "$there.pid")"
  study after 2 2 0.1
  await_end after 40
  judge after 2
  runs_on after/1 "$here"
  [ "$(registrations "$here")" -eq 1 ]
}

@test "a partition longer than the trial: the late result is not counted" {
  part late 1 10 0.4
  await_end late 40
  on_wire "$wire" cut none
  wait_for 20 grep -q "verdict=SUPERSEDED" "$here.log"
  judge late 1 --lost 1 --late 1
  runs_on late/0 "$there"
}
