# SPDX-License-Identifier: Apache-2.0
"""A study's modules in a model of the script's own.

A study speaks of `embeddings`, `layer.3`, `layer.3.attention`, `pooler` and `head`;
every torch model names its weights in its own way. Here each weight finds its module:

    bert.encoder.layer.3.output.dense.weight    layer.3
    model.layers.3.mlp.up_proj.weight           layer.3
    vit.blocks.3.attn.qkv.bias                  layer.3
    model.embed_tokens.weight                   embeddings
    model.norm.weight, behind the last layer    that layer
    score.weight                                head

Freezing fails silently in many ways: a pattern finds nothing, a weight is in no
optimizer, a gradient never comes. So a module without weights and a weight without a
module are errors here, and `audit` holds the weights against what they were."""
from __future__ import annotations

import ctypes
import hashlib
import re
import sys
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from . import errors

_STACK = re.compile(r"(?:^|(?<=\.))(layers?|h|blocks?|resblocks)\.(\d+)(?=\.)")
_EMBEDDING = re.compile(
    r"(^|\.)(\w*embed\w*|wte|wpe|cls_token|dist_token|reg_token|mask_token|"
    r"relative_attention_bias|class_embedding|rel_embeddings)(\.|$)")
_POOLER = re.compile(r"(^|\.)pooler(\.|$)")
_HEAD = re.compile(
    r"(^|\.)(classifier|pre_classifier|score|\w*head\w*|heads|fc|fc_norm|qa_outputs|cls|"
    r"projector)(\.|$)")
_LAST_NORM = re.compile(
    r"(^|\.)(final_norm|final_layer_norm|ln_f|ln_post|norm|layernorm|LayerNorm)(\.|$)")
_BEHIND = "behind the last layer"  # until it is known which that is
_DISTANCES = re.compile(r"(^|\.)encoder\.LayerNorm\.")  # of DeBERTa's rel_embeddings
_FIRST_NORM = re.compile(r"(^|\.)(input_layernorm|norm1|ln_1|ln1|layernorm_before|attn_norm)\.")
_SECOND_NORM = re.compile(
    r"(^|\.)(post_attention_layernorm|norm2|ln_2|ln2|layernorm_after|mlp_norm)\.")
_ATTENTION = re.compile(r"(^|\.)\w*(attn|attention)\w*\.")
_ADAPTER = re.compile(r"(^|\.)lora_\w+(\.|$)")  # a weight that peft added
# What training.lora.modules calls the maps of a layer, and how their names end.
_MAPS = {"query": "query|q_lin|q_proj|query_proj",
         "key": "key|k_lin|k_proj|key_proj", "value": "value|v_lin|v_proj|value_proj",
         "qkv": "Wqkv|qkv|qkv_proj",
         "attention_out": r"attention\.output\.dense|out_lin|o_proj|attn\.Wo",
         "ffn_in": r"intermediate\.dense|lin1|up_proj|mlp\.Wi",
         "ffn_out": r"(?<!attention\.)output\.dense|lin2|down_proj|mlp\.Wo",
         "ffn_gate": "gate_proj"}
# Words for them that are not among these names.
_OTHER_WORDS = {"attention_output": "attention_out", "Wi": "ffn_in"}
_SAMPLE = 2048  # weights of one tensor, of which `audit` tells how far they moved
_PIECE = 1 << 26  # bytes that are copied from a device at a time
_WORD = re.compile(r"\{\}|\*")
_WRAPPERS = re.compile(r"^(?:module\.|_orig_mod\.)+")  # of DataParallel, of torch.compile


