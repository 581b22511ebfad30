# SPDX-License-Identifier: Apache-2.0
# Nodes that are taken away: what the real worker does within the grace, and
# where the trial goes on. And run folders that take nothing.

load world.bash
# shellcheck source=tests/support/page_block.bash
source "$SOURCE/tests/support/page_block.bash"

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  frostline serve --data data --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
  FROSTLINE_CONNECT=$(cat ready)
  export FROSTLINE_CONNECT
  cat >study.yaml <<'END'
id: spot
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: 1
seed: 7
sampler: random
training: {epochs: 40, extra: {seconds_per_epoch: 0.3}}
space:
  modules:
    embeddings: &rates [0, 1e-3, 1e-2]
    "layer.*": *rates
    head: *rates
END
  frostline study create study.yaml >create.log 2>&1
}

teardown() {
  [ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 -- *.log >&2
  local name
  for name in *.pid; do kill -9 "$(cat "$name")" 2>/dev/null || true; done
  [ ! -e full ] || umount -l full 2>/dev/null || true
}

# worker NAME RUN_DIR WORDS…
worker() {
  frostline-worker --connect "$FROSTLINE_CONNECT" --id "$1" --run-dir "$2" \
    --exec frostline-demo-trainer "${@:3}" >"$1.log" 2>&1 3>&- &
  echo $! >"$1.pid"
}
# has_steps N: the coordinator has heard of so many.
has_steps() {
  frostline trial show spot 0 --json |
    python3 -c "import json, sys
trial = json.load(sys.stdin)
sys.exit(int(trial.get('trial', trial)['last_step']) < $1)"
}
completed() { frostline study show spot | grep -q COMPLETED; }

# evict NAME: SIGTERM, and the worker has gone within ten seconds, with 75.
evict() {
  local status=0 since=$SECONDS
  kill -TERM "$(cat "$1.pid")"
  wait "$(cat "$1.pid")" || status=$?
  [ "$status" -eq 75 ]
  [ $((SECONDS - since)) -le 10 ]
}

# went_on: the trial ended well in its second attempt, from a checkpoint.
went_on() {
  frostline trial show spot 0 --json >trial.json
  python3 - <<'END'
import json
trial = json.load(open("trial.json"))
trial = trial.get("trial", trial)
assert trial["state"].endswith("SUCCEEDED"), trial["state"]
assert int(trial["attempt"]) == 2, trial["attempt"]
END
}

@test "evicted, it goes on from its checkpoint on shared storage" {
  worker first shared
  wait_for 30 has_steps 3
  evict first
  worker second shared
  wait_for 60 completed
  went_on
  fails grep -q not_resumed second.log
}

@test "evicted without shared storage, a hook carries the checkpoint" {
  mkdir bucket
  cat >hook <<END
#!/bin/sh
set -e
AT=$PWD/bucket/\$(echo "\$2" | tr / _)
case \$1 in
  save) cp -r "\$3" "\$AT.new" && mv "\$AT.new" "\$AT" ;;
  fetch) cp -r "\$AT" "\$3" ;;
esac
END
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  [ "$(ls bucket | wc -l)" -eq 1 ]
  worker second two --checkpoint-hook "$PWD/hook"
  wait_for 60 completed
  went_on
  fails grep -q not_resumed second.log
}

