# SPDX-License-Identifier: Apache-2.0
# The three packages on a fresh Debian with systemd: installed, a study run,
# upgraded over a running one, removed. And what units do at which exit code.

load world.bash
# shellcheck source=tests/support/page_block.bash
source "$SOURCE/tests/support/page_block.bash"

setup_file() {
  has cpack dpkg-shlibdeps nsenter || return 0
  fresh_root bookworm || return 0
  pack 0.1.0 deb >"$BATS_FILE_TMPDIR/debs"
  mkdir -p "$ROOT/packages"
  cp "$BATS_FILE_TMPDIR"/0.1.0/*.deb "$ROOT/packages/"
  boot
}

teardown_file() {
  halt
}

setup() { skip_if_left_out; }

teardown() {
  [ ! -s "$BATS_FILE_TMPDIR/boot.pid" ] || [ -n "$BATS_TEST_COMPLETED" ] || at journalctl --no-pager -n 40 >&2 || true
}

frost() { at frostline "$@"; }
main_pid() { at systemctl show -P MainPID "$1"; }
is_active() { [ "$(at systemctl is-active "$1")" = active ]; }
restarts() { at systemctl show -P NRestarts "$1"; }
answers() { frost status --wait 0s; }
running() { frost trial list "$1" --state RUNNING --json | grep -q RUNNING; }
completed() { frost study show "$1" | grep -q COMPLETED; }
restarted_twice() { [ "$(restarts "$1")" -ge 2 ]; }

# study ID TRIALS SECONDS: of four epochs.
study() {
  cat >"$ROOT/srv/$1.yaml" <<END
id: $1
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: $2
seed: 7
sampler: random
training: {epochs: 4, extra: {seconds_per_epoch: $3}}
space:
  modules:
    embeddings: &rates [0, 1e-3, 1e-2]
    "layer.*": *rates
    head: *rates
END
  frost study create "/srv/$1.yaml"
}

@test "lintian finds no error" {
  command -v lintian || skip "lintian is missing"
  run lintian --allow-root --fail-on error,warning --tag-display-limit 0 \
    "$BATS_FILE_TMPDIR"/0.1.0/*.deb
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "the coordinator suggests what --store needs" {
  [ "$(dpkg-deb -f "$ROOT"/packages/frostline-coordinator_*.deb Suggests)" = libpq5 ]
}

@test "installed on a fresh machine they run a study" {
  # As the page says; nothing is fetched, as there is no network.
  at sh -c 'apt-get install -y ./packages/frostline-*.deb'
  wait_for 20 answers
  is_active frostline-coordinator
  [ "$(at systemctl is-enabled frostline-coordinator)" = enabled ]
  [ "$(at stat -c %U:%a /var/lib/frostline/coordinator)" = frostline:700 ]
  at cp /usr/share/doc/frostline-worker/examples/worker-example.env \
    /etc/frostline/worker-one.env
  at systemctl enable --now frostline-worker@one
  [ "$(at systemctl is-enabled frostline-worker@one)" = enabled ]
  study first 3 0.01
  frost study watch first --until-done
  [ "$(frost trial list first --json | grep -c SUCCEEDED)" -eq 3 ]
}

@test "pages and completions of each program are there, and are its own" {
  for name in frostline frostline-coordinator frostline-worker; do
    gzip -dc "$ROOT/usr/share/man/man1/$name.1.gz" | grep -qi "^\.TH \"\?${name//-/\\\\\\?-}"
    grep -q "$name" "$ROOT/usr/share/bash-completion/completions/$name"
    grep -q "$name" "$ROOT/usr/share/zsh/vendor-completions/_$name"
    grep -q "$name" "$ROOT/usr/share/fish/vendor_completions.d/$name.fish"
  done
}

@test "a drop-in opens what a site needs" {
  mkdir -p "$ROOT/scratch" "$ROOT/etc/systemd/system/frostline-worker@.service.d"
  page_block how-to/install.md ReadWritePaths | grep -v '^#' \
    >"$ROOT/etc/systemd/system/frostline-worker@.service.d/site.conf"
  at getent group render >/dev/null || at groupadd --system render
  at systemctl daemon-reload
  at systemctl restart frostline-worker@one
  is_active frostline-worker@one
  touch "$ROOT/srv/closed"
  at chmod 666 /srv/closed
  at chmod 777 /scratch
  nsenter_of frostline-worker@one sh -c 'echo open >/scratch/here'
  [ "$(cat "$ROOT/scratch/here")" = open ]
  fails nsenter_of frostline-worker@one sh -c 'echo open >/srv/closed'
}
# nsenter_of UNIT COMMAND…: in the service's own view of the file systems.
nsenter_of() {
  at nsenter -t "$(main_pid "$1")" -m -- "${@:2}"
}

@test "what a site has set stays through an upgrade" {
  echo 'FROSTLINE_COORDINATOR_FLAGS="--lease-ttl 50s"' |
    at tee /etc/default/frostline-coordinator >/dev/null
  at systemctl disable frostline-coordinator
  pack 0.1.0.1 deb
  cp "$BATS_FILE_TMPDIR"/0.1.0.1/*.deb "$ROOT/packages/"
  at sh -c 'dpkg -i /packages/*_0.1.0.1-1_*.deb'
  wait_for 20 answers
  [ "$(at systemctl is-enabled frostline-coordinator || true)" = disabled ]
  grep -q 50s "$ROOT/etc/default/frostline-coordinator"
  at cat "/proc/$(main_pid frostline-coordinator)/cmdline" | tr '\0' ' ' | grep -q -- '--lease-ttl 50s'
  at systemctl enable frostline-coordinator
}

@test "upgraded over a running study no trial is lost" {
  study second 6 0.25
  wait_for 20 running second
  before=$(main_pid frostline-coordinator)
  worker=$(main_pid frostline-worker@one)
  pack 0.1.1 deb
  cp "$BATS_FILE_TMPDIR"/0.1.1/*.deb "$ROOT/packages/"
  run at sh -c 'dpkg -i /packages/*_0.1.1-1_*.deb'
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"systemctl restart frostline-worker@one.service"* ]]
  wait_for 20 answers
  [ "$(main_pid frostline-coordinator)" != "$before" ]
  [ "$(main_pid frostline-worker@one)" = "$worker" ]
  wait_for 60 completed second
  frost trial list second --json >"$BATS_TEST_TMPDIR/trials"
  python3 - "$BATS_TEST_TMPDIR/trials" <<'END'
import json, sys
trials = json.load(open(sys.argv[1]))["trials"]
assert len(trials) == 6, len(trials)
for trial in trials:
    assert trial["state"].endswith("SUCCEEDED"), trial
    assert int(trial["attempt"]) == 1, trial
END
}

# with_exit CODE: what a service whose program ends so does.
with_exit() {
  at mkdir -p "/run/systemd/system/$1.d"
  cat <<END | at tee "/run/systemd/system/$1.d/exit.conf" >/dev/null
[Service]
ExecStart=
ExecStart=/bin/sh -c 'exit $2'
RestartSec=100ms
END
  at systemctl daemon-reload
  at systemctl reset-failed "$1" || true
  at systemctl start "$1" || true
}

@test "what can pass is tried again, what stays wrong is not" {
  for unit in frostline-coordinator.service frostline-worker@one.service; do
    at systemctl stop "$unit"
    for code in 1 7 75; do
      with_exit "$unit" "$code"
      wait_for 10 restarted_twice "$unit"
      at systemctl stop "$unit"
    done
    for code in 0 2 3 4 100; do
      with_exit "$unit" "$code"
      sleep 0.5
      [ "$(restarts "$unit")" -eq 0 ]
      fails is_active "$unit"
      at systemctl stop "$unit"
    done
    at rm -r "/run/systemd/system/$unit.d"
    at systemctl daemon-reload
    at systemctl reset-failed "$unit" || true
    at systemctl start "$unit"
  done
  wait_for 20 answers
}

@test "removed and purged, studies stay unless they were marked" {
  run at sh -c 'dpkg --purge frostline-coordinator frostline-worker frostline-cli'
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"all studies stay in /var/lib/frostline/coordinator"* ]]
  fails is_active frostline-coordinator
  fails is_active frostline-worker@one
  [ -s "$ROOT/var/lib/frostline/coordinator/frostline.sqlite" ]
  [ -d "$ROOT/var/lib/frostline/worker-one" ]
  [ ! -e "$ROOT/usr/bin/frostline" ]
  at sh -c 'dpkg -i /packages/*_0.1.1-1_*.deb'
  wait_for 20 answers
  frost study show second
  mkdir -p "$ROOT/var/lib/frostline/worker-two"
  touch "$ROOT"/var/lib/frostline/{coordinator,worker-two}/REMOVE-ON-PURGE
  at dpkg --purge frostline-coordinator frostline-worker
  [ ! -e "$ROOT/var/lib/frostline/coordinator" ]
  [ ! -e "$ROOT/var/lib/frostline/worker-two" ]
  [ -d "$ROOT/var/lib/frostline/worker-one" ] # nobody marked it
}
