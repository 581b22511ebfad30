# SPDX-License-Identifier: Apache-2.0
# What happens to a fleet on a cluster: nodes die, jobs are preempted, cables are
# pulled, controllers and coordinators are killed. No trial is lost or counted
# twice. With FROSTLINE_SLURM_ALL=1 only.

load fleet.bash
# shellcheck source=tests/deploy/slurm/accounts.bash
source "$SLURM_TESTS/accounts.bash"

setup_file() { export FROSTLINE_SLURM_ALL; }

# The node of a task.
node_of() { cluster_job "${ARRAY}_$1" NodeList; }
worker_of() { frostline trial show "$1" "$2" --json | grep -oE '"worker": "workers/[^"]*' | tail -n 1; }

@test "four nodes with two GPUs each: 100 trials, each once" {
  all_or_skip
  local start
  cluster_up 4 2
  serve
  study many 100 5 0.1
  start=$(millis)
  up many 8
  await_end many 120
  figure "100 trials on 8 workers after $(($(millis) - start)) ms"
  judge many 100
  wait_for 30 has_no_task
}

@test "a node dies in mid-trial: its trial goes to another node" {
  all_or_skip
  local start victim
  cluster_up 2 1
  serve
  study dies 6 15 0.2
  up dies 2
  wait_for 30 has_states dies RUNNING 2
  victim=$(node_of 0)
  start=$(millis)
  cluster_kill_node "$victim"
  wait_for 60 has_states dies SUCCEEDED 4
  await_end dies 90
  figure "node killed; all trials done after $(($(millis) - start)) ms"
  judge dies 6 --lost 1
}