@test "the hook of the page does" {
  page_block how-to/spot.md "aws s3 cp" >hook
  mkdir bin bucket
  # Keeps objects as files, as `aws s3 cp` copies one.
  cat >bin/aws <<'END'
#!/bin/sh
set -e
[ "$1 $2 $3 $#" = "s3 cp --only-show-errors 5" ]
cd "$(dirname "$0")/../bucket"
at() { case $1 in s3://my-bucket/*) echo "./$(echo "${1#s3://my-bucket/}" | tr / _)" ;; *) echo "$1" ;; esac; }
cp "$(at "$4")" "$(at "$5")"
END
  chmod +x hook bin/aws
  export PATH=$PWD/bin:$PATH
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  [ "$(ls bucket)" = "$(grep -oE 'spot_0_1_[^ ]+' <<<"$(ls bucket)")" ] # STUDY/TRIAL/ATTEMPT/NAME
  worker second two --checkpoint-hook "$PWD/hook"
  wait_for 60 completed
  went_on
  fails grep -q not_resumed second.log
}

@test "what a hook brings back is not used when it is something else" {
  printf '#!/bin/sh\n[ "$1" = save ] || echo something else >"$3"\n' >hook
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  worker second two --checkpoint-hook "$PWD/hook"
  wait_for 90 completed
  went_on
  grep -q not_resumed second.log
}

@test "the page's lines stop the workers at a notice" {
  page_block how-to/spot.md 169.254.169.254 |
    sed "s#http://169.254.169.254#http://$(metadata_server)#; s/sleep 5/sleep 0.2/" >watch.sh
  mkdir bin
  printf '#!/bin/sh\necho "$*" >>"%s/told"\n' "$PWD" >bin/systemctl
  chmod +x bin/systemctl
  PATH=$PWD/bin:$PATH bash watch.sh >watch.log 2>&1 3>&- &
  echo $! >watch.pid
  wait_for 20 asked_twice
  [ ! -e told ]
  touch notice
  wait_for 20 test -s told
  [ "$(cat told)" = "stop frostline-worker@*" ]
}
asked_twice() { [ "$(grep -c instance-action requests)" -ge 2 ]; }
# As AWS's: nothing without a token of its own, and 404 until there is a notice.
metadata_server() {
  cat >metadata.py <<'END'
import http.server, os

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, code, text=""):
        with open("requests", "a") as log:
            log.write(f"{self.command} {self.path} {code}\n")
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        good = (self.path == "/latest/api/token" and
                self.headers["X-aws-ec2-metadata-token-ttl-seconds"])
        self.answer(200, "secret") if good else self.answer(400)

    def do_GET(self):
        if self.headers["X-aws-ec2-metadata-token"] != "secret":
            return self.answer(401)
        known = self.path == "/latest/meta-data/spot/instance-action"
        if not known or not os.path.exists("notice"):
            return self.answer(404)
        self.answer(200, '{"action": "terminate"}')

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open("metadata.new", "w") as file:
    file.write("127.0.0.1:%d" % server.server_port)
os.rename("metadata.new", "metadata.address")
server.serve_forever()
END
  python3 metadata.py >metadata.log 2>&1 3>&- &
  echo $! >metadata.pid
  wait_for 20 test -s metadata.address
  cat metadata.address
}

@test "a hook that fails costs no trial" {
  printf '#!/bin/sh\nexit 9\n' >hook
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook"
  wait_for 30 has_steps 3
  evict first
  grep -q checkpoint_not_saved first.log
  worker second two --checkpoint-hook "$PWD/hook" # it is tried, then does without
  wait_for 90 completed
  grep -q checkpoint_not_fetched second.log
  frostline trial list spot --json | grep -q SUCCEEDED
}

@test "a second signal ends a hook that hangs" {
  printf '#!/bin/sh\ntouch "%s/begun"\nexec sleep 600\n' "$PWD" >hook
  chmod +x hook
  worker first one --checkpoint-hook "$PWD/hook" --checkpoint-hook-limit 1m
  wait_for 30 has_steps 3
  kill -TERM "$(cat first.pid)"
  wait_for 30 test -e begun
  evict first
  grep -q 'checkpoint_not_saved.*ended by a second signal' first.log
}

@test "whoever still waits to join ends with 75 too" {
  frostline-worker --run-dir one --exec frostline-demo-trainer \
    --join "frost_$(printf 'a%.0s' {1..16})_$(printf 'b%.0s' {1..64})@127.0.0.1:1#$(printf '0%.0s' {1..64})" \
    >first.log 2>&1 3>&- &
  echo $! >first.pid
  wait_for 30 grep -q not_joined first.log
  evict first
}

@test "a hook that is not there is told at the start" {
  run frostline-worker --exec true --checkpoint-hook ./nothing
  [ "$status" -eq 2 ]
  [[ $output == *"--checkpoint-hook is './nothing', no program that may be run"* ]]
}

@test "a run folder that cannot be written is told at the start" {
  [ "$(id -u)" -eq 0 ] || skip "this needs root"
  mkdir full
  mount -t tmpfs -o ro tmpfs full || skip "nothing can be mounted here"
  run timeout 20 frostline-worker --connect "$FROSTLINE_CONNECT" --run-dir full/runs \
    --exec frostline-demo-trainer
  echo "$output"
  [ "$status" -ne 0 ]
  [ "$status" -ne 124 ]
  [[ $output == *"error[FL-"*"full/runs"* ]]
}

@test "a run folder that is full keeps the trial" {
  [ "$(id -u)" -eq 0 ] || skip "this needs root"
  mkdir full
  mount -t tmpfs -o size=200k tmpfs full || skip "nothing can be mounted here"
  worker first full
  wait_for 30 has_steps 1
  dd if=/dev/zero of=full/ballast bs=4k 2>/dev/null || true
  wait_for 60 completed
  frostline trial show spot 0 --json >trial.json
  grep -q SUCCEEDED trial.json
}
