# SPDX-License-Identifier: Apache-2.0
# A study on a real Slurm from beginning to end, and what is refused.

load fleet.bash
# shellcheck source=tests/support/page_block.bash
source "$SLURM_TESTS/../../support/page_block.bash"

@test "an array of workers finishes a study, each trial once" {
  local start
  start=$(millis)
  cluster_up 2 2
  figure "two nodes idle after $(($(millis) - start)) ms"
  serve
  study smoke 20 4 0.1
  start=$(millis)
  run frostline slurm up smoke --max 4 --exec frostline-demo-trainer --run-dir runs
  [ "$status" -eq 0 ]
  says "frostline-smoke: array" "of 4 workers, 4 at a time (20 trials left"
  ARRAY=$(grep -oE 'array [0-9]+' <<<"$output" | grep -oE '[0-9]+')
  # Nobody reads an invitation but its owner; no command line shows one.
  [ "$(stat -c %a frostline-slurm/smoke-*)" = 700 ]
  [ "$(stat -c %a frostline-slurm/smoke-*/join)" = 600 ]
  [ "$(wc -l <frostline-slurm/smoke-*/join)" -eq 4 ]
  [ -z "$(scontrol -o show job "$ARRAY" | grep frost_)" ]
  wait_for 30 has_states smoke SUCCEEDED 2
  run frostline slurm status smoke
  says "${ARRAY}_0" RUNNING ACTIVE n1 n2
  run frostline slurm up smoke --max 4 --exec frostline-demo-trainer
  [ "$status" -eq 5 ]
  says FL-4027 "there is a fleet of this name" "slurm scale smoke"
  await_end smoke 60
  figure "20 trials on 4 workers after $(($(millis) - start)) ms"
  judge smoke 20
  wait_for 30 has_no_task
  job_is 0 COMPLETED
  # All four took part, each under its own name.
  [ "$(frostline trial list smoke --json | grep '"worker"' | sort -u | wc -l)" -eq 4 ]
}

@test "the page's commands do what they say, in order" {
  local ports
  cluster_up 2 1
  read -ra ports <<<"$(cluster_free_ports 2)"
  # On this machine, and with a trainer that needs no model.
  page_block how-to/slurm.md "tls init" | sed \
    "s#--host head.lan#--host 127.0.0.1#; s#127.0.0.1:7070#127.0.0.1:${ports[0]}#
     s#0.0.0.0:7443#tls:127.0.0.1:${ports[1]}#; s#/shared/runs#$PWD/runs#
     s#--registry /shared/models#--exec frostline-demo-trainer#; s#--max 16#--max 2#
     s#^frostline serve .*[^ &]#& >serve.log 2>\&1#" >page.sh
  export FROSTLINE_CONNECT=127.0.0.1:${ports[0]}
  cat >imdb.yaml <<'END'
id: imdb
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: 6
sampler: random
training: {epochs: 4, extra: {seconds_per_epoch: 0.1}}
space:
  modules:
    "layer.*": [0, 1e-3, 1e-2]
END
  # Drained sooner or at its end: here all have gone.
  sed -i 's/^frostline serve .*/&\necho $! >serve.pid/; s/^\(frostline slurm drain [^#]*\).*/\1|| echo "drain: $?"/' page.sh
  cat page.sh
  run timeout 120 bash -ex page.sh 3>&-
  echo "$output"
  [ "$status" -eq 0 ]
  says "nothing was submitted" "frostline-imdb: array" "of 2 workers" "LAST SEEN" "at a time ("
  is_completed imdb
  judge imdb 6
}

@test "whoever may not invite brings an admin's lines" {
  cluster_up 2 1
  serve
  study imdb 4 2 0.1
  frostline token create --role researcher --subject ana --out ana.token
  page_block how-to/slurm.md "--id ana" | sed \
    "s#seq 0 15#seq 0 1#; s#--max 16#--max 2#; s#/shared/runs#$PWD/runs#
     s#--registry /shared/models#--exec frostline-demo-trainer#
     s#^frostline slurm#FROSTLINE_TOKEN_FILE=ana.token &#" >page.sh
  cat page.sh
  bash -e page.sh
  [ "$(stat -c %a invitations)" = 600 ]
  wait_for 30 both_of_ana
  await_end imdb 60
  judge imdb 4
  # Nothing was invited but by the admin.
  [ -z "$(frostline token list | grep "slurm up")" ]
}