class Weights:
    """Which weight of a model is of which module of the study."""

    def __init__(self, model: Any, modules: Iterable[str],
                 names: Optional[Mapping[str, str]] = None,
                 others: Optional[float] = None) -> None:
        self.modules = list(modules)
        self.of: Dict[str, str] = {}  # name of a weight -> module; "" is none
        self.tied: List[Tuple[str, str]] = []
        self._names = [(re.compile(_expression(p)), m) for m, p in (names or {}).items()]
        for module in names or {} if self.modules else ():
            _check_named(module, self.modules)
        self._several = any(m.startswith("head.") for m in self.modules)
        self.parameters = dict(model.named_parameters())
        all_names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
        plain = {name: _WRAPPERS.sub("", name) for name in all_names}
        self.stack = self._one_stack(list(plain.values()))
        self._has_distances = any("rel_embeddings" in name for name in all_names)
        found = self._behind({name: self._module_of(plain[name]) for name in all_names})
        self._check(found, others)
        self._tie(model, found)

    def _one_stack(self, names: List[str]) -> str:
        """What is before the layers' numbers: `bert.encoder.layer`."""
        stacks: Dict[str, int] = {}
        for name in names:
            match = _STACK.search(name)
            if match and not any(p.search(name) for p, _ in self._names):
                stack = name[:match.end(1)]
                stacks[stack] = max(stacks.get(stack, 0), int(match.group(2)) + 1)
        if len(stacks) > 1:
            raise errors.LayerError(
                "the model has several stacks of layers: " + ", ".join(
                    f"{stack} ({count})" for stack, count in stacks.items()),
                "say which is meant, and where the rest belongs: names={'layer.*': "
                f"'{next(iter(stacks))}.{{}}', …}}")
        return next(iter(stacks), "")

    def _module_of(self, name: str) -> Optional[str]:
        for pattern, module in self._names:
            match = pattern.search(name)
            if match:
                return _WORD.sub(match.group("i"), module) if "i" in \
                    pattern.groupindex else module
        match = _STACK.search(name)
        if match:
            layer = f"layer.{match.group(2)}"
            part = self._part_of(layer, name[match.end():])
            return part if part in self.modules else layer
        if _EMBEDDING.search(name) or self._has_distances and _DISTANCES.search(name):
            return "embeddings"
        if _POOLER.search(name):
            return "pooler"
        if _HEAD.search(name):
            return "head"
        return _BEHIND if _LAST_NORM.search(name) else None

    def _behind(self, found: Dict[str, Optional[str]]) -> Dict[str, Optional[str]]:
        """The norm behind the last layer is that layer's, of its second half."""
        numbers = [int(m.split(".")[1]) for m in found.values()
                   if m and re.match(r"layer\.\d", m)]
        last = f"layer.{max(numbers)}" if numbers else "head"
        if f"{last}.ffn" in self.modules:
            last += ".ffn"
        return {name: last if module == _BEHIND else module
                for name, module in found.items()}

    @staticmethod
    def _part_of(layer: str, rest: str) -> str:
        if _SECOND_NORM.search(rest):
            return f"{layer}.ffn"
        if _FIRST_NORM.search(rest) or _ATTENTION.search(rest):
            return f"{layer}.attention"
        return f"{layer}.ffn"

    def _check(self, found: Mapping[str, Optional[str]], others: Optional[float]) -> None:
        if not self.modules:  # alone: whatever there is
            self.modules = list(dict.fromkeys(m or "" for m in found.values()))
            return
        there = set(found.values())
        for module in self.modules:
            if module not in there:
                told = "say no_pooler: true in" if module == "pooler" else "correct"
                raise errors.LayerError(
                    f"no weight of the model is of the module {module!r}; its weights "
                    f"are like {_examples(found)}",
                    f"{told} the study's model, or map it: names={{{module!r}: "
                    "'a.regular.expression'}", field=module)
        lost = [name for name, module in found.items() if module not in self.modules]
        if lost and others is None:
            guess = sorted({str(found[name]) for name in lost if found[name]})
            looks = f" (it looks like {', '.join(guess[:3])})" if guess else ""
            raise errors.LayerError(
                f"{len(lost)} weights are of no module of the study, the first is "
                f"{lost[0]}{looks}; its modules: {', '.join(self.modules)}",
                "name them in the study's space, map them (names={…}), or give them a "
                "rate of their own: others=0.0 freezes them", field=lost[0])

    def _tie(self, model: Any, found: Mapping[str, Optional[str]]) -> None:
        first: Dict[int, str] = {}
        for name, parameter in model.named_parameters(remove_duplicate=False):
            earlier = first.setdefault(id(parameter), name)
            if earlier != name:
                self.tied.append((earlier, name))
        for name in self.parameters:
            module = found[name]
            self.of[name] = module if module in self.modules else ""

    def members(self, module: str) -> List[Tuple[str, Any]]:
        """Names and parameters of a module; "" are those that no module has."""
        return [(name, parameter) for name, parameter in self.parameters.items()
                if self.of[name] == module]


