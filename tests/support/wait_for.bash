# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# wait_for SECONDS COMMAND…: until it succeeds; fails after so long, and says so.
wait_for() {
  local until=$((SECONDS + $1))
  until "${@:2}" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$until" ]; then
      echo "not within $1 s: ${*:2}" >&2
      return 1
    fi
    sleep 0.1
  done
}

# fails COMMAND…: that it does not succeed. A `!` before a command would fail no
# test: the shell does not end at it.
fails() {
  if "$@"; then
    echo "this should fail: $*" >&2
    return 1
  fi
}

# says TEXT…: $output has each.
says() {
  local text
  for text in "$@"; do
    # shellcheck disable=SC2154  # bats has it from `run`
    [[ $output == *"$text"* ]] || {
      echo "'$text' is not in: $output"
      return 1
    }
  done
}
