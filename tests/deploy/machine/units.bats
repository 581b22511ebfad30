# SPDX-License-Identifier: Apache-2.0
# The systemd units as files; packages.bats runs them.

UNITS=$(cd "$(dirname "$BATS_TEST_FILENAME")/../../../deploy/systemd" && pwd)

setup() {
  command -v systemd-analyze >/dev/null || skip "systemd-analyze is missing"
  cd "$BATS_TEST_TMPDIR" || return 1
  # verify asks for the programs and pages, which are not installed here.
  for unit in "$UNITS"/*.service; do
    sed 's#^\(ExecStart=\)/usr/bin/[^ ]*#\1/bin/true#; /^Documentation=/d' "$unit" \
      >"$(basename "$unit")"
  done
}

# exposure UNIT: tenths, as systemd counts what a service could reach.
exposure() {
  systemd-analyze security --offline=yes "./$1" |
    sed -n 's/.*exposure level for .*: \([0-9]\)\.\([0-9]\) .*/\1\2/p'
}

@test "systemd understands every line" {
  for unit in *.service; do
    run systemd-analyze verify "./$unit"
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ] # it returns 0 for keys it does not know
  done
}

@test "the coordinator reaches little" {
  [ "$(exposure frostline-coordinator.service)" -le 15 ]
}

@test "the worker reaches GPUs, and little else" {
  [ "$(exposure frostline-worker@.service)" -le 16 ]
  grep -q '^DevicePolicy=closed' frostline-worker@.service
  run grep -h '^DeviceAllow=' frostline-worker@.service
  [ "$(grep -cE '=char-(nvidia|nvidia-(frontend|uvm|caps)|drm|kfd) rw$' <<<"$output")" -eq 6 ]
  [ "$(wc -l <<<"$output")" -eq 6 ]
}

@test "users and folders are what the units run as and in" {
  mkdir -p root/etc
  for service in coordinator worker; do
    systemd-sysusers --dry-run "$UNITS/frostline-$service.sysusers.conf"
    user=$(awk '$1 == "u" { print $2 }' "$UNITS/frostline-$service.sysusers.conf")
    grep -qx "User=$user" "$UNITS"/frostline-"$service"*.service
  done
  systemd-sysusers --root="$PWD/root" "$UNITS"/*.sysusers.conf
  systemd-tmpfiles --root="$PWD/root" --create "$UNITS"/*.tmpfiles.conf
  [ "$(stat -c %a root/var/lib/frostline/coordinator)" = 700 ]
}
