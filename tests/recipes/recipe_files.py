# SPDX-License-Identifier: Apache-2.0
"""What a recipe file comes to at a scale: its stages, their entries, runs and
study files with all values put in. The pages docs/reference/recipe-file.md and
study-file.md say what is computed here."""
import itertools
import pathlib
import re

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTS = ("layers", "heads", "no_pooler", "above_layers")
WHOLE = re.compile(r"\$\{([^}]*)\}\Z")
WITHIN = re.compile(r"\$\{([^}]*)\}")
OF_STAGE = re.compile(r"([a-z][\w-]*)\.(best(?:-\d+)?|plan)(?:\.(.+))?\Z")
# 2e-5 is a number here, as in a study file, and text to PyYAML.
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+\Z")


class Wrong(Exception):
    """What is wrong with a recipe, in a sentence."""


def read_recipe(path):
    """Refuses a key that is there twice, as a recipe's reader does."""
    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node, deep=False):
            keys = [self.construct_object(key) for key, _ in node.value]
            twice = [key for key in keys if keys.count(key) > 1]
            if twice:
                raise Wrong(f"{path}: {twice[0]} is there twice")
            return super().construct_mapping(node, deep)
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER,
                                 list("-+.0123456789"))
    return yaml.load(path.read_text("utf-8"), Loader)


def put(value, answer):
    """`value` with what `answer` says of each name; what comes to nothing
    leaves its key out."""
    if isinstance(value, str):
        whole = WHOLE.match(value)
        if whole:
            return compute(whole.group(1), answer)
        return WITHIN.sub(lambda m: str(compute(m.group(1), answer)), value)
    if isinstance(value, list):
        return [put(item, answer) for item in value]
    if isinstance(value, dict):
        filled = [(put(key, answer) if isinstance(key, str) else key, item,
                   put(item, answer)) for key, item in value.items()]
        return {key: made for key, item, made in filled
                if made is not None or item is None}
    return value


def compute(text, answer):
    """A name, and numbers behind it with operators between, from left to right."""
    first, *rest = text.split()
    value = answer(first)
    for operator, number in zip(rest[::2], rest[1::2], strict=True):
        by = int(number)
        value = {"/": lambda a, b: a // b, "+": lambda a, b: a + b,
                 "-": lambda a, b: a - b, "*": lambda a, b: a * b}[operator](value, by)
    return value


def fact(model, name):
    """What the recipe says of the model."""
    if name == "above_layers":
        return ["head"] if model.get("no_pooler") else ["pooler", "head"]
    return model.get(name)


class Entry:
    """A stage, or one of the entries of its `each`, at a scale."""

    def __init__(self, recipe, scale, stage, keys, values, earlier):
        self.name = "-".join([stage, *keys])
        self.keys = tuple(keys)
        self.of = recipe["stages"][stage]
        self.values = {**recipe["scales"][scale], **values}
        self.models = recipe["models"]
        self.earlier = earlier  # (stage, keys): Entry
        self.study = put(self.of["study"], self.answer)
        self.runs = dict(self._runs())
        self.compare = put(self.of.get("compare", {}), self.answer)

    def answer(self, name):
        of_stage = OF_STAGE.match(name)
        if of_stage:
            return self._of_stage(*of_stage.groups())
        if name in self.values:
            return self.values[name]
        model = self.models.get(self.values.get("model"))
        if name in FACTS and model is not None:
            return fact(model, name)
        raise Wrong(f"{self.name}: nothing says what {name} is")

    def _of_stage(self, stage, what, parameter):
        entry = self.earlier.get((stage, self.keys))
        if entry is None:
            raise Wrong(f"{self.name}: {stage} with the same entry does not "
                        "come earlier")
        point = entry.some_point()
        if parameter is None:
            return point
        if parameter not in point:
            raise Wrong(f"{self.name}: {stage} has no parameter {parameter}")
        return point[parameter]

    def some_point(self):
        return {name: levels[-1]
                for name, levels in parameters(self.study).items()}

    def _runs(self):
        for name, run in self.of.get("runs", {}).items():
            run = dict(run)
            over = put(run.pop("for", {}), self.answer)
            ranges = [range(ends["from"], ends["to"] + 1)
                      for ends in over.values()]
            for numbers in itertools.product(*ranges):
                known = dict(zip(over, numbers))

                def answer(asked, known=known):
                    return known[asked] if asked in known \
                        else self.answer(asked)
                yield put(name, answer), put(run, answer)


def entries(recipe, scale):
    """All entries of all stages, in their order."""
    earlier = {}
    for stage, of in recipe["stages"].items():
        each = of.get("each", {"": {}})

        def known(name):
            values = recipe["scales"][scale]
            return values[name] if name in values else \
                fact(recipe["models"][values["model"]], name)
        maps = [put(each_map, known)
                for each_map in (each if isinstance(each, list) else [each])]
        for names in itertools.product(*maps):
            values = {}
            for each_map, name in zip(maps, names):
                values.update(each_map[name])
            keys = [name for name in names if name]
            entry = Entry(recipe, scale, stage, keys, values, earlier)
            earlier[stage, entry.keys] = entry
            yield entry


# What a space is, as far as recipes go.

