# SPDX-License-Identifier: Apache-2.0
# A log that another program rotates, as the page has it, at a smaller size.

load world.bash

setup() {
  command -v rotatelogs >/dev/null || skip "rotatelogs is missing (apache2-utils)"
  cd "$BATS_TEST_TMPDIR" || return 1
}
# The coordinator and rotatelogs, which are that shell's children.
teardown() {
  local pid
  for pid in $(pgrep -P "$(cat shell.pid)"); do kill "$pid" 2>/dev/null || true; done
}

@test "no line is lost between the files of rotatelogs" {
  local line call
  line=$(grep -o 'frostline-coordinator … 2>&1 | rotatelogs [^`]*' "$SOURCE/docs/how-to/install.md")
  line=${line/…/--data data --listen 127.0.0.1:0 --ready-file ready --log-level debug}
  bash -c "echo \$\$ >shell.pid; ${line/10M/4K}" 3>&- &
  wait_for 30 test -s ready
  for call in $(seq 40); do
    frostline --connect "$(cat ready)" study show "no-$call" 2>/dev/null || true
  done
  wait_for 30 has_calls 40
  [ "$(ls frostline.log* | wc -l)" -gt 1 ]
  [ "$(ls frostline.log* | wc -l)" -le 5 ]
}
has_calls() { [ "$(cat frostline.log* | grep -c 'GetStudy')" -ge "$1" ]; }