both_of_ana() { [ "$(frostline cert list | grep -cE 'workers/ana-[01]')" -eq 2 ]; }

@test "scancel stays a cancel, and hands the trials back" {
  cluster_up 1 2
  serve
  study long 3 100 0.2
  up long 3
  wait_for 30 has_states long RUNNING 2
  frostline slurm scale long --follow --every 1s >follow.log 2>&1 3>&- &
  echo $! >follow.pid
  wait_for 30 grep -q "2 run, 1 wait" follow.log
  scancel "$ARRAY"
  wait_for 30 has_states long QUEUED 2
  sleep 8 # a requeued job would run again after 6 s
  job_is 0 CANCELLED
  job_is 1 CANCELLED
  has_no_task
  # They come back with the next array, from where they were.
  frostline trial show long 0 --json | grep -q '"checkpoint"'
  # Who follows the fleet sees it go, and ends what its third worker never used.
  wait "$(cat follow.pid)"
  grep -q "^1 invitation that nobody used is ended" follow.log
  [ "$(frostline token list | grep "slurm up" | grep -vcE "revoked|used")" -eq 0 ]
}

@test "an invitation outlives weeks in the queue, and ends with its task" {
  local clock
  clock=$(find /usr/lib -name libfaketimeMT.so.1 | head -n 1)
  [ -n "$clock" ] || skip "the package faketime is missing"
  local later="LD_PRELOAD=$clock FAKETIME=+80d FAKETIME_DONT_FAKE_MONOTONIC=1"
  cluster_up 1 1
  serve
  study waits 3 2 0.1
  scontrol update PartitionName=spot State=DOWN
  up waits 3
  has_tasks PENDING 3
  kill -KILL "$(cat serve.pid)"
  wait "$(cat serve.pid)" || true
  SERVE_WITH=$later serve # eighty days have passed
  # The first task begins.
  mkdir joined
  # shellcheck disable=SC2086
  head -n 1 frostline-slurm/waits-*/join | env $later frostline worker --join - \
    --id "$(basename frostline-slurm/waits-*)-0" --run-dir joined \
    --exec frostline-demo-trainer --idle-timeout 1s >joined.log 2>&1
  grep -q joined joined.log
  # The others never will.
  run frostline slurm drain waits --wait 30s
  [ "$status" -eq 0 ]
  says "3 that waited are cancelled" "2 invitations that nobody used are ended"
  run frostline token list
  [ "$(grep -c "slurm up" <<<"$output")" -eq 3 ]
  [ "$(grep "slurm up" <<<"$output" | grep -vcE "revoked|used")" -eq 0 ]
}

@test "what cannot be is refused, and leaves nothing behind" {
  # shellcheck disable=SC2034  # cluster.bash reads it
  CLUSTER_EXTRA=MaxJobCount=3
  cluster_up 1 1
  serve
  study bad 3 2 0.1
  local words=(frostline slurm up bad --exec frostline-demo-trainer)
  run "${words[@]}" --partition gold
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "invalid partition specified: gold" "sinfo" --partition
  run "${words[@]}" --max 2000
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "Invalid job array specification" --max
  run "${words[@]}" --max 4 # the quota
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "temporarily unable to accept job" MaxJobCount --max
  run "${words[@]}" --gres gpu:9
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "configuration is not available" --gres
  [ -z "$(ls frostline-slurm)" ]
  [ "$(frostline token list | grep -c "slurm up")" -ge 1 ]
  [ -z "$(frostline token list | grep "slurm up" | grep -v revoked)" ]
  run frostline slurm up nowhere --exec frostline-demo-trainer
  [ "$status" -eq 3 ]
  run frostline slurm up bad --all --exec frostline-demo-trainer
  [ "$status" -eq 2 ]
  run frostline slurm up bad
  [ "$status" -eq 2 ]
  says --registry --exec
  run frostline slurm scale bad
  [ "$status" -eq 5 ]
  says "no task of frostline-bad"
  run env FROSTLINE_CONNECT=127.0.0.1:1 "${words[@]}"
  [ "$status" -eq 7 ]
  run env PATH="$(dirname "$(command -v frostline)")" frostline slurm status bad
  [ "$status" -eq 5 ]
  says "error[FL-4026]" "sbatch is not in the PATH"
  run "${words[@]}" --dry-run
  [ "$status" -eq 0 ]
  says "sbatch --parsable '--job-name=frostline-bad'" "nothing was submitted"
  [ -z "$(squeue -h)" ]
}