def numbers_of(text, count):
    if text == "*":
        return range(count)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def top_modules(study):
    model = study["model"]
    modules = ["embeddings"]
    modules += [f"layer.{number}" for number in range(model["layers"])]
    modules += [] if model.get("no_pooler") else ["pooler"]
    return modules + ([f"head.{task}" for task in study.get("tasks", {})] or
                      ["head"])


def select(study, selector):
    layer = re.fullmatch(r"layer\.([\d*-]+)(?:\.head\.([\d*-]+))?", selector)
    if not layer:
        known = [module for module in top_modules(study)
                 if module == selector or module.startswith(selector + ".")]
    else:
        known = [f"layer.{number}" for number in numbers_of(
            layer.group(1), study["model"]["layers"])]
        if layer.group(2):
            heads = numbers_of(layer.group(2), study["model"]["heads"])
            known = [f"{name}.head.{head}" for name in known for head in heads]
    if not known:
        raise Wrong(f"{selector} names no module")
    return known


def domain(value):
    """Levels; one that is not searched has one."""
    levels = value if isinstance(value, list) else [value]
    return [0 if level == "frozen" else level for level in levels]


def parameters(study):
    """Levels by the parameter's name."""
    space, found = study["space"], {}
    for selector, value in space.get("modules", {}).items():
        if isinstance(value, list):
            found.update((name, value) for name in select(study, selector))
    for name, tie in space.get("tie", {}).items():
        found[name] = tie["levels"]
    for name, value in space.get("layerwise_decay", {}).items():
        if isinstance(value, list):
            found[name] = value
    return found


def rates_of(study, strategy):
    """The rate that a strategy gives to each module."""
    (kind, of), = strategy.items()
    rate = of["rate"] if isinstance(of, dict) else of
    layers = study["model"]["layers"]
    k = of.get("k", 0) if isinstance(of, dict) else 0
    if not 0 <= k <= layers:
        raise Wrong(f"k = {k} of {layers} layers")
    trained = {"full": lambda n: True, "head_only": lambda n: False,
               "first_k": lambda n: n >= k, "last_k": lambda n: n >= layers - k,
               "alternating": lambda n: n % 2 == 1}[kind]
    embeddings = kind in ("full", "alternating") or (
        kind == "first_k" and of.get("embeddings") == "train")
    for module in top_modules(study):
        frozen = module == "embeddings" and not embeddings or \
            module.startswith("layer.") and not trained(int(module[6:]))
        yield module, 0 if frozen else rate


def allowed(study, module):
    """The rates that a module, or what it is cut into, can have."""
    space = study["space"]
    default = dict(rates_of(study, space["default"])) \
        if "default" in space else {}
    found = []
    listed = list(space.get("modules", {}).items())
    listed += [(selector, tie["levels"])
               for tie in space.get("tie", {}).values()
               for selector in tie["modules"]]
    for selector, value in listed:
        if any(name == module or name.startswith(module + ".")
               for name in select(study, selector)):
            found.append(domain(value))
    return found or [[default.get(module, 0)]]


def check_point(study, run):
    """A run's point lies in the study's space."""
    known = parameters(study)
    if "strategy" in run and "values" in run:
        raise Wrong("a strategy and values")
    for module, rate in rates_of(study, run["strategy"]) \
            if "strategy" in run else ():
        for levels in allowed(study, module):
            if rate not in levels:
                raise Wrong(f"{module} cannot have the rate {rate}")
    if "values" in run and set(run["values"]) != set(known):
        raise Wrong(f"values of {sorted(run['values'])}, and the space has "
                    f"{sorted(known)}")
    for name, value in run.get("values", {}).items():
        if value not in known[name]:
            raise Wrong(f"{value} is no level of {name}")


# What keys a study file may have.

FIELD = re.compile(r"^  (?:\s*)(?:repeated |optional )?"
                   r"(map<\w+, \w+>|[\w.]+) (\w+) = \d+", re.MULTILINE)


def messages():
    """message: {field: its type}, of study.proto."""
    text = (ROOT / "proto" / "frostline" / "v1" / "study.proto").read_text()
    text = re.sub(r"//.*", "", text)
    return {name: {field: kind for kind, field in FIELD.findall(body)}
            for name, body in re.findall(r"^message (\w+) \{(.*?)^\}", text,
                                         re.MULTILINE | re.DOTALL)}


SHORT = {"maximize", "minimize", "objective"}
# Fields whose keys are names, and what their values are.
NAMED = {"modules", "tie", "tasks", "parameters"}


def unknown_keys(value, kind, known, where="study"):
    """Paths of keys that no field stands for."""
    if not isinstance(value, dict) or kind not in known or \
            kind == "Strategy":
        return
    for key, item in value.items():
        field = known[kind].get("ties" if key == "tie" else key)
        if field is None:
            yield f"{where}.{key}"
        elif key in NAMED and isinstance(item, dict):
            for name, each in item.items():
                yield from unknown_keys(each, field, known,
                                        f"{where}.{key}.{name}")
        else:
            yield from unknown_keys(item, field, known, f"{where}.{key}")


def check_keys(study):
    known = messages()
    known["StudyFile"] = {**known["StudySpec"], **known["StudySettings"],
                          **dict.fromkeys(SHORT, "text")}
    wrong = list(unknown_keys(study, "StudyFile", known))
    if wrong:
        raise Wrong(f"no keys of a study: {', '.join(wrong)}")
