# SPDX-License-Identifier: Apache-2.0
"""A trial's values in the words of a program that knows nothing of trials: templates of
a command line, and a configuration file with some of its values replaced.

    python train.py --lr {lr} --rates '{rates}'   {name}, {rates}, {seed}, {folder} …
    python train.py {args}                        --lr 0.001 --dropout 0.1
    python train.py --bottom {layer.0} {rate:head}
    ${HOME}/train.sh                              a variable of the environment

    model.dropout <- dropout                      a path in a file, and a value"""
from __future__ import annotations

import difflib
import json
import os
import pathlib
import re
import shlex
from typing import Any, Dict, List, Mapping, Optional

from . import errors
from ._wire import need

_FIELD = re.compile(r"\$\{(\w+)\}|\{\{|\}\}|\{([^{}\s]*)\}")
_UNCLOSED = re.compile(r"\{[A-Za-z_][\w.:]*$")


def values_of(trial: Any, config: Optional[pathlib.Path] = None) -> Dict[str, Any]:
    """What a template may name; `config` is the changed copy of a configuration file. A
    parameter goes before all else of its name."""
    more = {"seed": trial.seed, "folder": str(trial.folder), "number": trial.number,
            "study": trial.study, "attempt": trial.attempt,
            "model": trial.model.get("id", ""), "data": trial.data.get("id", ""),
            "prefix_depth": trial.prefix_depth, "rates": trial.rates,
            "frozen": [name for name, rate in trial.rates.items() if rate == 0],
            "trained": [name for name, rate in trial.rates.items() if rate > 0]}
    if config is not None:
        more["config"] = str(config)
    by_rate = {f"rate:{name}": rate for name, rate in trial.rates.items()}
    training = {f"training.{name}": value for name, value in trial.training.items()}
    return {**more, **by_rate, **training, **trial.rates, **trial.parameters}


def text_of(value: Any) -> str:
    """As a command line has it: true, 2e-05, {"a": 1}."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # numbers of the wire are doubles: 32.0 is 32
    return json.dumps(value)


def args_of(trial: Any) -> List[str]:
    return [word for name, value in trial.parameters.items()
            for word in (f"--{name}", text_of(value))]


def command_of(template: str, trial: Any,
               config: Optional[pathlib.Path] = None) -> List[str]:
    """The words of a command line. Its words are split before values are put in, so a
    value is never more than one word."""
    known = values_of(trial, config)
    words: List[str] = []
    for word in _split(template):
        if word == "{args}":
            words += args_of(trial)
        else:
            words.append(filled(word, known))
    return words


def _split(template: str) -> List[str]:
    try:
        split = shlex.split(template)
    except ValueError as error:
        raise errors.InvalidArgument(
            f"the command {template!r} cannot be split into words: {error}",
            "close its quotes", id="PY-1020") from None
    if not split:
        raise errors.InvalidArgument("the command is empty", "give one behind --",
                                     id="PY-1020")
    return split


def check_command(words: List[str], config: Optional[str] = None) -> None:
    """What is wrong with a command whatever the trial: quotes, the environment, braces,
    and whether it gets the changed copy of `config`."""
    if len(words) == 1:
        words = _split(words[0])
    for word in words:
        for match in _FIELD.finditer(word):
            if match.group(1):
                filled(match.group(0), {})
        if _UNCLOSED.search(_FIELD.sub("", word)):
            raise errors.InvalidArgument(f"a brace of {word!r} is not closed",
                                         "close it; for a brace write {{", id="PY-1020")
    named = any("{config}" in word for word in words)
    if config and not named:
        raise errors.InvalidArgument(
            f"the command never gets the changed copy of {config}",
            "write {config} where its file stands", id="PY-1022")
    if named and not config:
        raise errors.UnknownName("the command names {config}, and there is no --config",
                                 "name the file with --config FILE")


def check_overlay(source: Optional[str], changes: Mapping[str, str]) -> None:
    """Whether the file has a place for each change."""
    if not source:
        if changes:
            raise errors.InvalidArgument("--set without --config",
                                         "name the file it changes", id="PY-1022")
        return
    content = read_config(pathlib.Path(source))
    for path in changes:
        content = _replaced(content, path.split("."), None, path, source)


def filled(word: str, known: Mapping[str, Any]) -> str:
    def put(match: "re.Match[str]") -> str:
        if match.group(0) in ("{{", "}}"):
            return match.group(0)[0]
        if match.group(1):
            if match.group(1) not in os.environ:
                raise errors.UnknownName(
                    f"the template {word!r} names the variable {match.group(1)}, which "
                    "is not in the environment", "set it, or write the value")
            return os.environ[match.group(1)]
        if match.group(2) not in known:
            raise errors.UnknownName(
                f"the template {word!r} names {match.group(2)!r}; there are: "
                f"{', '.join(known)}", "correct the name; for a brace write {{ or }}")
        return text_of(known[match.group(2)])

    return _FIELD.sub(put, word)


def overlay(source: pathlib.Path, changes: Mapping[str, str], trial: Any,
            target: pathlib.Path) -> None:
    """`target` is `source` with the values at some paths replaced. A path is made of
    keys and numbers of list entries: `trainer.groups.0.lr`. A change `{lr}` keeps the
    type of the value, one without a name is what JSON takes it for (2, true, [1, 2], else
    text); one with other text around a name is text."""
    content, known = read_config(source), values_of(trial)
    for path, template in changes.items():
        whole = re.fullmatch(r"\{([^{}\s]+)\}", template)
        if whole and whole.group(1) in known:
            value = known[whole.group(1)]
            if isinstance(value, float) and value.is_integer():
                value = int(value)
        elif _FIELD.search(template):
            value = filled(template, known)
        else:
            value = _literal(template)
        content = _replaced(content, path.split("."), value, path, source)
    if target.suffix == ".json":
        text = json.dumps(content, indent=2)
    else:
        text = need("yaml", "pyyaml").safe_dump(content, sort_keys=False)
    beside = target.with_name(target.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(target)


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_config(path: pathlib.Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else \
            need("yaml", "pyyaml").safe_load(text)
    except errors.PackageMissing:
        raise
    except Exception as error:  # what YAML raises has no class of the library
        line = " ".join(str(error).split())
        raise errors.BadFile(f"{path} cannot be read: {line}",
                             "correct the file, or name another one") from None


def _replaced(content: Any, keys: List[str], value: Any, path: str, source: Any) -> Any:
    if not keys:
        return value
    first, rest = keys[0], keys[1:]
    if isinstance(content, list):
        if not first.isdigit() or int(first) >= len(content):
            raise errors.UnknownName(
                f"{source} has no {path}: {first!r} is no entry of a list of "
                f"{len(content)}", "count entries from 0")
        content[int(first)] = _replaced(content[int(first)], rest, value, path, source)
        return content
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise errors.UnknownName(
            f"{source} has no {path}: what is before {first!r} is {content!r}",
            "name a path that leads through maps and lists")
    key = next((k for k in content if str(k) == first), None)
    if key is None:
        _check_new(first, rest, content, path, source)
        key = first
    content[key] = _replaced(content.get(key), rest, value, path, source)
    return content


def _check_new(first: str, rest: List[str], content: Mapping[Any, Any], path: str,
               source: Any) -> None:
    """A value may be new in a map that is there, unless it looks like a misspelt one."""
    names = [str(name) for name in content]
    near = difflib.get_close_matches(first, names, 1, 0.8)
    if not rest and not near:
        return
    there = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(names)}"
    raise errors.UnknownName(
        f"{source} has no {path}: {first!r} is not in it{there}",
        "correct the path, or write the value into the file first")