@test "drain: trials that run are finished, nothing else begins" {
  all_or_skip
  cluster_up 1 2
  serve
  study drained 50 10 0.3
  up drained 4
  wait_for 30 has_states drained RUNNING 2
  run frostline slurm drain drained --wait 60s
  [ "$status" -eq 0 ]
  says "frostline-drained: 2 that waited are cancelled, 2 finish their trial and go"
  has_no_task
  job_is 0 COMPLETED
  [ "$(count_states drained RUNNING)" -eq 0 ]
  [ "$(count_states drained SUCCEEDED)" -ge 2 ]
  # No attempt was cut short.
  [ -z "$(frostline trial list drained --json | grep -E '"attempt": "?[2-9]')" ]
}

@test "a node that is drained keeps its worker, and gets no other" {
  all_or_skip
  cluster_up 2 1
  serve
  study kept 4 10 0.2
  up kept 2
  wait_for 30 has_states kept RUNNING 2
  scontrol update NodeName=n1 State=DRAIN Reason=test
  await_end kept 60
  judge kept 4
  wait_for 30 has_no_task
  sinfo -h -n n1 -o %T | grep -q drained
}

@test "a preempted worker leaves at once; its trial goes on from its checkpoint" {
  all_or_skip
  local start prod mode
  for mode in default preempt_send_user_signal; do
    export CLUSTER=$PWD/slurm-$mode
    CLUSTER_EXTRA=
    [ "$mode" = default ] || CLUSTER_EXTRA="SlurmctldParameters=$mode"
    cluster_up 1 1
    [ -e serve.pid ] || serve
    study "$mode" 1 60 0.25
    # Its lines are kept, whatever is sent to all of the job; from the trainer
    # itself no signal is kept away.
    printf '%s\n' "#!/bin/bash" "trap : TERM" \
      "frostline-demo-trainer | (trap '' TERM; exec tee -a '$PWD/said-$mode')" \
      >"trainer-$mode"
    chmod +x "trainer-$mode"
    TRAINER=$PWD/trainer-$mode up "$mode" 1
    wait_for 30 has_states "$mode" RUNNING 1
    sleep 3 # some epochs to keep
    start=$(millis)
    prod=$(sbatch --parsable -p prod --gres=gpu:1 -o /dev/null --wrap "sleep 1")
    wait_for 60 prod_began "$prod"
    figure "$mode: the other job has the GPU after $(($(millis) - start)) ms"
    wait_for 90 restarted 0
    figure "$mode: the worker runs again after $(($(millis) - start)) ms"
    await_end "$mode" 90
    resumed_once "$mode"
    wait_for 30 has_no_task
    cluster_down
  done
}
prod_began() { [[ $(cluster_job "$1" JobState) =~ RUNNING|COMPLET ]]; }
# One trial, two attempts: the first was handed back with a checkpoint, and the
# second went on from there, so that each epoch was trained once.
resumed_once() {
  frostline trial show "$1" 0 --json >trial.json
  python3 - trial.json "said-$1" <<'END'
import json, sys
trial = json.load(open(sys.argv[1]))
attempts = trial["attempts"]
states = [attempt["state"] for attempt in attempts]
assert states == ["ATTEMPT_STATE_PREEMPTED", "ATTEMPT_STATE_COMPLETED"], states
assert int(attempts[0]["checkpoint"]["step"]) > 0, attempts[0]
said = [json.loads(line) for line in open(sys.argv[2])]
steps = [one["step"] for one in said if one["type"] == "report"]
assert len(steps) == len(set(steps)) == 60, steps
END
}

@test "a cable is pulled: the trial goes on elsewhere, the cut-off worker changes nothing" {
  all_or_skip
  [ "$(id -u)" = 0 ] || skip "network namespaces need root here"
  local start victim
  export CLUSTER_HOSTS=1
  cluster_up 2 1 || skip "no network namespace can be made here"
  serve
  study cut 6 20 0.2
  up cut 2
  wait_for 30 has_states cut RUNNING 2
  victim=$(node_of 0)
  start=$(millis)
  cluster_pull_cable "$victim"
  await_end cut 120
  figure "cable pulled; all trials done after $(($(millis) - start)) ms"
  # The worker behind the cut still lives, with a result that nobody waits for.
  # Slurm begins a second copy of it, which waits for the end of the first.
  wait_for 90 restarted 0
  wait_for 20 waits_for_its_copy 0
  [ -n "$(cluster_pids "$victim")" ]
  cluster_plug_cable "$victim"
  wait_for 60 has_no_task
  job_is 0 COMPLETED
  wait_for 60 cluster_has_no_step
  judge cut 6 --lost 1 || judge cut 6 --lost 1 --late 1
}
waits_for_its_copy() { log_of "$1" | grep -q "another copy of cut-.* lives"; }

@test "a result that comes after the cable is back is kept beside the accepted one" {
  all_or_skip
  [ "$(id -u)" = 0 ] || skip "network namespaces need root here"
  export CLUSTER_HOSTS=1 CLUSTER_NODE_TIMEOUT=300
  local victim
  cluster_up 2 1 || skip "no network namespace can be made here"
  serve
  study late 2 30 0.2
  up late 2
  wait_for 30 has_states late RUNNING 2
  victim=$(node_of 0)
  cluster_pull_cable "$victim"
  await_end late 90
  cluster_plug_cable "$victim"
  wait_for 60 has_no_task
  judge late 2 --lost 1 --late 1
}

@test "slurmctld is killed: workers work on, and are known again" {
  all_or_skip
  local done_before
  cluster_up 2 2
  serve
  study headless 100 10 0.2 # longer than the outage, on a busy machine too
  up headless 4
  wait_for 30 has_states headless SUCCEEDED 2
  sleep 8 # what is younger than slurmctld's last save is forgotten by Slurm
  cluster_kill slurmctld
  done_before=$(count_states headless SUCCEEDED)
  wait_for 60 has_states headless SUCCEEDED $((done_before + 4))
  run timeout 100 frostline slurm status headless
  [ "$status" -eq 5 ]
  says FL-4027 "scontrol ping"
  cluster_start_controller
  wait_for 30 has_tasks RUNNING 4
  await_end headless 180
  judge headless 100
  wait_for 30 has_no_task
}

@test "the coordinator is killed under load: workers wait, nothing is lost" {
  all_or_skip
  cluster_up 2 2
  serve
  study load 60 4 0.1
  up load 4
  local round
  for round in 1 2 3; do
    wait_for 30 has_states load SUCCEEDED $((round * 8))
    kill -KILL "$(cat serve.pid)"
    wait "$(cat serve.pid)" || true
    sleep 1
    serve
  done
  await_end load 120
  judge load 60
  wait_for 60 has_no_task
  job_is 0 COMPLETED
}

@test "the array follows what the study can use: 2, 6, then nothing more" {
  all_or_skip
  cluster_up 4 2
  serve
  study elastic 400 5 0.4 "max_parallel: 2"
  up elastic 8 --idle-timeout 5s
  wait_for 20 has_tasks RUNNING 2
  sleep 4
  has_tasks RUNNING 2
  frostline study update elastic --max-parallel 6 >/dev/null
  run frostline slurm scale elastic
  says "6 at a time" "2 run, 6 wait"
  wait_for 20 has_tasks RUNNING 6
  sleep 4
  has_tasks RUNNING 6
  # What runs is not stopped, and nothing follows it.
  run frostline slurm scale elastic --max 0
  says "0 at a time"
  scancel "${ARRAY}_0"
  wait_for 30 has_tasks RUNNING 5
  sleep 4
  has_tasks RUNNING 5
  has_tasks PENDING 2
  run frostline slurm scale elastic
  says "6 at a time"
  wait_for 20 has_tasks RUNNING 6
  frostline slurm drain elastic --wait 60s
  has_no_task
}

@test "two schedulers feed one coordinator, and status tells them apart" {
  all_or_skip
  cluster_up 1 1
  serve
  study shared 100 4 0.2 # longer than a busy machine takes to begin a task
  frostline worker --connect "$FROSTLINE_CONNECT" --id by-hand --run-dir hand \
    --exec frostline-demo-trainer --study shared --exit-when-done \
    --label slurm_cluster=west --label slurm_job=9 >hand.log 2>&1 3>&- &
  up shared 1
  wait_for 30 has_tasks RUNNING 1
  # The shell that asks finds the log once it is there.
  wait_for 30 sh -c 'grep -q registered frostline-slurm/*/log/0.log'
  run frostline slurm status shared
  says "${ARRAY}_0" "other workers of this coordinator: 1 of array 9 of cluster west"
  await_end shared 120
  judge shared 100
}

@test "a quota of the site's accounts is told in Slurm's words" {
  all_or_skip
  local missing
  missing=$(accounts_missing)
  [ -z "$missing" ] || skip "missing: $(tr '\n' ' ' <<<"$missing")"
  accounts_use
  cluster_up 1 1
  accounts_limit MaxSubmitJobs=3
  serve
  study quota 5 2 0.1
  run frostline slurm up quota --max 4 --exec frostline-demo-trainer --run-dir runs
  [ "$status" -eq 5 ]
  says "error[FL-4027]" AssocMaxSubmitJobLimit "ask for less with --max" SBATCH_ACCOUNT
  [ -z "$(ls frostline-slurm)" ]
  run env SBATCH_ACCOUNT=nobody frostline slurm up quota --exec frostline-demo-trainer
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "Invalid account" SBATCH_ACCOUNT
  up quota 3
  await_end quota 60
  judge quota 5
}