def _check_named(module: str, modules: List[str]) -> None:
    """A key of `names` is a module of the study, `*` a number."""
    wanted = re.compile(_WORD.sub(r"\\d+", re.escape(module).replace(r"\*", "*")) + "$")
    if not any(wanted.match(one) for one in modules):
        raise errors.LayerError(
            f"names maps {module!r}, and the study has no such module; its modules: "
            f"{', '.join(modules)}", "correct the key: names={'layer.*': 'a.pattern.{}'}",
            field=module)


def _expression(pattern: str) -> str:
    """`model.blocks.{}` is a name that begins so, with a number; others are regular
    expressions."""
    if not isinstance(pattern, str):
        raise errors.LayerError(f"a pattern in names is text, not {pattern!r}",
                                "give one: names={'head': '^top'}")
    if "{}" in pattern:
        before, after = pattern.split("{}", 1)
        return rf"^{re.escape(before)}(?P<i>\d+){re.escape(after)}(?=\.|$)"
    try:
        re.compile(pattern)
    except re.error as error:
        raise errors.LayerError(f"{pattern!r} is no regular expression: {error}",
                                "correct it in names={…}") from None
    return pattern


def _examples(found: Mapping[str, Optional[str]]) -> str:
    """A few names: first of all one with a number, which may be a layer's."""
    names = list(found)
    numbered = [name for name in names if re.search(r"\.\d+\.", name)]
    return ", ".join(dict.fromkeys([*numbered[:1], *names[:2], *names[-1:]]))


def apply(trial: Any, model: Any, *, lr: Optional[float] = None,
          weight_decay: Optional[float] = None, names: Optional[Mapping[str, str]] = None,
          others: Optional[float] = None, eval_frozen: bool = False) -> List[Dict[str, Any]]:
    """Freezes what has rate 0 (no gradient, no place in the optimizer) and returns a
    group for each module that trains: {"params", "lr", "name"}.

        optimizer = torch.optim.AdamW(trial.apply(model))

    `names` maps modules to weights: {"layer.*": "backbone.stage.{}", "head": "^top"}.
    `others` is the rate of weights that no module of the study has. `lr` is for the
    script alone, where there are no rates. `weight_decay` spares biases and norms.
    `eval_frozen` keeps modules that are frozen as a whole in eval (no dropout).
    Where rates come another way, {module: rate} stands for the trial.

    In a module with adapters (`lora_config`) these train, at the module's rate, and its
    weights stay; others train whole, so that a trial may have modules of all kinds."""
    told = dict(trial) if isinstance(trial, Mapping) else trial.rates
    if not told and lr is None:
        raise errors.LayerError(
            "there are no rates: the script runs alone, or the study has no modules",
            "say what it then trains with: trial.apply(model, lr=2e-5)")
    weights = Weights(model, told, names, others)
    rates = {**{module: lr for module in weights.modules}, "": others or 0.0, **told}
    if not told:
        rates[""] = lr
    groups: List[Dict[str, Any]] = []
    for module in dict.fromkeys([*weights.modules, ""]):
        members = weights.members(module)
        trained = _trained(trial, weights, module) if rates[module] > 0 else []
        names_trained = {name for name, _ in trained}
        for name, parameter in members:
            parameter.requires_grad_(name in names_trained)
            if name not in names_trained:
                parameter.grad = None
        if trained:
            groups += _groups(module or "others", rates[module], trained, weight_decay)
    for earlier, later in weights.tied:
        _say_tie(weights, rates, earlier, later)
    if eval_frozen:
        _keep_in_eval(model)
    if not isinstance(trial, Mapping):
        trial._audit = _Watch(weights, rates)
    return groups


def _trained(trial: Any, weights: Weights, module: str) -> List[Tuple[str, Any]]:
    """What of a module its rate trains: its adapters, where it has some."""
    members = weights.members(module)
    adapters = [(name, p) for name, p in members if _ADAPTER.search(name)]
    rank = 0 if isinstance(trial, Mapping) else trial.ranks.get(module, 0)
    if rank > 0 and not adapters:
        raise errors.LayerError(
            f"{module} has an adapter of rank {rank} in this trial, and none in the model",
            "make them first: model = peft.get_peft_model(model, trial.lora_config(model))",
            field=module)
    if adapters:
        return adapters
    if any(map(_ADAPTER.search, weights.parameters)) and not (
            isinstance(trial, Mapping) or trial.rates):
        return [(name, p) for name, p in members if p.requires_grad]  # as peft left them
    return members


