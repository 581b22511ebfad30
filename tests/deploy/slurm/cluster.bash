# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A Slurm of the distribution's own programs, on this machine alone: a controller
# and nodes n1, n2, … with fake GPUs, for whoever calls it, root or not. Its files
# lie in $CLUSTER; `cluster_down` ends it by process id.
#
#   CLUSTER=$PWD/slurm cluster_up 4 2       # nodes, GPUs of each
#   cluster_kill_node n2                    # as if its power were gone
#   cluster_down
#
# Nodes listen on ports of the loopback. With CLUSTER_HOSTS=1 (root) each is a
# network namespace at the other end of a cable, which can be pulled, and the
# controller listens at $CLUSTER_HEAD for them.

CLUSTER_TOOLS=(slurmctld slurmd sbatch scontrol squeue scancel sinfo srun munged)
CLUSTER_HEAD=10.79.0.1
export PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=tests/support/wait_for.bash
source "$(dirname "${BASH_SOURCE[0]}")/../../support/wait_for.bash"

# Says which of the programs are missing.
cluster_missing() {
  local tool
  for tool in "${CLUSTER_TOOLS[@]}"; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
}

cluster_nodes() { seq -f 'n%.0f' 1 "$CLUSTER_NODES"; }
cluster_netns() { echo "fs$CLUSTER_ID-$1"; }
# cluster_at NODE COMMAND…: on that node's network. Not by `ip netns exec`, which
# mounts a /sys without control groups, where slurmd refuses to start.
cluster_at() {
  if [ "${CLUSTER_HOSTS:-0}" = 1 ]; then
    nsenter --net="/run/netns/$(cluster_netns "$1")" "${@:2}"
  else
    "${@:2}"
  fi
}

# So many ports that nobody listens on.
cluster_free_ports() {
  python3 -c "import socket
held = [socket.socket() for _ in range($1)]
for one in held: one.bind(('127.0.0.1', 0))
print(*[one.getsockname()[1] for one in held])"
}

cluster_write_conf() {
  local host address node number=0 me
  local -a ports
  read -ra ports <<<"$(cluster_free_ports $((CLUSTER_NODES + 1)))"
  me=$(id -un)
  address=127.0.0.1
  [ "${CLUSTER_HOSTS:-0}" = 0 ] || address=$CLUSTER_HEAD
  cat <<END
ClusterName=${CLUSTER_NAME:-frosty}
SlurmctldHost=$(hostname -s)($address)
SlurmctldPort=${ports[0]}
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
# A requeued job runs again after this and a second; 5 is the least there is.
AuthInfo=socket=$CLUSTER/run/munge.sock,cred_expire=5
StateSaveLocation=$CLUSTER/spool/controller
SlurmdSpoolDir=$CLUSTER/spool/%n
SlurmctldPidFile=$CLUSTER/run/slurmctld.own.pid
SlurmdPidFile=$CLUSTER/run/slurmd-%n.own.pid
SlurmctldLogFile=$CLUSTER/log/slurmctld.log
SlurmdLogFile=$CLUSTER/log/slurmd-%n.log
SlurmctldDebug=verbose
# Neither control groups nor systemd.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
# Nodes claim more processors than there are.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
# A dead node is seen within seconds; sites have 300.
SlurmdTimeout=${CLUSTER_NODE_TIMEOUT:-6}
MessageTimeout=10
KillWait=${CLUSTER_KILL_WAIT:-5}
InactiveLimit=0
MinJobAge=600
ReturnToService=2
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
${CLUSTER_ACCOUNTS:-AccountingStorageType=accounting_storage/none}
${CLUSTER_EXTRA:-}
PartitionName=spot Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=${CLUSTER_GRACE:-8} MaxTime=INFINITE State=UP
PartitionName=prod Nodes=ALL Default=NO PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
END
  for node in $(cluster_nodes); do
    number=$((number + 1))
    host=$(hostname -s) address=127.0.0.1
    if [ "${CLUSTER_HOSTS:-0}" = 1 ]; then
      host=$node address=10.79.0.$((10 + number)) ports[number]=6818
    fi
    echo "NodeName=$node NodeHostname=$host NodeAddr=$address Port=${ports[number]}" \
      "CPUs=4 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1" \
      "RealMemory=1000 Gres=gpu:fake:$CLUSTER_GPUS State=UNKNOWN"
  done
}

# Slurm takes a link to a device for a GPU; a plain file it refuses.
cluster_write_gpus() {
  local gpu node
  for gpu in $(seq 0 $((CLUSTER_GPUS - 1))); do
    ln -s /dev/null "$CLUSTER/run/gpu$gpu"
  done
  for node in $(cluster_nodes); do
    echo "NodeName=$node Name=gpu Type=fake File=$CLUSTER/run/gpu[0-$((CLUSTER_GPUS - 1))]"
  done
}

# cluster_start NAME COMMAND…: in the background, with its process id kept.
cluster_start() {
  "${@:2}" >>"$CLUSTER/log/$1.out" 2>&1 3>&- &
  echo $! >"$CLUSTER/run/$1.pid"
}

cluster_start_controller() {
  cluster_start slurmctld slurmctld -D -f "$SLURM_CONF"
}
cluster_start_node() {
  cluster_start "slurmd-$1" cluster_at_exec "$1" slurmd -D -N "$1" -f "$SLURM_CONF"
}
# The same as cluster_at, but the process becomes the command, so that its id is
# the command's.
cluster_at_exec() {
  if [ "${CLUSTER_HOSTS:-0}" = 1 ]; then
    exec nsenter --net="/run/netns/$(cluster_netns "$1")" "${@:2}"
  fi
  exec "${@:2}"
}

