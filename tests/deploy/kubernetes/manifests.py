# SPDX-License-Identifier: Apache-2.0
"""Overlays of deploy/kubernetes as the objects that a cluster would get, and
what holds between them. Every check is a function from objects to findings."""
import pathlib
import re
import shutil
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "deploy" / "kubernetes"
RULES = ROOT / "deploy" / "monitoring" / "frostline.rules.yaml"
OVERLAYS = sorted(path.name for path in (FOLDER / "overlays").iterdir())

# What an operator brings (docs/how-to/kubernetes.md): Secrets with their keys,
# and claims.
BROUGHT_SECRETS = {"frostline-worker-token": {"token"},
                   "frostline-coordinator-tls": {"tls.crt", "tls.key",
                                                 "ca.crt", "ca.key"},
                   "frostline-join": {"$(POD_NAME)"}}
BROUGHT_CLAIMS = {"frostline-registry"}
CERTIFICATE_KEYS = {"tls.crt", "tls.key", "ca.crt"}
PROGRAMS = {"frostline-coordinator", "frostline-worker"}
# docs/reference/exit-codes.md
REQUEUE = 75
WRONG = {2, 4, 100}


def files():
    return sorted(FOLDER.rglob("*.yaml"))


def load(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


# --- rendering ---

def by_kubectl(overlay):
    """Of an overlay, or a folder elsewhere. None where there is no kubectl."""
    if not shutil.which("kubectl"):
        return None
    done = subprocess.run(["kubectl", "kustomize", FOLDER / "overlays" / overlay],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def key_of(item):
    return item["kind"], item["metadata"]["name"]


def merged(old, new):
    """A strategic merge, as far as our patches go: maps are merged, and lists
    whose items have names."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value)
                          for key, value in new.items()}}
    named = all(isinstance(one, list) and all(
        isinstance(item, dict) and "name" in item for item in one)
        for one in (old, new))
    if not named:
        return new
    names = {item["name"]: item for item in old}
    for item in new:
        names[item["name"]] = merged(names.get(item["name"]), item)
    return list(names.values())


def containers(item):
    """Every container below, wherever a pod's template is."""
    if isinstance(item, dict):
        for key, value in item.items():
            if key in ("containers", "initContainers"):
                yield from value
            else:
                yield from containers(value)
    elif isinstance(item, list):
        for value in item:
            yield from containers(value)


KNOWN_KEYS = {"apiVersion", "kind", "bases", "resources", "images",
              "patchesStrategicMerge"}


def by_hand(folder):
    """The same without kubectl, of the few words of Kustomize that we use."""
    custom, = load(folder / "kustomization.yaml")
    unknown = set(custom) - KNOWN_KEYS
    if unknown:
        raise RuntimeError(f"{folder.name}: no {unknown} in our dialect")
    items = {}
    for base in custom.get("bases", []):
        for item in by_hand((folder / base).resolve()):
            items[key_of(item)] = item
    for name in custom.get("resources", []):
        for item in load(folder / name):
            if key_of(item) in items:
                raise RuntimeError(f"{key_of(item)} is there twice")
            items[key_of(item)] = item
    for name in custom.get("patchesStrategicMerge", []):
        for patch in load(folder / name):
            items[key_of(patch)] = merged(items[key_of(patch)], patch)
    for image in custom.get("images", []):
        for container in containers(list(items.values())):
            if container["image"].split(":")[0] == image["name"]:
                container["image"] = f"{image['newName']}:{image['newTag']}"
    return list(items.values())


# --- what holds between objects ---

def templates(items):
    """(owner, its selector or None, labels, spec) of every pod's template."""
    for item in items:
        spec = item.get("spec", {})
        template = spec.get("template") or spec.get("jobTargetRef", {}).get(
            "template")
        if template:
            selector = spec.get("selector", {}).get("matchLabels")
            yield item, selector, template["metadata"]["labels"], template["spec"]


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def selectors_find_pods(items):
    """A selector in a Service, a workload, a budget or a policy finds a pod."""
    pods = [labels for _, _, labels, _ in templates(items)]
    services = {item["metadata"]["name"] for item in items
                if item["kind"] == "Service"}
    for owner, selector, labels, _ in templates(items):
        if owner["spec"].get("serviceName", "") not in services | {""}:
            yield f"{key_of(owner)}: its Service is not there"
        if selector is not None and not selects(selector, labels):
            yield f"{key_of(owner)}: its selector is not its pods'"
    for item in items:
        spec = item.get("spec", {})
        asked = []
        if item["kind"] == "Service":
            asked.append(spec["selector"])
        elif item["kind"] in ("PodDisruptionBudget", "PodMonitor"):
            asked.append(spec["selector"]["matchLabels"])
        elif item["kind"] == "NetworkPolicy":
            asked.append(spec["podSelector"].get("matchLabels", {}))
            peers = [peer for rule in spec.get("ingress", []) + spec.get(
                "egress", []) for peer in rule.get("from", rule.get("to", []))]
            asked += [peer["podSelector"]["matchLabels"] for peer in peers
                      if "podSelector" in peer
                      and "namespaceSelector" not in peer]
        for selector in asked:
            if not any(selects(selector, labels) for labels in pods):
                yield f"{key_of(item)}: no pod has {selector}"


def value_of(container, flag):
    """Its values: `--listen` may be there twice."""
    return [one.split("=", 1)[1] for one in container.get("args", [])
            if one.split("=", 1)[0] == flag]


def port_of(address):
    return int(address.rsplit(":", 1)[1])


def ports_agree(items):
    """What is listened to, what is declared, what probes and Services ask, and
    what policies let through are the same ports."""
    services = {item["metadata"]["name"]: item for item in items
                if item["kind"] == "Service"}
    open_ports, coordinators = set(), []
    for owner, _, _, spec in templates(items):
        for one in spec["containers"]:
            declared = {port["name"]: port["containerPort"]
                        for port in one.get("ports", [])}
            listens = {port_of(at) for at in value_of(one, "--listen")
                       if not at.startswith("127.")}
            probed = {port_of(at) for at in value_of(one, "--health-listen")}
            if set(declared.values()) - listens - probed:
                yield f"{key_of(owner)}: declares a port nobody listens to"
            if (listens | probed) - set(declared.values()):
                yield f"{key_of(owner)}: listens to a port it does not declare"
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if probe in one and one[probe]["grpc"]["port"] not in probed:
                    yield f"{key_of(owner)}: {probe} asks another port"
            if listens:
                coordinators.append(declared)
                open_ports |= listens
    for name, service in services.items():
        for port in service["spec"].get("ports", []):
            if not any(port["targetPort"] in declared
                       for declared in coordinators):
                yield f"{name}: no pod has the port {port['targetPort']}"
    for item in items:
        for endpoint in item.get("spec", {}).get("podMetricsEndpoints", []):
            if not any(endpoint["port"] in declared
                       for declared in coordinators):
                yield f"{key_of(item)}: no pod has the port {endpoint['port']}"
    reached = {port["port"] for name, service in services.items()
               for port in service["spec"].get("ports", [])}
    for owner, _, _, spec in templates(items):
        for one in spec["containers"]:
            for address in value_of(one, "--connect"):
                host = address.split(":")[0].split(".")[0]
                if host not in services or port_of(address) not in reached:
                    yield f"{key_of(owner)}: nothing is at {address}"
    for item in items:
        for trigger in item.get("spec", {}).get("triggers", []):
            address = trigger["metadata"].get("scalerAddress", "x:0")
            host = address.split(":")[0].split(".")
            if (host[0] not in services or port_of(address) not in reached
                    or host[1] != item["metadata"]["namespace"]):
                yield f"{key_of(item)}: nothing is at {address}"
        if item["kind"] == "NetworkPolicy":
            spec = item["spec"]
            ours = [port["port"] for rule in spec.get("ingress", [])
                    for port in rule["ports"]]
            if set(ours) - open_ports - {
                    port for one in coordinators for port in one.values()}:
                yield f"{key_of(item)}: lets in at {ours}"


def secrets_are_there(items):
    """A Secret that is mounted or read is made by a Certificate, or is one that
    the operator brings; so is the key; so is a claim."""
    made = {item["spec"]["secretName"]: CERTIFICATE_KEYS for item in items
            if item["kind"] == "Certificate"}
    known = {**BROUGHT_SECRETS, **made}
    issuers = {item["metadata"]["name"] for item in items
               if item["kind"] == "Issuer"}
    for item in items:
        if item["kind"] == "TriggerAuthentication":
            for ref in item["spec"]["secretTargetRef"]:
                if ref["key"] not in known.get(ref["name"], set()):
                    yield f"{key_of(item)}: no {ref['name']}/{ref['key']}"
        if item["kind"] == "Issuer" and "ca" in item["spec"]:
            if item["spec"]["ca"]["secretName"] not in known:
                yield f"{key_of(item)}: no such Secret"
        if item["kind"] == "Certificate":
            if item["spec"]["issuerRef"]["name"] not in issuers:
                yield f"{key_of(item)}: no such Issuer"
        for trigger in item.get("spec", {}).get("triggers", []):
            if not any(key_of(one) == ("TriggerAuthentication",
                                       trigger["authenticationRef"]["name"])
                       for one in items):
                yield f"{key_of(item)}: no such TriggerAuthentication"
    for owner, _, _, spec in templates(items):
        for volume in spec.get("volumes", []):
            secret = volume.get("secret", {})
            if secret:
                keys = known.get(secret["secretName"])
                if keys is None:
                    yield f"{key_of(owner)}: no Secret {secret['secretName']}"
                elif {one["key"] for one in secret.get("items", [])} - keys:
                    yield f"{key_of(owner)}: no such key in {secret}"
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if claim is not None and claim not in BROUGHT_CLAIMS:
                yield f"{key_of(owner)}: no claim {claim}"


def files_are_mounted(items):
    """A file that a flag names lies in a mounted volume, under a key of it; what
    is mounted is a volume of the pod."""
    for owner, _, _, spec in templates(items):
        volumes = {one["name"]: one for one in spec.get("volumes", [])}
        for claim in owner["spec"].get("volumeClaimTemplates", []):
            volumes[claim["metadata"]["name"]] = {}
        for one in spec["containers"]:
            mounts = {mount["mountPath"]: mount["name"]
                      for mount in one.get("volumeMounts", [])}
            for name in set(volumes) ^ set(mounts.values()):
                yield f"{key_of(owner)}: {name} is not both volume and mount"
            for argument in one.get("args", []):
                flag, _, path = argument.partition("=")
                if not path.startswith("/"):
                    continue
                at = next((mount for mount in mounts
                           if path == mount or path.startswith(mount + "/")),
                          None)
                if at is None:
                    yield f"{key_of(owner)}: {flag} is in no volume"
                    continue
                secret = volumes.get(mounts[at], {}).get("secret")
                if secret and pathlib.Path(path).name not in {
                        entry["key"] for entry in secret.get("items", [])} | (
                        set() if "items" in secret else BROUGHT_SECRETS.get(
                            secret["secretName"], CERTIFICATE_KEYS)):
                    yield f"{key_of(owner)}: {flag} is in no Secret's key"


def flags_of(help_text):
    """Each flag of a program's --help."""
    return set(re.findall(r"^\s*(--[a-z0-9-]+)", help_text, re.MULTILINE))


def flags_exist(items, known):
    """`known` has the flags of each program."""
    for owner, _, _, spec in templates(items):
        for one in spec["containers"]:
            program, = one["command"]
            if program not in known:
                yield f"{key_of(owner)}: {program} is no program"
                continue
            for argument in one.get("args", []):
                if argument.split("=")[0] not in known[program]:
                    yield f"{key_of(owner)}: {program} has no {argument}"


def pods_are_confined(items):
    """Nobody is root, writes to the image, gains rights or gets a token."""
    for owner, _, _, spec in templates(items):
        pod = spec.get("securityContext", {})
        if not (pod.get("runAsNonRoot") is True and pod.get("runAsUser", 0) > 0
                and pod.get("seccompProfile") == {"type": "RuntimeDefault"}):
            yield f"{key_of(owner)}: its pods may be root, or are not confined"
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{key_of(owner)}: its pods get a token"
        if not spec.get("serviceAccountName"):
            yield f"{key_of(owner)}: its pods have no account of their own"
        if not spec.get("terminationGracePeriodSeconds"):
            yield f"{key_of(owner)}: its pods have no grace period"
        for one in spec["containers"]:
            context = one.get("securityContext", {})
            if not (context.get("readOnlyRootFilesystem") is True
                    and context.get("allowPrivilegeEscalation") is False
                    and context.get("capabilities") == {"drop": ["ALL"]}):
                yield f"{key_of(owner)}: {one['name']} is not confined"
            grace = value_of(one, "--stop-grace")
            if grace and int(grace[0].rstrip("s")) + 10 > spec[
                    "terminationGracePeriodSeconds"]:
                yield f"{key_of(owner)}: the kubelet kills before {grace}"


def exit_codes_are_ours(items):
    """75 and a disruption cost a Job nothing; what cannot mend itself ends it."""
    for item in items:
        job = item.get("spec", {}).get("jobTargetRef")
        if job is None:
            continue
        spec = job["template"]["spec"]
        if spec.get("restartPolicy") != "Never":
            yield f"{key_of(item)}: a policy of failures asks for Never"
        actions, names = {}, {one["name"] for one in spec["containers"]}
        for rule in job.get("podFailurePolicy", {}).get("rules", []):
            if "onPodConditions" in rule:
                actions[rule["onPodConditions"][0]["type"]] = rule["action"]
                continue
            if rule["onExitCodes"]["containerName"] not in names:
                yield f"{key_of(item)}: the policy is of another container"
            for code in rule["onExitCodes"]["values"]:
                actions[code] = rule["action"]
        if actions != {"DisruptionTarget": "Ignore", REQUEUE: "Ignore",
                       **dict.fromkeys(WRONG, "FailJob")}:
            yield f"{key_of(item)}: {actions}"


def triggers_fit_their_workers(items):
    """The trigger says of slots and labels what the workers are started with."""
    for item in items:
        for trigger in item.get("spec", {}).get("triggers", []):
            worker, = item["spec"]["jobTargetRef"]["template"]["spec"][
                "containers"]
            told = trigger["metadata"]
            slots, = value_of(worker, "--slots") or ["1"]
            if slots == "gpu":
                slots = str(worker["resources"]["limits"].get("nvidia.com/gpu"))
            if told.get("slots", "1") != slots:
                yield f"{key_of(item)}: slots are not --slots"
            labels = ",".join(sorted(value_of(worker, "--label")))
            if ",".join(sorted(filter(None, told.get("labels", "").split(
                    ",")))) != labels:
                yield f"{key_of(item)}: labels are not --label"
            if item["spec"]["scalingStrategy"]["strategy"] != "accurate":
                yield f"{key_of(item)}: the metric is for `accurate`"


def names_are_certified(items):
    """The certificate names every host by which the coordinator is called."""
    for item in items:
        if item["kind"] != "Certificate" or "dnsNames" not in item["spec"]:
            continue
        called = {value.split(":")[0] for _, _, _, spec in templates(items)
                  for one in spec["containers"]
                  for value in value_of(one, "--connect")}
        called |= {trigger["metadata"]["scalerAddress"].split(":")[0]
                   for one in items
                   for trigger in one.get("spec", {}).get("triggers", [])}
        if called - set(item["spec"]["dnsNames"]):
            yield f"{key_of(item)}: not for {called}"


def is_denied_by_default(items):
    if not any(item["kind"] == "NetworkPolicy"
               and item["spec"]["podSelector"] == {}
               and set(item["spec"]["policyTypes"]) == {"Ingress", "Egress"}
               and not set(item["spec"]) & {"ingress", "egress"}
               for item in items):
        yield "no policy denies what no other allows"


def watched_as_elsewhere(items):
    """Alerts are those that promtool tests, of the job that a monitor gives its
    pods."""
    tested = yaml.safe_load(RULES.read_text())
    jobs = set(re.findall(r'job="(\w+)"', RULES.read_text()))
    for item in items:
        if item["kind"] == "PrometheusRule" and item["spec"] != tested:
            yield f"{key_of(item)}: is not {RULES.name}"
        if item["kind"] != "PodMonitor":
            continue
        for owner, _, labels, _ in templates(items):
            if not selects(item["spec"]["selector"]["matchLabels"], labels):
                continue
            if {labels.get(item["spec"].get("jobLabel"))} != jobs:
                yield f"{key_of(owner)}: its job is none of {jobs}"


CHECKS = (selectors_find_pods, ports_agree, secrets_are_there,
          files_are_mounted, pods_are_confined, exit_codes_are_ours,
          triggers_fit_their_workers, names_are_certified,
          is_denied_by_default, watched_as_elsewhere)


def findings(items):
    return [finding for check in CHECKS for finding in check(items)]