def _groups(module: str, rate: float, members: List[Tuple[str, Any]],
            weight_decay: Optional[float]) -> List[Dict[str, Any]]:
    if weight_decay is None:
        return [{"params": [p for _, p in members], "lr": rate, "name": module}]
    plain = [p for _, p in members if p.ndim < 2]  # biases and norms
    heavy = [p for _, p in members if p.ndim >= 2]
    return [{"params": params, "lr": rate, "name": module, "weight_decay": decay}
            for params, decay in ((heavy, weight_decay), (plain, 0.0)) if params]


def _say_tie(weights: Weights, rates: Mapping[str, Any], earlier: str, later: str) -> None:
    module = weights.of[earlier]
    warnings.warn(
        f"{later} is tied to {earlier}: it is one weight, and has the rate of "
        f"{module or 'others'}, {rates[module]:g}", stacklevel=4)


def _keep_in_eval(model: Any) -> None:
    """Outermost modules whose weights are all frozen run in eval, whatever train() says."""
    def stay(module: Any, _inputs: Any) -> None:
        module.eval()

    def visit(module: Any) -> None:
        parameters = list(module.parameters())
        if parameters and not any(p.requires_grad for p in parameters):
            module.register_forward_pre_hook(stay)
            return
        for child in module.children():
            visit(child)

    visit(model)


def param_groups(trial: Any, model: Any, optimizer: Any = None, *,
                 arguments: Optional[Mapping[str, Any]] = None, **options: Any) -> Any:
    """Groups as `apply` returns them; with an optimizer's class the optimizer of them.

        optimizer = trial.param_groups(model, torch.optim.AdamW)
    """
    groups = apply(trial, model, **options)
    if optimizer is None:
        return groups
    if not isinstance(optimizer, type):
        raise errors.LayerError(
            f"{type(optimizer).__name__} is made already, of groups of its own",
            "give its class: trial.param_groups(model, torch.optim.AdamW)")
    return optimizer(groups, **(arguments or {}))


def lora_config(trial: Any, model: Any, *, target_modules: Any = None,
                names: Optional[Mapping[str, str]] = None, **options: Any) -> Any:
    """A peft LoraConfig with an adapter in each layer that trains. Its rank is the
    trial's parameter `rank.layer.3`, else `rank`, else the study's training.lora.rank;
    a layer of rank 0 or rate 0 has none.

    Where the space gives ranks to modules (`trial.ranks`) the adapters are those of these,
    halves of layers too, on the maps that `target_modules` or training.lora.modules names,
    else on query and value, with the study's alpha. Modules without ranks have none, and
    `apply` trains their weights."""
    from ._wire import need
    peft = need("peft")
    if trial.ranks:
        return _config_of_ranks(trial, Weights(model, trial.rates, names, others=0.0),
                                target_modules, peft, options)
    common = trial.get("rank", (trial.training.get("lora") or {}).get("rank", 0))
    stack = Weights(model, (), names).stack
    count = 1 + max((int(m.group(2)) for m in map(_STACK.search, dict(
        model.named_parameters())) if m), default=-1)
    ranks = {i: int(trial.get(f"rank.layer.{i}", common) or 0) for i in range(count)
             if trial.rates.get(f"layer.{i}", 1) != 0}
    ranks = {i: rank for i, rank in ranks.items() if rank > 0}
    if not ranks:
        raise errors.LayerError(
            "no layer has a rank: the space names no `rank` and no `rank.layer.N`, or "
            "all are 0", "search one: space={'parameters': {'rank': [0, 4, 8]}}")
    most = max(ranks.values())
    pattern = {rf"{re.escape(stack)}\.{i}\..*": rank for i, rank in ranks.items()
               if rank != most}
    return peft.LoraConfig(
        r=most, rank_pattern=pattern, layers_to_transform=sorted(ranks),
        layers_pattern=stack.rsplit(".", 1)[-1],
        target_modules=target_modules, **options)


