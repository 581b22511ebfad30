# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A fresh Debian for the tests of this folder, with systemd as its process 1,
# in namespaces of its own: it has a loopback and nothing else.

HERE=$(cd "$(dirname "$BATS_TEST_FILENAME")" && pwd)
SOURCE=$(cd "$HERE/../../.." && pwd)
ROOT=$BATS_FILE_TMPDIR/root
# shellcheck source=tests/support/wait_for.bash
source "$(dirname "${BASH_SOURCE[0]}")/../../support/wait_for.bash"

# leave_out REASON: in setup_file, where bats 1.8 cannot skip. Each test of the
# file then begins with skip_if_left_out.
leave_out() { echo "$*" >"$BATS_FILE_TMPDIR/left_out"; }
skip_if_left_out() {
  [ ! -s "$BATS_FILE_TMPDIR/left_out" ] || skip "$(cat "$BATS_FILE_TMPDIR/left_out")"
}

# has TOOL…: leaves the file out and fails where one is missing.
has() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null && continue
    leave_out "$tool is missing"
    return 1
  done
  [ "$(id -u)" -eq 0 ] && return
  leave_out "this needs root"
  return 1
}

# fresh_root SUITE: unpacks it at $ROOT; leaves the file out and fails where that
# cannot be.
fresh_root() {
  has mmdebstrap || return
  if [ ! -s "$("$HERE/make_root.sh" "$1" path)" ] && [ -z "${FROSTLINE_MACHINE:-}" ]; then
    leave_out "no root of $1: FROSTLINE_MACHINE=1 makes one, which takes minutes"
    return 1
  fi
  local tar
  tar=$("$HERE/make_root.sh" "$1") || {
    leave_out "no root of $1 could be made"
    return 1
  }
  mkdir -p "$ROOT"
  tar -xf "$tar" -C "$ROOT"
}

# The programs in packages: pack VERSION KIND prints their paths.
pack() {
  "$SOURCE/scripts/package.sh" --build "$(dirname "$(command -v frostline)")/.." \
    --version "$1" --out "$BATS_FILE_TMPDIR/$1" "$2"
}

boot() {
  unshare -m -p -i -u -C -n --fork bash "$HERE/boot.sh" "$ROOT" \
    >"$BATS_FILE_TMPDIR/boot.log" 2>&1 3>&- &
  echo $! >"$BATS_FILE_TMPDIR/boot.pid"
  wait_for 60 is_up || {
    cat "$BATS_FILE_TMPDIR/boot.log" >&2
    return 1
  }
}
init_pid() { pgrep -P "$(cat "$BATS_FILE_TMPDIR/boot.pid")"; }
is_up() { at systemctl is-system-running | grep -qE 'running|degraded'; }
# at COMMAND…: runs it on that machine.
at() { nsenter -t "$(init_pid)" -m -p -i -u -n -C -r -w "$@"; }

# Ends what boot() began, with all that runs there.
halt() {
  [ -s "$BATS_FILE_TMPDIR/boot.pid" ] || return 0
  local pid
  pid=$(init_pid) || return 0
  kill -9 "$pid" 2>/dev/null || true
  wait_for 10 gone "$pid" || true
}
gone() { [ ! -e "/proc/$1" ]; }
