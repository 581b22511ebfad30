#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifests_test.py PROGRAMS

Renders every overlay of deploy/kubernetes and holds it against the programs'
flags, against itself and against published types; then plants mistakes, of which
each must be found."""
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "style"))

from totals import run_and_count  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
try:
    import manifests
except ModuleNotFoundError as error:
    if error.name != "yaml":
        raise
    print(f"{'FAILED' if os.environ.get('CI') else 'SKIPPED'}: no PyYAML: "
          "run ./dev setup deploy")
    print(f"0 passed, {int(bool(os.environ.get('CI')))} failed, "
          f"{int(not os.environ.get('CI'))} skipped")
    sys.exit(int(bool(os.environ.get("CI"))))
import crds  # noqa: E402
import typed  # noqa: E402

RENDERED = {name: manifests.by_hand(manifests.FOLDER / "overlays" / name)
            for name in manifests.OVERLAYS}


def lacks(what):
    """Decorates a test that needs it; in CI it has to be there."""
    return unittest.skipIf(what and not os.environ.get("CI"), str(what))


def without(tool):
    return lacks(None if shutil.which(tool) else f"there is no {tool}")


def program_flags():
    return {name: manifests.flags_of(subprocess.run(
        [PROGRAMS / name, "--help"], capture_output=True, text=True,
        check=True).stdout) for name in manifests.PROGRAMS}


def planted(overlay, kind, change):
    """The overlay's objects with one spoilt: the first of that kind, which may
    be followed by a name."""
    items = copy.deepcopy(RENDERED[overlay])
    kind, _, name = kind.partition(" ")
    spoilt = next(item for item in items if item["kind"] == kind
                  and item["metadata"]["name"].endswith(name))
    change(spoilt)
    return items, spoilt


def pod(item):
    spec = item["spec"]
    return spec.get("template", spec.get("jobTargetRef", {}).get("template"))[
        "spec"]


def container(item):
    return pod(item)["containers"][0]


def put(value, *path):
    """A change: the value at a path of keys."""
    def change(item):
        for key in path[:-1]:
            item = item[key]
        item[path[-1]] = value
    return change


def argue(old, new):
    """A change: an argument of the first container."""
    def change(item):
        arguments = container(item)["args"]
        arguments[arguments.index(old)] = new
    return change


def rename(old, new):
    """A change: a key of the first container's liveness probe."""
    def change(item):
        probe = container(item)["livenessProbe"]
        probe[new] = probe.pop(old)
    return change


TEMPLATE = ("spec", "template", "spec")
JOB = ("spec", "jobTargetRef")
JOB_POD = (*JOB, "template", "spec")
METADATA = ("spec", "triggers", 0, "metadata")