def _expression_of(word: str) -> str:
    """How names of a map end, which the word names as we do or as a family does."""
    word = _OTHER_WORDS.get(word, word)
    return next((names for ours, names in _MAPS.items()
                 if word == ours or re.fullmatch(names, word)), re.escape(word))


def _config_of_ranks(trial: Any, weights: Weights, targets: Any, peft: Any,
                     options: Mapping[str, Any]) -> Any:
    lora = trial.training.get("lora") or {}
    maps = lora.get("modules") or ["query", "value"]
    expressions = [_expression_of(one) for one in maps]
    if isinstance(targets, str):
        expressions = [targets]
    elif targets:
        expressions = [re.escape(one) for one in targets]
    wanted = re.compile(rf"(?:^|\.)(?:{'|'.join(expressions)})$")
    ranks: Dict[str, int] = {}
    for name, parameter in weights.parameters.items():
        if not name.endswith(".weight") or parameter.ndim != 2:
            continue
        module, linear = weights.of[name], name[:-len(".weight")]
        rank = trial.ranks.get(module, 0) if trial.rates.get(module, 0) > 0 else 0
        if rank > 0 and wanted.search(linear):
            ranks[linear] = rank
    for module, rank in trial.ranks.items():
        adapted = any(weights.of[f"{linear}.weight"] == module for linear in ranks)
        if rank > 0 and trial.rates.get(module, 0) > 0 and not adapted:
            raise errors.LayerError(
                f"{module} has rank {rank}, and none of its linear maps is called "
                f"{' or '.join(targets or maps)}",
                "name some of its maps: trial.lora_config(model, target_modules=[…])",
                field=module)
    if not ranks:
        raise errors.LayerError(
            "every rank of this trial is 0: there is no adapter to make",
            "train the model as it is: if any(trial.ranks.values()): model = "
            "peft.get_peft_model(…)")
    most = max(ranks.values())
    scale = lora.get("alpha_per_rank") or 0
    alphas = {linear: scale * rank if scale else lora.get("alpha") or rank
              for linear, rank in ranks.items()}
    usual = alphas[max(ranks, key=lambda linear: ranks[linear])]
    ours = {"r": most, "lora_alpha": usual, "lora_dropout": lora.get("dropout", 0.0),
            "target_modules": sorted(ranks),
            "rank_pattern": {re.escape(one): rank for one, rank in ranks.items()
                             if rank != most},
            "alpha_pattern": {re.escape(one): alpha for one, alpha in alphas.items()
                              if alpha != usual}}
    return peft.LoraConfig(**{**ours, **options})


# --- the audit ---

class _Watch:
    """What weights were when `apply` saw them, and which had a gradient since."""

    def __init__(self, weights: Weights, rates: Mapping[str, float]) -> None:
        self.weights, self.rates = weights, dict(rates)
        self.before = {n: _Print(p) for n, p in weights.parameters.items()}
        self.had_gradient: set = set()
        self.trains = {n for n, p in weights.parameters.items() if p.requires_grad}
        for name, parameter in weights.parameters.items():
            if parameter.requires_grad:
                parameter.register_hook(lambda _g, n=name: self.had_gradient.add(n))


