# SPDX-License-Identifier: Apache-2.0
"""frostline-katib: our search as Kubeflow's suggestion service.

    frostline-katib --sampler levels-gp                    on 127.0.0.1:6789
    frostline-katib --listen 0.0.0.0:6789                  in a pod

It answers what Katib asks today and what OptimizationJob will ask (proto/grpc/kubeflow).
Each request tells the whole history, and so does each question to the coordinator, which
stores nothing: nothing is lost with this process, and the same request gets the same
points from another one. Why a trial failed decides what is learned from it: a point that
ran out of memory is avoided, a lost node says nothing of its point."""
from __future__ import annotations

import argparse
import concurrent.futures
import decimal
import hashlib
import math
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from . import errors
from ._spec import study_messages
from ._wire import contract, need
from .history import _names

REASON = "frostline.io/failure-reason"  # a label of Katib's trials
MOST = 256  # points of one request, as the coordinator has it
# What Kubernetes says of a container, of a pod that was taken away, of its node.
OUT_OF_MEMORY = frozenset({"OOMKilled", "OutOfMemory", "CUDAOutOfMemory"})
NODE_LOST = frozenset({
    "NodeLost", "NodeShutdown", "NodeNotReady", "Evicted", "Preempted", "Preempting",
    "Shutdown", "Terminated", "UnexpectedAdmissionError", "DisruptionTarget",
    "PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI",
    "DeletionByPodGC", "TerminationByKubelet"})
_SETTINGS = ("random_state", "purpose")  # of Katib's algorithm; the others are options


def failed_as(reason: str) -> str:
    """What is learned of a trial that failed: INFEASIBLE (its point cannot be trained),
    CANCELLED (nothing), FAILED (its script is to blame)."""
    if reason in OUT_OF_MEMORY:
        return "INFEASIBLE"
    return "CANCELLED" if reason in NODE_LOST else "FAILED"


@dataclass
class Parameter:
    """One of theirs: how it is searched here, and how its values are written there."""
    name: str
    domain: Any  # in the words of study files
    texts: Dict[Any, str] = field(default_factory=dict)  # of what has a list of values

    def text(self, value: Any) -> str:
        if self.texts:
            return self.texts[value]
        whole = isinstance(self.domain, dict) and "int" in self.domain
        return str(round(value)) if whole else repr(float(value))

    def value(self, text: str) -> Any:
        for value, written in self.texts.items():
            if written == text:
                return value
        if self.texts and all(isinstance(one, str) for one in self.texts):
            return text  # the coordinator says that it is no choice
        return float(number(text, self.name))


def number(text: str, name: str) -> decimal.Decimal:
    """A finite number as they write it."""
    try:
        found = decimal.Decimal(text)
    except decimal.InvalidOperation:
        found = decimal.Decimal("NaN")
    if not found.is_finite():
        raise refused(name, f"{text!r} is no number", "write it as 1e-5 or 0.00001")
    return found


def refused(name: str, cause: str, fix: str) -> errors.InvalidArgument:
    return errors.InvalidArgument(f"{name}: {cause}", fix, id="PY-1043", field=name)


def between(name: str, low: str, high: str, whole: bool, log: bool,
            step: str = "") -> Parameter:
    ends = number(low, name), number(high, name)
    if not ends[0] < ends[1]:
        raise refused(name, f"{low} is not below {high}", "give min below max")
    if log and ends[0] <= 0:
        raise refused(name, f"its logarithm has no {low}", "let it begin above 0")
    domain: Dict[str, Any] = {"lo": float(ends[0]), "hi": float(ends[1])}
    if whole:
        if any(end != end.to_integral_value() for end in ends):
            raise refused(name, f"{low} or {high} is not whole", "give whole numbers")
        domain = {"lo": int(ends[0]), "hi": int(ends[1])}
    if log:
        domain["log"] = True
    if step and number(step, name) != 0:
        domain["step"] = int(number(step, name)) if whole else float(number(step, name))
    return Parameter(name, {"int" if whole else "float": domain})