cluster_is_idle() { [ "$(sinfo -h -p spot -t idle -o %D 2>/dev/null)" = "$CLUSTER_NODES" ]; }

cluster_lay_cables() {
  local node number=0 bridge="fs$CLUSTER_ID"
  ip link add "$bridge" type bridge || return 1
  ip address add "$CLUSTER_HEAD/24" dev "$bridge"
  ip link set "$bridge" up
  for node in $(cluster_nodes); do
    number=$((number + 1))
    ip netns add "$(cluster_netns "$node")"
    ip link add "$bridge-$node" type veth peer name eth0 netns "$(cluster_netns "$node")"
    ip link set "$bridge-$node" master "$bridge" up
    cluster_at "$node" ip address add "10.79.0.$((10 + number))/24" dev eth0
    cluster_at "$node" ip link set eth0 up
    cluster_at "$node" ip link set lo up
  done
}
cluster_pull_cable() { ip link set "fs$CLUSTER_ID-$1" down; }
cluster_plug_cable() { ip link set "fs$CLUSTER_ID-$1" up; }

# cluster_up [NODES] [GPUS]: returns when every node is idle.
cluster_up() {
  export CLUSTER CLUSTER_NODES=${1:-4} CLUSTER_GPUS=${2:-2} CLUSTER_ID=$BASHPID
  export SLURM_CONF=$CLUSTER/etc/slurm.conf
  mkdir -p "$CLUSTER"/{etc,run,log,spool/controller}
  chmod 755 "$CLUSTER" "$CLUSTER"/{etc,run,log,spool}
  if [ "${CLUSTER_HOSTS:-0}" = 1 ]; then cluster_lay_cables || return 1; fi
  cluster_write_conf >"$SLURM_CONF"
  cluster_write_gpus >"$CLUSTER/etc/gres.conf"
  (umask 077 && head -c 128 /dev/urandom >"$CLUSTER/etc/munge.key")
  cluster_start munged munged --foreground --force --num-threads=2 \
    --key-file="$CLUSTER/etc/munge.key" --socket="$CLUSTER/run/munge.sock" \
    --pid-file="$CLUSTER/run/munged.own.pid" --log-file="$CLUSTER/log/munged.log" \
    --seed-file="$CLUSTER/run/munge.seed"
  wait_for 10 test -S "$CLUSTER/run/munge.sock" || return 1
  if [ -n "${CLUSTER_ACCOUNTS:-}" ]; then accounts_start || return 1; fi
  cluster_start_controller
  local node
  for node in $(cluster_nodes); do cluster_start_node "$node"; done
  wait_for 30 cluster_is_idle
}

# The processes that run on a node: those of jobs, which know its name by their
# environment, and Slurm's own above them, which outlive slurmd by design.
cluster_pids() {
  python3 - "$1" "$SLURM_CONF" <<'END'
import os, sys
node, conf = (f"{key}={value}".encode() for key, value in
              zip(("SLURMD_NODENAME", "SLURM_CONF"), sys.argv[1:]))
found = set()
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            if not {node, conf} <= set(file.read().split(b"\0")):
                continue
        found.add(pid)
        with open(f"/proc/{pid}/stat") as file:
            parent = file.read().rpartition(")")[2].split()[1]
        with open(f"/proc/{parent}/comm") as file:
            if file.read().startswith("slurmstepd"):
                found.add(parent)
    except OSError:
        pass  # it has just ended
print(*found)
END
}

# cluster_kill NAME: a program of Slurm, with SIGKILL.
cluster_kill() {
  kill -KILL "$(cat "$CLUSTER/run/$1.pid")" 2>/dev/null || true
  wait "$(cat "$CLUSTER/run/$1.pid")" 2>/dev/null || true
}

# As if its power were gone: slurmd, Slurm's helpers, jobs and all they started.
cluster_kill_node() {
  local pids
  cluster_kill "slurmd-$1"
  pids=$(cluster_pids "$1")
  # shellcheck disable=SC2086  # one word for each process
  [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
}

cluster_down() {
  [ -d "$CLUSTER/run" ] || return 0
  local node name
  timeout 10 scancel --me 2>/dev/null || true
  wait_for 15 cluster_has_no_step || true
  for node in $(cluster_nodes); do cluster_kill_node "$node"; done
  for name in slurmctld slurmdbd mariadbd munged; do
    [ ! -e "$CLUSTER/run/$name.pid" ] || cluster_kill "$name"
  done
  [ "${CLUSTER_HOSTS:-0}" = 0 ] || cluster_remove_cables
  if [ "${CLUSTER_KEEP:-0}" = 0 ]; then rm -rf "$CLUSTER"; fi
}
cluster_has_no_step() {
  local node
  for node in $(cluster_nodes); do [ -z "$(cluster_pids "$node")" ] || return 1; done
}
cluster_remove_cables() {
  local node
  for node in $(cluster_nodes); do
    ip netns del "$(cluster_netns "$node")" 2>/dev/null || true
  done
  ip link del "fs$CLUSTER_ID" 2>/dev/null || true
}

# cluster_job ID FIELD: of `scontrol show job`; of an array's task ID_TASK.
cluster_job() {
  scontrol -o show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}