# what is wrong: overlay, kind, change, the check that finds it
MISTAKES = {
    "a label that the selector lacks": (
        "sqlite", "StatefulSet",
        put("x", "spec", "template", "metadata", "labels",
            "app.kubernetes.io/name"), "selectors_find_pods"),
    "a Service of nobody": (
        "sqlite", "Service",
        put("x", "spec", "selector", "app.kubernetes.io/name"),
        "selectors_find_pods"),
    "a monitor of a port that no pod has": (
        "monitoring", "PodMonitor",
        put("metrics", "spec", "podMetricsEndpoints", 0, "port"),
        "ports_agree"),
    "a monitor of nobody": (
        "monitoring", "PodMonitor",
        put("x", "spec", "selector", "matchLabels", "app.kubernetes.io/name"),
        "selectors_find_pods"),
    "a monitor of another job": (
        "monitoring", "PodMonitor", put("app.kubernetes.io/name", "spec",
                                        "jobLabel"), "watched_as_elsewhere"),
    "an alert that promtool never saw": (
        "monitoring", "PrometheusRule",
        put("up == 1", "spec", "groups", 0, "rules", 0, "expr"),
        "watched_as_elsewhere"),
    "a budget of nobody": (
        "sqlite", "PodDisruptionBudget",
        put("x", "spec", "selector", "matchLabels", "app.kubernetes.io/name"),
        "selectors_find_pods"),
    "a probe of another port": (
        "sqlite", "StatefulSet",
        put(7443, *TEMPLATE, "containers", 0, "livenessProbe", "grpc", "port"),
        "ports_agree"),
    "a port that nobody listens to": (
        "sqlite", "StatefulSet",
        put(7444, *TEMPLATE, "containers", 0, "ports", 0, "containerPort"),
        "ports_agree"),
    "a coordinator that listens elsewhere": (
        "sqlite", "StatefulSet",
        argue("--listen=0.0.0.0:7443", "--listen=0.0.0.0:7070"),
        "ports_agree"),
    "a worker that calls another port": (
        "keda", "ScaledJob",
        argue("--connect=frostline-coordinator:7443",
              "--connect=frostline-coordinator:7070"), "ports_agree"),
    "a trigger that asks another namespace": (
        "keda", "ScaledJob",
        put("frostline-coordinator.default.svc:7443", *METADATA,
            "scalerAddress"), "ports_agree"),
    "a policy of another port": (
        "keda", "NetworkPolicy",
        put([{"ports": [{"port": 7070}]}], "spec", "ingress"), "ports_agree"),
    "a Secret that nobody makes": (
        "keda", "ScaledJob",
        put({"secretName": "frostline-tokens"}, *JOB_POD, "volumes", 5,
            "secret"), "secrets_are_there"),
    "a key that no Secret has": (
        "keda", "TriggerAuthentication",
        put("cert.pem", "spec", "secretTargetRef", 0, "key"),
        "secrets_are_there"),
    "an issuer that is not there": (
        "keda", "Certificate", put("x", "spec", "issuerRef", "name"),
        "secrets_are_there"),
    "a file in no volume": (
        "sqlite", "StatefulSet",
        argue("--tls-key=/etc/frostline/tls/tls.key",
              "--tls-key=/etc/frostline/key/tls.key"), "files_are_mounted"),
    "a file that the Secret lacks": (
        "sqlite", "StatefulSet",
        argue("--tls-key=/etc/frostline/tls/tls.key",
              "--tls-key=/etc/frostline/tls/key.pem"), "files_are_mounted"),
    "a volume that is not mounted": (
        "sqlite", "StatefulSet worker",
        put([], *TEMPLATE, "containers", 0, "volumeMounts"),
        "files_are_mounted"),
    "a root file system that is written": (
        "sqlite", "StatefulSet worker",
        put(False, *TEMPLATE, "containers", 0, "securityContext",
            "readOnlyRootFilesystem"), "pods_are_confined"),
    "a token for a worker": (
        "keda", "ScaledJob",
        put(True, *JOB_POD, "automountServiceAccountToken"),
        "pods_are_confined"),
    "a kubelet that does not wait": (
        "keda", "ScaledJob", put(30, *JOB_POD, "terminationGracePeriodSeconds"),
        "pods_are_confined"),
    "75 that counts as a failure": (
        "keda", "ScaledJob",
        put([74], *JOB, "podFailurePolicy", "rules", 1, "onExitCodes",
            "values"), "exit_codes_are_ours"),
    "a policy that restarts in the pod": (
        "keda", "ScaledJob", put("OnFailure", *JOB_POD, "restartPolicy"),
        "exit_codes_are_ours"),
    "another number of slots": (
        "keda", "ScaledJob", put("4", *METADATA, "slots"),
        "triggers_fit_their_workers"),
    "another strategy": (
        "keda", "ScaledJob",
        put("default", "spec", "scalingStrategy", "strategy"),
        "triggers_fit_their_workers"),
    "a host without a certificate": (
        "keda", "ScaledJob",
        put("frostline-coordinator.frostline.svc.example:7443", *METADATA,
            "scalerAddress"), "names_are_certified"),
    "a namespace that is open": (
        "keda", "NetworkPolicy", put(["Ingress"], "spec", "policyTypes"),
        "is_denied_by_default"),
}

# what is wrong: overlay, kind, change; the types know
MISSPELT = {
    "grcp in a probe": ("sqlite", "StatefulSet", rename("grpc", "grcp")),
    "minReplicaCounts": ("keda", "ScaledJob", put(1, "spec",
                                                  "minReplicaCounts")),
    "a number for a text": ("keda", "ScaledJob", put(1, *METADATA, "slots")),
    "an unknown key of a container": (
        "keda", "ScaledJob", put("x", *JOB_POD, "containers", 0, "arg")),
    "a key at the wrong height": (
        "sqlite", "StatefulSet", put(60, "terminationGracePeriodSeconds")),
    "a replica as text": ("sqlite", "StatefulSet worker", put("2", "spec",
                                                      "replicas")),
    "an issuer without a name": (
        "keda", "Certificate", lambda item: item["spec"]["issuerRef"].pop(
            "name")),
    "an alert's expression misspelt": (
        "monitoring", "PrometheusRule",
        put("up == 0", "spec", "groups", 0, "rules", 0, "expression")),
    "a policy's type misspelt": ("sqlite", "NetworkPolicy",
                                 put([], "spec", "policyType")),
}