def choices(name: str, texts: Iterable[str]) -> Parameter:
    texts = list(texts)
    if len(set(texts)) < len(texts) or not texts:
        raise refused(name, "has no choice, or one twice", "name each once")
    return Parameter(name, texts, {text: text for text in texts})


def listed(name: str, texts: Iterable[str]) -> Parameter:
    """Numbers in an order; levels where none is below 0."""
    texts = list(texts)
    values = {float(number(text, name)): text for text in texts}
    if not values or len(values) < len(texts):
        raise refused(name, "has no number, or one twice", "name each once")
    numbers = sorted(values)
    return Parameter(name, {"levels": numbers} if numbers[0] >= 0 else numbers, values)


@dataclass
class Question:
    """What is asked, whoever asks."""
    parameters: List[Parameter]
    objectives: Dict[str, str]  # metric -> "MINIMIZE"
    seed: int
    sampler: Dict[str, Any]
    purpose: str = "best"
    trials: List[Tuple[str, Mapping[str, str], Dict[str, str]]] = field(default_factory=list)

    def request(self, count: int) -> Dict[str, Any]:
        """A SuggestRequest of ours."""
        if len({one.name for one in self.parameters}) < len(self.parameters):
            raise refused("parameters", "a name stands there twice", "name each once")
        if not self.parameters:
            raise refused("parameters", "there are none", "say what is to be searched")
        self.here = _names([one.name for one in self.parameters], [])
        spec, _ = study_messages({
            "objectives": [{"metric": metric, "direction": f"DIRECTION_{way}"}
                           for metric, way in self.objectives.items()],
            "space": {"parameters": {self.here[one.name]: one.domain
                                     for one in self.parameters}},
            "sampler": self.sampler, "purpose": self.purpose})
        return {"study": {"space": spec["space"], "objectives": spec["objectives"],
                          "seed": str(self.seed),
                          "trials": [self._trial(*one) for one in self.trials]},
                "sampler": spec["sampler"], "purpose": spec["purpose"], "count": count}

    def _trial(self, state: str, point: Mapping[str, str],
               values: Mapping[str, str]) -> Dict[str, Any]:
        metrics = {}
        for name in self.objectives:
            try:
                metrics[name] = float(values[name])
            except (KeyError, ValueError):
                pass
        if state == "SUCCEEDED" and not all(map(math.isfinite, metrics.values())):
            state = "INFEASIBLE"  # its loss became NaN
        elif state == "SUCCEEDED" and len(metrics) < len(self.objectives):
            state = "FAILED"  # nobody knows its value
        mine = {one.name: one for one in self.parameters}
        return {"state": f"TRIAL_STATE_{state}", "metrics": metrics if state in (
                    "SUCCEEDED", "PRUNED") and all(map(math.isfinite, metrics.values()))
                else {}, "parameters": {
                    self.here.get(name, name): mine[name].value(text) if name in mine
                    else text for name, text in point.items()}}

    def answer(self, suggestion: Mapping[str, Any]) -> List[Dict[str, str]]:
        drawn = {one["name"]: one["value"] for one in suggestion["parameters"]}
        return [{"name": one.name, "value": one.text(drawn[self.here[one.name]])}
                for one in self.parameters]


