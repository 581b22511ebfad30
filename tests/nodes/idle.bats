# SPDX-License-Identifier: Apache-2.0
# Connections that die without a word: half of one, and those that a NAT forgets
# since they were idle.

load world.bash

# Those begun from node1 so far.
connections() { on_wire w1 counts | sed 's/.*"connections": \([0-9]*\).*/\1/'; }

more_connections_than() { [ "$(connections)" -gt "$1" ]; }
# Of node1, at the coordinator's end.
nothing_at_head() { [ -z "$(at head ss -Htn state established dst 10.77.1.2)" ]; }

# begins_within SECONDS STUDY: creates a study, of which a trial begins.
begins_within() {
  study "$2" 1 2 0.1
  wait_for "$1" grep -q "trial_started trial=studies/$2/" node1.log
  await_end "$2" 20
  judge "$2" 1
}

@test "a half-open connection is noticed, and another takes its place" {
  serve --lease-ttl 60s
  join_and_wait node1 node1
  study half 1 20 0.4
  wait_for 20 grep -q "trainer software" node1.log
  before=$(connections)
  on_wire w1 cut down
  sleep 15
  # The node has given the old one up, and the coordinator its half.
  wait_for 10 more_connections_than "$before"
  wait_for 15 nothing_at_head
  on_wire w1 cut none
  await_end half 30
  judge half 1
  [ "$(registrations node1)" -eq 1 ]
  begins_within 10 next
}

@test "the other half: the coordinator hears nothing, and its worker is back" {
  serve --lease-ttl 120s
  join_and_wait node1 node1
  study half 1 20 0.4
  wait_for 20 grep -q "trainer software" node1.log
  on_wire w1 cut up
  sleep 15
  # What it says arrives, and is never answered.
  wait_for 45 nothing_at_head
  on_wire w1 cut none
  await_end half 60  # between two tries there may be 30 s
  judge half 1
  [ "$(registrations node1)" -eq 1 ]
  begins_within 10 next
}

@test "a NAT that forgets after 5 s: a parked worker comes back in time" {
  serve
  on_wire w1 nat 5 10.77.1.100 loose
  join_and_wait node1 node1
  sleep 20
  begins_within 8 woken
  head_says audit --json | grep Register | grep -q 10.77.1.100
  [ "$(registrations node1)" -eq 1 ]
}

@test "a NAT that forgets after 12 s is never given the time" {
  serve
  on_wire w1 nat 12 10.77.1.100 strict
  join_and_wait node1 node1
  before=$(connections)
  sleep 20  # its question is asked again after 30 s
  begins_within 5 held
  [ "$(connections)" -eq "$before" ]
}