class Manifests(unittest.TestCase):
    def test_every_overlay_holds_together(self):
        for name, items in RENDERED.items():
            with self.subTest(name):
                self.assertEqual(manifests.findings(items), [])

    def test_every_flag_is_one_of_the_program(self):
        known = program_flags()
        for name, items in RENDERED.items():
            with self.subTest(name):
                self.assertEqual(list(manifests.flags_exist(items, known)), [])

    def test_an_unknown_flag_and_an_unknown_program_are_found(self):
        known = program_flags()
        for change in (argue("--stop-grace=45s", "--stop-grase=45s"),
                       put(["frostline-agent"], *TEMPLATE, "containers", 0,
                           "command")):
            items, _ = planted("sqlite", "StatefulSet worker", change)
            self.assertEqual(len(list(manifests.flags_exist(items, known))), 1)

    def test_every_planted_mistake_is_found_by_its_check(self):
        for what, (overlay, kind, change, check) in MISTAKES.items():
            with self.subTest(what):
                items, _ = planted(overlay, kind, change)
                self.assertNotEqual(
                    list(getattr(manifests, check)(items)), [])

    def test_workers_of_every_fleet_are_confined_alike(self):
        fixed, elastic = (copy.deepcopy(pod(item)) for item in (
            next(one for one in RENDERED[name] if one["kind"] == kind
                 and one["metadata"]["name"] == "frostline-worker")
            for name, kind in (("sqlite", "StatefulSet"),
                               ("keda", "ScaledJob"))))
        # What differs: how it gets in, where its runs lie, and when it ends.
        for spec in (fixed, elastic):
            for key in ("args", "env", "volumeMounts"):
                spec["containers"][0].pop(key, None)
            spec.pop("volumes")
        self.assertEqual(elastic.pop("restartPolicy"), "Never")
        elastic.pop("tolerations")
        limits = elastic["containers"][0]["resources"]["limits"]
        self.assertEqual(limits.pop("nvidia.com/gpu"), 1)
        self.assertEqual(elastic, fixed)

    @without("kubectl")
    def test_kubectl_renders_what_we_do(self):
        for name, items in RENDERED.items():
            with self.subTest(name):
                self.assertEqual(
                    {manifests.key_of(item): item
                     for item in manifests.by_kubectl(name)},
                    {manifests.key_of(item): item for item in items})

    @without("kubectl")
    def test_the_pages_own_folder_has_its_images(self):
        page = manifests.FOLDER.parents[1] / "docs/how-to/kubernetes.md"
        block, = re.findall(r"```yaml\n(# kustomization.yaml\n.*?)```",
                            page.read_text(), re.DOTALL)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "kustomization.yaml").write_text(block)
            shutil.copytree(manifests.FOLDER,
                            folder / "frostline/deploy/kubernetes")
            items = manifests.by_kubectl(folder)
        self.assertEqual(
            {one["image"] for one in manifests.containers(items)},
            {f"registry.example/frostline-{name}:0.1"
             for name in ("coordinator", "worker")})

    def test_images_are_parameters(self):
        for name, items in RENDERED.items():
            with self.subTest(name):
                images = {one["image"] for one in manifests.containers(items)}
                self.assertEqual(images, {"frostline-coordinator:latest",
                                          "frostline-worker:latest"})

    @without("yamllint")
    def test_yamllint_has_nothing_to_say(self):
        done = subprocess.run(
            ["yamllint", "--strict", "-c", HERE / "yamllint.yaml",
             manifests.FOLDER], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


@lacks(typed.missing())
class Types(unittest.TestCase):
    def test_every_object_has_its_type_and_is_of_it(self):
        all_items = {(manifests.key_of(item), name): item
                     for name, items in RENDERED.items() for item in items}
        untyped = {item["apiVersion"].split("/")[0]
                   for item in all_items.values() if not typed.has_types(item)}
        self.assertEqual(untyped, {"kueue.x-k8s.io"})  # none is published
        known = {name: item for name, item in all_items.items()
                 if typed.has_types(item)}
        said = typed.complaints(list(known.values()))
        self.assertEqual({name: lines for name, lines in zip(known, said)
                          if lines}, {})

    def test_every_misspelt_object_is_found(self):
        spoilt = [planted(*row)[1] for row in MISSPELT.values()]
        for what, lines in zip(MISSPELT, typed.complaints(spoilt)):
            with self.subTest(what):
                self.assertNotEqual(lines, [])


@lacks(crds.missing())
class Definitions(unittest.TestCase):
    def test_objects_of_keda_and_cert_manager_are_as_these_define_them(self):
        known = set(crds.schemas())
        items = [item for name in ("keda", "kueue") for item in RENDERED[name]
                 if (item["apiVersion"], item["kind"]) in known]
        self.assertEqual({item["kind"] for item in items},
                         {"ScaledJob", "TriggerAuthentication", "Issuer",
                          "Certificate"})
        self.assertEqual([lines for lines in crds.complaints(items) if lines],
                         [])

    def test_every_misspelt_object_is_found(self):
        rows = {what: row for what, row in MISSPELT.items()
                if row[1] in ("ScaledJob", "Certificate")}
        spoilt = [planted(*row)[1] for row in rows.values()]
        for what, lines in zip(rows, crds.complaints(spoilt)):
            with self.subTest(what):
                self.assertNotEqual(lines, [])


if __name__ == "__main__":
    sys.exit(run_and_count())