class Service:
    """Both services of Kubeflow. Any thread may ask; nothing is kept between calls."""

    def __init__(self, client: Any, sampler: str = "tpe") -> None:
        self._client, self._sampler = client, sampler

    # --- trainer.optimizer.v1alpha1.SearchAlgorithmService ---

    def validate(self, request: Any) -> Dict[str, Any]:
        try:
            self._ask(self._optimization(request.spec), 1)
        except (errors.InvalidArgument, errors.FailedPrecondition) as error:
            about = {"parameter": error.field} if any(
                one.name == error.field for one in request.spec.parameters) else {}
            return {"issues": [{**about, "message": _line(error)}]}
        return {}

    def suggest(self, request: Any) -> Dict[str, Any]:
        question = self._optimization(request.spec)
        for one in request.trials:
            state = {0: "RUNNING", 1: "RUNNING", 2: "SUCCEEDED", 4: "PRUNED"}.get(
                one.state) or failed_as(one.failure_reason)
            question.trials.append((state, _assigned(one.assignments),
                                    {v.metric: v.value for v in one.objective_values}))
        names = list(request.trial_names)
        points = self._ask(question, len(names))
        return {"suggestions": [{"trial_name": name, "assignments": point}
                                for name, point in zip(names, points)]}

    def _optimization(self, spec: Any) -> Question:
        asked = spec.algorithm.WhichOneof("algorithm")
        sampler: Dict[str, Any] = {"name": asked or self._sampler}
        if asked is None and spec.algorithm.ByteSize():
            raise refused("algorithm", "is one that this version does not know",
                          "take random or grid, or leave it out for "
                          f"{self._sampler}")
        seed = _seed_of(spec.SerializeToString(deterministic=True))
        if asked == "random" and spec.algorithm.random.HasField("seed"):
            seed = spec.algorithm.random.seed % 2 ** 64
        made = []
        for one in spec.parameters:
            kind = one.search_space.WhichOneof("space")
            if kind is None:
                raise refused(one.name, "its search space is one that this version does "
                              "not know", "take uniform, log_uniform or categorical")
            space = getattr(one.search_space, kind)
            made.append(choices(one.name, space.choices) if kind == "categorical" else
                        between(one.name, space.min, space.max, space.type == 1,
                                kind == "log_uniform"))
        return Question(made, {one.metric: "MAXIMIZE" if one.direction == 2 else "MINIMIZE"
                               for one in spec.objectives}, seed, sampler)

    # --- api.v1.beta1.Suggestion ---

    def validate_settings(self, request: Any) -> Dict[str, Any]:
        self._ask(self._experiment(request.experiment), 1)
        return {}

    def get_suggestions(self, request: Any) -> Dict[str, Any]:
        question = self._experiment(request.experiment)
        for one in request.trials:
            state = {2: "SUCCEEDED", 3: "CANCELLED", 5: "FAILED", 6: "PRUNED"}.get(
                one.status.condition, "RUNNING")
            if one.status.condition == 4:
                state = failed_as(one.spec.labels.get(REASON, ""))
            question.trials.append((
                state, _assigned(one.spec.parameter_assignments.assignments),
                {m.name: m.value for m in one.status.observation.metrics}))
        count = request.current_request_number
        # Suggested before, and no trial yet: drawn again, since nothing is kept here.
        before = max(0, request.total_request_number - count - len(question.trials))
        points = self._ask(question, before + count)
        return {"parameter_assignments": [{"assignments": point}
                                          for point in points[before:]]}

    def _experiment(self, experiment: Any) -> Question:
        spec = experiment.spec
        settings = {one.name: one.value for one in spec.algorithm.algorithm_settings}
        name = spec.algorithm.algorithm_name
        seed = _seed_of(experiment.name.encode())
        if "random_state" in settings:
            seed = int(number(settings["random_state"], "random_state")) % 2 ** 64
        made = []
        for one in spec.parameter_specs.parameters:
            space = one.feasible_space
            if space.distribution > 2:
                raise refused(one.name, "a normal distribution is not searched here",
                              "take uniform or logUniform")
            if one.parameter_type not in (1, 2, 3, 4):
                raise refused(one.name, "its type is one that this version does not know",
                              "take double, int, discrete or categorical")
            if one.parameter_type == 4:
                made.append(choices(one.name, space.list))
            elif one.parameter_type == 3:
                made.append(listed(one.name, space.list))
            else:
                made.append(between(one.name, space.min, space.max,
                                    one.parameter_type == 2, space.distribution == 2,
                                    space.step))
        way = "MAXIMIZE" if spec.objective.type == 2 else "MINIMIZE"
        return Question(
            made, {spec.objective.objective_metric_name: way}, seed,
            {"name": self._sampler if name in ("", "frostline") else name,
             **{key: value for key, value in settings.items() if key not in _SETTINGS}},
            settings.get("purpose", "best"))

    def _ask(self, question: Question, count: int) -> List[List[Dict[str, str]]]:
        if count < 1:
            return []
        if count > MOST:
            raise errors.InvalidArgument(
                f"{count} points are asked for at once", f"ask for at most {MOST}",
                id="PY-1043", field="trial_names")
        told = self._client.call("StudyService", "Suggest", **question.request(count))
        found = told.get("suggestions", [])
        if len(found) < count:
            raise errors.FailedPrecondition(
                f"every point of the space was tried: {len(found)} of {count} are left",
                "let the job end here, or widen its space", id="PY-1044")
        return [question.answer(one) for one in found]


