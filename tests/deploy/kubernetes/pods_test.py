#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pods_test.py PROGRAMS

Runs containers of rendered overlays as a kubelet would start them: in a network
of their own, on a root that is read-only but for the mounted volumes, as the
user and group of the manifest, without capabilities, with Secrets as a kubelet
mounts them. Command and arguments are those of the manifest. Needs root; without
it, or without what `./dev setup deploy` installs, all is skipped, but never in CI."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "clients"), str(HERE.parents[1] / "style")]

from totals import run_and_count  # noqa: E402
from world import missing, wheels  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
PATIENCE = 60  # s, after which something hangs
BOUND = ("usr", "bin", "sbin", "lib", "lib64", "proc", "dev", "sys")
# Here there are no GPUs, and no registry.
ON_THE_PROCESSOR = {"--slots=gpu": "--slots=1", "--registry=/srv/registry":
                    "--exec=frostline-demo-trainer"}
PAGE = HERE.parents[2] / "docs/how-to/kubernetes.md"
# What the page's commands are run with. Secrets are made by the real kubectl,
# which asks no cluster for that; the pod's own commands run beside it.
KUBECTL = """#!/bin/sh
set -e
[ "$1 $2" != "-n frostline" ] || shift 2
case "$1 $2" in
  "create secret") exec "$KUBECTL" "$@" --dry-run=client -o json >"made-$4.json" ;;
  "create namespace") exec "$KUBECTL" "$@" --dry-run=client -o name ;;
  "apply -k")
    "$KUBECTL" kustomize "$3" >/dev/null
    touch applied
    until [ -e runs ]; do sleep 0.1; done ;;
  "exec frostline-coordinator-0") shift 3; exec "$@" ;;
  *) echo "kubectl $*: what is this?" >&2; exit 1 ;;
esac
"""
STUDY = """id: demo
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: 4
sampler: random
space:
  modules:
    "layer.*": [0, 1e-3, 1e-2]
"""


def put_secret(folder, files, group):
    """As a kubelet has it: links to a folder that is replaced as a whole; with
    fsGroup the group may read what belongs to root."""
    data = folder / "..2026_01_01"
    data.mkdir(parents=True)
    (folder / "..data").symlink_to(data.name)
    for name, text in files.items():
        (data / name).write_bytes(text)
        os.chown(data / name, 0, group)
        (data / name).chmod(0o440)
        (folder / name).symlink_to(f"..data/{name}")


