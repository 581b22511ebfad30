# SPDX-License-Identifier: Apache-2.0
# The doctor: with a coordinator, without one, and before one that hangs.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  export XDG_CONFIG_HOME=$BATS_FILE_TMPDIR/settings
  unset FROSTLINE_CONTEXT FROSTLINE_REGISTRY
  serve_from frost
  cat >hang.py <<'PY'
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
open("hang.new", "w").write("127.0.0.1:%d" % s.getsockname()[1])
import os
os.rename("hang.new", "hang")
time.sleep(300)
PY
  python3 hang.py 3>&- &
  echo $! >hang.pid
  for _ in $(seq 100); do [ -s hang ] && break || sleep 0.1; done
}

teardown_file() {
  kill "$(cat "$BATS_FILE_TMPDIR/hang.pid")" || true
  end_serving
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# statuses [FLAG…]: "NAME STATUS" of each check, all well formed.
statuses() {
  frostline doctor --format json "$@" >doctor.json || true
  python3 -c 'import json
for one in json.load(open("doctor.json"))["checks"]:
    assert set(one) == {"name", "status", "detail", "fix"}, one
    assert one["status"] in ("ok", "warn", "critical", "skipped"), one
    assert one["fix"] or one["status"] == "ok", one
    print(one["name"], one["status"])'
}

@test "a coordinator is asked for its version and its clock" {
  run statuses
  echo "$output"
  [ "$status" -eq 0 ]
  for check in versions coordinator protocol clock configuration; do
    grep -q "^$check ok$" <<<"$output"
  done
  run frostline study list --json
  [[ $output != *doctor* ]]
}

waits_one() { frostline status | grep -q '1 live, 1 waiting'; }

@test "one study and one worker are said in the singular" {
  source=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
  frostline study create "$source/recipes/demo/study.yaml" --id one >/dev/null
  frostline study pause one
  frostline worker --exec 'sleep 60' --label trainer=frostline-demo-trainer --id alone >alone.log 2>&1 3>&- &
  worker=$!
  wait_for 20 waits_one
  frostline doctor --only coordinator >said
  frostline study why one >>said
  end_worker
  frostline study delete one --yes
  run cat said
  says "with 1 study and 1 worker" \
    "workers: 1 live, 1 of them fits it, with 1 free slot"
}

@test "the port of the coordinator is its own, another's is taken" {
  run frostline doctor --only ports --port "${FROSTLINE_CONNECT##*:}"
  [[ $output == *"is the coordinator's"* ]]
  hang=$(cat "$BATS_FILE_TMPDIR/hang")
  run frostline doctor --only ports --port "${hang##*:}"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"warn"*"is taken"*"fix:"* ]]
}

@test "one that hangs is said within five seconds" {
  before=$(date +%s%N)
  run statuses --connect "$(cat "$BATS_FILE_TMPDIR/hang")"
  took=$((($(date +%s%N) - before) / 1000000))
  echo "$output, after $took ms"
  [ "$status" -eq 0 ]
  [ "$took" -lt 5500 ]
  grep -q '^coordinator warn$' <<<"$output"
  grep -q '^clock skipped$' <<<"$output"
}

@test "one that is away leaves the other checks" {
  run statuses --connect 127.0.0.1:1
  echo "$output"
  grep -q '^coordinator warn$' <<<"$output"
  grep -q '^clock skipped$' <<<"$output"
  grep -q '^processor ok$' <<<"$output"
  run frostline doctor --connect 127.0.0.1:1 --only coordinator
  [ "$status" -eq 0 ]
}

@test "what is critical is the exit code" {
  mkdir registry
  echo 'models: [' >registry/models.yaml
  run frostline doctor --only registry
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"critical"*"registry check"* ]]
  fails frostline registry check
  run frostline doctor --only versions
  [ "$status" -eq 0 ]
}

@test "a check that there is not is refused with a hint" {
  run frostline doctor --only clok
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"did you mean 'clock'?"* ]]
}

@test "programs of two releases are found" {
  here=$(dirname "$(command -v frostline)")
  mkdir bin
  cp "$here/frostline" bin/
  cp "$here/frostline-coordinator" bin/
  printf '#!/bin/sh\necho frostline-worker 0.0.1\n' >bin/frostline-worker
  chmod +x bin/frostline-worker
  run bin/frostline doctor --only versions
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"frostline-worker is 0.0.1"* ]]
}

@test "no secret is shown" {
  token=frost_3f9c0a51d2e47b68_0123456789abcdef0123456789abcdef
  run frostline doctor --connect "$token@127.0.0.1:1" --only coordinator
  echo "$output"
  [[ $output != *0123456789abcdef* ]]
}