class _Print:
    """Of one tensor: the SHA-256 of its bytes, and some of its weights, evenly spaced."""

    def __init__(self, parameter: Any) -> None:
        import torch
        flat = parameter.detach().reshape(-1).contiguous()
        self.dtype = parameter.dtype
        self.sample = flat[::max(1, flat.numel() // _SAMPLE)][:_SAMPLE].float().cpu().clone()
        whole = hashlib.sha256()
        for piece in flat.view(torch.uint8).split(_PIECE) if flat.numel() else ():
            here = piece.cpu()
            whole.update((ctypes.c_char * here.numel()).from_address(here.data_ptr()))
        self.hash = whole.digest()

    def change(self, other: "_Print") -> float:
        return float(((self.sample - other.sample) ** 2).sum())

    def size(self) -> float:
        return float((self.sample ** 2).sum())


class Audit:
    """A row for each module: how far it moved, against what it was to do. `rows` are
    tuples in the order of `columns`; `wrong` says in words what did not go as planned.
    Bytes are those of the weights, of the gradients of those that had one, and of what
    the optimizer keeps."""

    columns = ("module", "rate", "weights", "moved", "gradient", "in_optimizer",
               "optimizer_bytes", "weight_bytes", "gradient_bytes")

    def __init__(self, rows: List[Tuple[Any, ...]], wrong: List[str]) -> None:
        self.rows, self.wrong = rows, wrong

    def moved(self) -> Dict[str, float]:
        """How far each module moved, as a share of its weights."""
        return {row[0]: row[3] for row in self.rows}

    def __repr__(self) -> str:
        lines = [f"{'module':24} {'rate':>8} {'moved':>9} gradient  optimizer"]
        for module, rate, _, moved, gradient, _, held, *_ in self.rows:
            lines.append(f"{module:24} {rate or 'frozen':>8} {moved:9.2e} "
                         f"{'yes' if gradient else 'no':8}  {held} B")
        return "\n".join([*lines, *self.wrong])


def audit(trial: Any, model: Any, optimizer: Any = None, *,
          must_pass: bool = True) -> Audit:
    """Which modules moved since `apply`, by how much, and which never had a gradient. A
    module that should have moved and did not, or a frozen one that did, raises AuditFailed
    with its name, which fails the trial.

    Whether one moved is exact, by a hash of all its bytes: `moved` is 0 where and only
    where nothing changed. How far is an estimate from 2,048 weights of each tensor: root
    mean square of the change, as a share of the weights'; where those did not change but
    others did, it is the smallest number that there is."""
    watch = trial._audit
    if watch is None:
        raise errors.LayerError("trial.audit() before trial.apply()",
                                "call trial.apply(model) before training")
    now = {name: _Print(p) for name, p in model.named_parameters() if name in watch.before}
    gone = sorted(set(watch.before) - set(now))
    if gone:
        raise errors.LayerError(
            f"the model has no {gone[0]} any more: it is another model, or was wrapped",
            "give audit() the model that apply() had")
    cast = next((n for n in now if now[n].dtype != watch.before[n].dtype), None)
    if cast is not None:
        raise errors.LayerError(
            f"{cast} is {now[cast].dtype} and was {watch.before[cast].dtype} when apply() "
            "saw it: whether it moved cannot be told",
            "call trial.apply(model) after the model has its type")
    state = getattr(optimizer, "state", {})
    held = {id(p) for group in getattr(optimizer, "param_groups", ()) for p in group["params"]}
    rows, wrong = [], []
    for module in dict.fromkeys([*watch.weights.modules, ""]):
        members = watch.weights.members(module)
        if not members:
            continue
        rate, title = watch.rates[module], module or "others"
        change = sum(now[n].change(watch.before[n]) for n, _ in members)
        size = sum(watch.before[n].size() for n, _ in members)
        changed = {n for n, _ in members if now[n].hash != watch.before[n].hash}
        same = not changed
        moved = 0.0 if same else max((change / size if size else change) ** 0.5,
                                     sys.float_info.min)
        gradient = any(n in watch.had_gradient for n, _ in members)
        taken = all(id(p) in held for n, p in members
                    if n in watch.trains) if optimizer is not None else True
        rows.append((title, rate, sum(p.numel() for _, p in members), moved, gradient, taken,
                     sum(_bytes_of(state.get(p, {})) for _, p in members),
                     _bytes_of(dict(members)),
                     _bytes_of({n: p for n, p in members if n in watch.had_gradient})))
        if rate == 0 and not same:
            wrong.append(f"{title} is frozen and moved")
        elif changed - watch.trains:
            wrong.append(f"weights of {title} that do not train moved: "
                         f"{min(changed - watch.trains)}")
        elif rate > 0 and same:
            why = "is not in the optimizer" if not taken else (
                "never had a gradient" if not gradient else "had gradients")
            wrong.append(f"{title} should have moved at rate {rate:g} and did not: it {why}")
    made = Audit(rows, wrong)
    if wrong and must_pass:
        raise errors.AuditFailed(
            "; ".join(wrong),
            "pass trial.apply(model) to the optimizer, last; with gradient checkpointing "
            "take use_reentrant=False, as a frozen prefix else cuts gradients off")
    return made


def _bytes_of(tensors: Mapping[str, Any]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors.values() if hasattr(t, "numel"))