def _assigned(assignments: Iterable[Any]) -> Dict[str, str]:
    return {one.name: one.value for one in assignments}


def _seed_of(text: bytes) -> int:
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


def _line(error: errors.Error) -> str:
    return f"{error.cause}; {error.fix} ({error.id})"


def serve(client: Any, listen: str, sampler: str = "tpe") -> Tuple[Any, int]:
    """A gRPC server that has begun, and its port."""
    grpc = need("grpc", "grpcio")
    service, made = Service(client, sampler), contract()

    def method(kind: str, ask: str, answer: str, body: Callable[[Any], Dict[str, Any]]) -> Any:
        asked, answered = made.other(f"{kind}.{ask}"), made.other(f"{kind}.{answer}")
        json_format = need("google.protobuf.json_format", "protobuf")

        def run(request: Any, context: Any) -> Any:
            try:
                return json_format.ParseDict(body(request), answered())
            except errors.Error as error:
                code = getattr(grpc.StatusCode, error.code)
                # Katib takes UNKNOWN for a mistake in the experiment.
                context.abort(grpc.StatusCode.INTERNAL if code == grpc.StatusCode.UNKNOWN
                              else code, _line(error))

        return grpc.unary_unary_rpc_method_handler(
            run, request_deserializer=asked.FromString,
            response_serializer=answered.SerializeToString)

    trainer, katib = "trainer.optimizer.v1alpha1", "api.v1.beta1"
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8),
                         options=[("grpc.so_reuseport", 0)])  # a taken port is said
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler(f"{trainer}.SearchAlgorithmService", {
            "Validate": method(trainer, "ValidateRequest", "ValidateResponse",
                               service.validate),
            "Suggest": method(trainer, "SuggestRequest", "SuggestResponse",
                              service.suggest)}),
        grpc.method_handlers_generic_handler(f"{katib}.Suggestion", {
            "ValidateAlgorithmSettings": method(
                katib, "ValidateAlgorithmSettingsRequest", "ValidateAlgorithmSettingsReply",
                service.validate_settings),
            "GetSuggestions": method(katib, "GetSuggestionsRequest", "GetSuggestionsReply",
                                     service.get_suggestions)}),
        # What Katib's probe asks before the first call: SERVING.
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {
            "Check": grpc.unary_unary_rpc_method_handler(lambda _, __: b"\x08\x01")})))
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        port = 0
    if port == 0:
        raise errors.FailedPrecondition(f"{listen} is taken, or not of this machine",
                                        "name another one with --listen", id="PY-1045")
    server.start()
    return server, int(port)


@errors.as_exit_code
def main(arguments: Optional[List[str]] = None) -> int:
    """The console script."""
    parser = argparse.ArgumentParser(
        prog="frostline-katib", description="Suggestions for Kubeflow's experiments.")
    parser.add_argument("--listen", default="127.0.0.1:6789", metavar="HOST:PORT",
                        help="[127.0.0.1:6789]; there is no encryption, as Kubeflow has it")
    parser.add_argument("--sampler", default="tpe", metavar="NAME",
                        help="for experiments that name none of ours [tpe]")
    parser.add_argument("--connect", default="", metavar="ADDRESS",
                        help="the coordinator's [$FROSTLINE_CONNECT; else one of this "
                             "user's own is started]")
    options = parser.parse_args(arguments)
    ended = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: ended.set())
    from . import _local
    with _local.client(options.connect) as client:
        server, port = serve(client, options.listen, options.sampler)
        print(f"listening on {options.listen.rsplit(':', 1)[0]}:{port}", flush=True)
        ended.wait()
        server.stop(5).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