class Pod:
    """One container of a pod's template, and its volumes."""

    def __init__(self, folder, item, secrets, replaced=None):
        spec = item["spec"].get("template") or item["spec"]["jobTargetRef"][
            "template"]
        self.spec, self.folder = spec["spec"], folder
        self.one, = self.spec["containers"]
        self.name = item["metadata"]["name"] + "-0"
        self.replaced = replaced or {}
        self.group = self.spec["securityContext"]["fsGroup"]
        self.root = folder / "root"
        self.process = None
        for name in (*BOUND, "etc", "opt"):
            (self.root / name).mkdir(parents=True)
        (self.root / "etc/hosts").write_text(
            "127.0.0.1 localhost frostline-coordinator "
            "frostline-coordinator.frostline.svc\n")
        claims = [one["metadata"]["name"]
                  for one in item["spec"].get("volumeClaimTemplates", [])]
        kinds = {one["name"]: one for one in self.spec.get("volumes", [])}
        for mount in self.one["volumeMounts"]:
            path = folder / "volumes" / mount["name"]
            kind = kinds.get(mount["name"], {})
            if "secret" in kind:
                chosen = {entry["key"] for entry in kind["secret"].get(
                    "items", [])}
                put_secret(path, {
                    key: text for key, text in secrets[
                        kind["secret"]["secretName"]].items()
                    if not chosen or key in chosen}, self.group)
            else:
                assert kind or mount["name"] in claims, mount
                path.mkdir(parents=True)
                os.chown(path, 0, self.group)
                path.chmod(0o2777 if "emptyDir" in kind else 0o2775)
            if mount["mountPath"] != "/dev/shm":
                (self.root / mount["mountPath"].lstrip("/")).mkdir(
                    parents=True, exist_ok=True)

    def start(self):
        """The container's process; its output is in `self.log`."""
        steps = ["set -e", f"mount --bind {self.root} {self.root}"]
        for name in BOUND:
            steps.append(f"mount --rbind /{name} {self.root}/{name}")
        steps.append(f"mount --bind {PROGRAMS} {self.root}/opt")
        steps.append(f"mount -o remount,ro,bind {self.root}")
        for mount in self.one["volumeMounts"]:
            at = f"{self.root}{mount['mountPath']}"
            steps.append(
                f"mount --bind {self.folder}/volumes/{mount['name']} {at}")
            if mount.get("readOnly"):
                steps.append(f"mount -o remount,ro,bind {at}")
        user = self.spec["securityContext"]
        steps.append(
            f"exec /usr/sbin/chroot {self.root} /usr/bin/setpriv --reuid "
            f"{user['runAsUser']} --regid {user['runAsGroup']} --groups "
            f"{self.group} --no-new-privs --bounding-set=-all --inh-caps=-all "
            '"$@"')
        arguments = [self.replaced.get(one, one).replace(
            "$(POD_NAME)", self.name) for one in self.one["args"]]
        self.log = self.folder / "log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", "\n".join(steps), "pod",
                 *self.one["command"], *arguments], stdout=log, stderr=log,
                env={"PATH": "/opt:/usr/bin:/bin", "POD_NAME": self.name,
                     "HOME": "/"})

    def wait(self):
        return self.process.wait(timeout=PATIENCE)

    def stop(self):
        """What it ends with after the kubelet's SIGTERM."""
        self.process.terminate()
        return self.process.wait(
            timeout=self.spec["terminationGracePeriodSeconds"])

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Pods(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.folder.chmod(0o755)
        self.frostline("tls", "init", "--host",
                       "frostline-coordinator.frostline.svc", "--host",
                       "frostline-coordinator")
        made = self.folder / "frostline-tls"
        self.secrets = {"frostline-coordinator-tls": {
            key: (made / name).read_bytes() for key, name in (
                ("tls.crt", "coordinator.crt"), ("tls.key", "coordinator.key"),
                ("ca.crt", "ca.crt"), ("ca.key", "ca.key"))}}

    def frostline(self, *arguments, check=True):
        return subprocess.run(
            [PROGRAMS / "frostline", *arguments], text=True, check=check,
            cwd=self.folder, stdout=subprocess.PIPE, timeout=PATIENCE,
            env={**os.environ, "FROSTLINE_CONNECT": "127.0.0.1:7070",
                 "HOME": str(self.folder)}).stdout

    def pod(self, overlay, kind, name, replaced=None):
        item, = (one for one in RENDERED[overlay]
                 if manifests.key_of(one) == (kind, name))
        folder = self.folder / f"{name}-{len(list(self.folder.iterdir()))}"
        pod = Pod(folder, item, self.secrets, replaced)
        self.addCleanup(pod.kill)
        return pod

    def coordinator(self, overlay):
        pod = self.pod(overlay, "StatefulSet", "frostline-coordinator")
        pod.start()
        self.until(pod, lambda: "health on" in pod.log.read_text())
        return pod

    def until(self, pod, is_so):
        end = time.monotonic() + PATIENCE
        while not is_so():
            if pod.process.poll() is not None or time.monotonic() > end:
                self.fail(f"ended with {pod.process.poll()}: "
                          f"{pod.log.read_text()}")
            time.sleep(0.05)

    def events(self, pod, name):
        return sum(name in line.split() for line in
                   pod.log.read_text().replace('"', " ").splitlines())

    def create(self, more=""):
        (self.folder / "study.yaml").write_text(STUDY + more)
        self.frostline("study", "create", "study.yaml")

    def search(self, worker):
        self.create()
        self.until(worker, lambda: json.loads(self.frostline(
            "study", "show", "demo", "--json"))["state"].endswith("COMPLETED"))

    def probe(self, pod, which):
        """What the kubelet would be answered."""
        asked = pod.one[which]["grpc"]
        name = asked.get("service", "").encode()
        with grpc.insecure_channel(f"127.0.0.1:{asked['port']}") as channel:
            return channel.unary_unary("/grpc.health.v1.Health/Check")(
                bytes([10, len(name)]) + name if name else b"",
                timeout=PATIENCE)

    def run_page(self, heading, overlay):
        """The commands below a heading of the page, in order; then the
        coordinator runs, and the Secrets are ours."""
        text = PAGE.read_text().split(f"## {heading}\n")[1]
        commands = text.split("```sh\n")[1].split("```")[0]
        here = self.folder / "page"
        here.mkdir()
        (here / "deploy").symlink_to(HERE.parents[2] / "deploy")
        (here / "kubectl").write_text(KUBECTL)
        (here / "kubectl").chmod(0o755)
        log = self.folder / "page.log"
        with open(log, "wb") as out:
            shell = subprocess.Popen(
                ["bash", "-ex", "-o", "pipefail", "-c", commands], cwd=here,
                stdout=out, stderr=out, env={
                    **os.environ, "HOME": str(here),
                    "KUBECTL": shutil.which("kubectl"),
                    "FROSTLINE_CONNECT": "127.0.0.1:7070",
                    "PATH": f"{here}:{PROGRAMS}:{os.environ['PATH']}"})
        self.addCleanup(shell.kill)
        end = time.monotonic() + PATIENCE
        while not (here / "applied").exists():
            self.assertIsNone(shell.poll(), log.read_text())
            self.assertLess(time.monotonic(), end, log.read_text())
            time.sleep(0.05)
        self.take_secrets(here)
        coordinator = self.coordinator(overlay)
        (here / "runs").touch()
        self.assertEqual(shell.wait(timeout=PATIENCE), 0, log.read_text())
        self.take_secrets(here)
        return coordinator

    def take_secrets(self, folder):
        for path in folder.glob("made-*.json"):
            made = json.loads(path.read_text())
            self.secrets[made["metadata"]["name"]] = {
                key: base64.b64decode(text)
                for key, text in made["data"].items()}

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is missing")
    def test_the_page_makes_the_secrets_of_a_fixed_fleet(self):
        self.run_page("With a fixed fleet", "sqlite")
        worker = self.pod("sqlite", "StatefulSet", "frostline-worker",
                          {"--registry=/srv/registry":
                           "--exec=frostline-demo-trainer"})
        worker.start()
        self.search(worker)
        self.assertEqual(self.events(worker, "joined"), 1)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is missing")
    def test_the_page_makes_the_secret_of_kedas_fleet(self):
        self.run_page("With KEDA", "keda")
        worker = self.pod("keda", "ScaledJob", "frostline-worker",
                          ON_THE_PROCESSOR)
        worker.start()
        self.search(worker)

    def test_the_fixed_fleet_joins_searches_and_comes_back(self):
        coordinator = self.coordinator("sqlite")
        for which in ("startupProbe", "livenessProbe", "readinessProbe"):
            self.assertEqual(self.probe(coordinator, which), b"\x08\x01")
        line = self.frostline("worker", "invite", "--id", "frostline-worker-0")
        self.secrets["frostline-join"] = {"frostline-worker-0": next(
            word for word in line.split() if word.startswith("frost_")
        ).encode()}
        worker = self.pod("sqlite", "StatefulSet", "frostline-worker",
                          {"--registry=/srv/registry":
                           "--exec=frostline-demo-trainer"})
        worker.start()
        self.search(worker)
        self.assertIn(worker.stop(), (0, manifests.REQUEUE))
        worker.start()  # the invitation is spent, the volume is the same
        self.until(worker, lambda: self.events(worker, "registered") == 2)
        self.assertEqual(self.events(worker, "joined"), 1)
        self.assertIn(worker.stop(), (0, manifests.REQUEUE))
        self.assertEqual(coordinator.stop(), 0)

    def test_a_job_shows_its_token_and_ends_when_it_is_idle(self):
        self.coordinator("keda")
        token = self.frostline("token", "create", "--role", "worker")
        self.secrets["frostline-worker-token"] = {"token": token.encode()}
        worker = self.pod("keda", "ScaledJob", "frostline-worker",
                          {**ON_THE_PROCESSOR,
                           "--idle-timeout=2m": "--idle-timeout=2s"})
        worker.start()
        self.search(worker)
        self.assertEqual(worker.wait(), 0)

    def test_an_eviction_in_mid_trial_ends_with_the_code_that_costs_nothing(
            self):
        self.coordinator("keda")
        token = self.frostline("token", "create", "--role", "worker")
        self.secrets["frostline-worker-token"] = {"token": token.encode()}
        worker = self.pod("keda", "ScaledJob", "frostline-worker",
                          ON_THE_PROCESSOR)
        worker.start()
        self.create("training: {extra: {seconds_per_epoch: 1}}\n")
        self.until(worker, lambda: self.events(worker, "trial_started") > 0)
        self.assertEqual(worker.stop(), manifests.REQUEUE)
        counts = json.loads(self.frostline("study", "show", "demo",
                                           "--json"))["counts"]
        self.assertEqual(int(counts.get("queued", 0)), 1)
        self.assertEqual(int(counts.get("running", 0)), 0)

    def test_what_no_second_try_mends_ends_with_a_code_of_the_policy(self):
        self.coordinator("keda")
        revoked = "frost_" + "0" * 16 + "_" + "0" * 64
        token = self.frostline("token", "create", "--role", "worker")
        for text, replaced in (
                (revoked, ON_THE_PROCESSOR),
                (token, {**ON_THE_PROCESSOR, "--slots=gpu": "--slots=none"}),
                (token, {"--slots=gpu": "--slots=1", "--registry=/srv/registry":
                         "--registry=/etc/frostline/ca"})):
            self.secrets["frostline-worker-token"] = {"token": text.encode()}
            worker = self.pod("keda", "ScaledJob", "frostline-worker", replaced)
            worker.start()
            with self.subTest(replaced):
                self.assertIn(worker.wait(), manifests.WRONG,
                              worker.log.read_text())

    def test_a_pod_without_its_gpu_says_so_and_fails_its_job(self):
        """It does not train on the processor of a GPU's node."""
        self.coordinator("keda")
        token = self.frostline("token", "create", "--role", "worker")
        self.secrets["frostline-worker-token"] = {"token": token.encode()}
        worker = self.pod("keda", "ScaledJob", "frostline-worker",
                          {"--registry=/srv/registry":
                           "--exec=frostline-demo-trainer"})
        worker.start()
        self.assertIn(worker.wait(), manifests.WRONG)
        self.assertIn("this node has no GPU to see", worker.log.read_text())

    def test_a_token_that_others_may_read_is_refused(self):
        self.coordinator("keda")
        token = self.frostline("token", "create", "--role", "worker")
        self.secrets["frostline-worker-token"] = {"token": token.encode()}
        worker = self.pod("keda", "ScaledJob", "frostline-worker",
                          ON_THE_PROCESSOR)
        (worker.folder / "volumes/token/token").chmod(0o444)
        worker.start()
        self.assertNotEqual(worker.wait(), 0)
        self.assertIn("others may read", worker.log.read_text())


def lacks():
    """What this machine lacks, or None."""
    for tool in ("unshare", "setpriv", "ip"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    if os.geteuid() != 0:
        return "this is not root"
    done = subprocess.run(["unshare", "--net", "--mount", "true"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return "there are no namespaces: " + done.stderr.strip()
    return missing("Python")


def main():
    lacking, in_ci = lacks(), bool(os.environ.get("CI"))
    if not lacking:
        return run_and_count()
    print(f"{'FAILED' if in_ci else 'SKIPPED'}: {lacking}")
    print(f"0 passed, {int(in_ci)} failed, {int(not in_ci)} skipped")
    return int(in_ci)


if __name__ == "__main__":
    if os.environ.get("FROSTLINE_OWN_NETWORK") is None and not lacks():
        os.execvpe("unshare", ["unshare", "--net", "sh", "-c",
                               'ip link set lo up && exec "$@"', "test",
                               sys.executable, "-B", *sys.argv],
                   {**os.environ, "FROSTLINE_OWN_NETWORK": "1"})
    sys.argv.pop(1)
    if not lacks():
        sys.path.insert(0, str(wheels()))
        import grpc
        import manifests
        RENDERED = {name: manifests.by_hand(
            manifests.FOLDER / "overlays" / name) for name in ("sqlite",
                                                               "keda")}
    sys.exit(main())
