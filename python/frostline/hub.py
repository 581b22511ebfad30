# SPDX-License-Identifier: Apache-2.0
"""frostline-hub: models and data of the Hugging Face Hub into a registry, by name.

    frostline-hub --model bert-base-uncased --data glue/sst2
    frostline-hub --data imdb -- --text text --label label

What a name stands for today is looked up once: its revision, a commit's hash, is kept in
the registry's hub.json, and the same files come again until --revision names another.
The files are then put up by `frostline registry add`, which checks them and keeps their
sums. Where the Hub or its package is away, the two lines that do it by hand are said."""
from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import errors
from ._wire import need
from .programs import bin_path

LOCK = "hub.json"
_OF_A_MODEL = ["config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*",
               "vocab*", "merges.txt", "special_tokens_map.json", "*.model"]
_ROWS = (".parquet", ".jsonl", ".csv", ".tsv")
_SPLIT = re.compile(r"(?:^|[/_.-])(train|validation|valid|val|dev|test)(?=[/_.-])")


def main(arguments: Optional[List[str]] = None) -> int:
    options = _options(sys.argv[1:] if arguments is None else arguments)
    try:
        registry = pathlib.Path(options.registry)
        if options.model:
            add_model(options.model, registry, options.revision, options.id, options.rest)
        if options.data:
            add_data(options.data, registry, options.revision, options.id, options.rest)
    except errors.Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _options(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="frostline-hub", usage="frostline-hub [flags] [-- flags of registry add]",
        description="Models and data of the Hugging Face Hub into a registry, by name.")
    parser.add_argument("--model", metavar="NAME", help="bert-base-uncased, owner/name")
    parser.add_argument("--data", metavar="NAME", help="imdb, glue/sst2, owner/name/part")
    parser.add_argument("--registry", metavar="DIR", default="registry",
                        help="folder of models.yaml and datasets.yaml [registry]")
    parser.add_argument("--id", help="what studies call it; from NAME")
    parser.add_argument("--revision", help="a commit, branch or tag; else the one in "
                        f"{LOCK}, else the newest")
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:at])
    options.rest = arguments[at + 1:]
    if not (options.model or options.data):
        parser.error("name a --model or --data")
    if options.model and options.data and (options.id or options.revision or options.rest):
        parser.error("--id, --revision and what is behind -- are of one: call it twice")
    return options


def add_model(name: str, registry: pathlib.Path, revision: Optional[str] = None,
              id: Optional[str] = None, more: Sequence[str] = ()) -> str:
    """Returns the revision that is now in the registry."""
    id = id or _id_of(name)
    by_hand = (f"hf download {name} --local-dir {id}",
               f"frostline registry add model {id} --id {id} --registry {registry}")
    hub = _Hub("model", by_hand)
    wanted = revision or _pinned(registry, f"model {id}", name)
    found = hub.about(name, wanted)
    if not any(file.endswith(".safetensors") for file in hub.files(found)):
        raise errors.FailedPrecondition(
            f"{name} at {found.sha} has no weights as safetensors",
            "save it as such: transformers.AutoModel.from_pretrained"
            f"({name!r}).save_pretrained({id!r}), then {by_hand[1]}", id="PY-1024")
    with _place(registry, id, found.sha) as folder:
        hub.fetch(found, folder, _OF_A_MODEL)
        _register("model", folder, id, registry, more)
    _pin(registry, f"model {id}", name, found.sha)
    return found.sha


def add_data(name: str, registry: pathlib.Path, revision: Optional[str] = None,
             id: Optional[str] = None, more: Sequence[str] = ()) -> str:
    """Returns the revision that is now in the registry."""
    id = id or _id_of(name)
    deep = name.count("/") == 2  # owner/name/part
    repository, _, part = name.rpartition("/") if deep else name.partition("/")
    words = ", ".join(repr(one) for one in (repository, part) if one)
    by_hand = (f"python3 -c \"import datasets as d; [s.to_json(f'{id}/{{n}}.jsonl') for n, s "
               f"in d.load_dataset({words}).items()]\"",
               f"frostline registry add dataset {id} --registry {registry}")
    hub = _Hub("dataset", by_hand)
    wanted = revision or _pinned(registry, f"data {id}", name)
    try:
        if deep:
            found = hub.about(repository, wanted)
        else:
            found, part = hub.about(name, wanted), ""
    except errors.NotFound:
        if deep or not part:
            raise
        found = hub.about(repository, wanted)  # its name is one word: glue, and a part
    files = _rows_of(hub.files(found), part)
    if not files:
        raise errors.NotFound(
            f"{name} at {found.sha} has no rows in files of Parquet, JSON lines or CSV"
            + (f" below {part}/" if part else ""),
            "its page on the Hub names its parts; or by hand:\n" + _indented(by_hand),
            id="PY-1024")
    with _place(registry, id, found.sha) as folder, tempfile.TemporaryDirectory() as source:
        hub.fetch(found, pathlib.Path(source), list(files))
        _write_rows(pathlib.Path(source), files, folder)
        _register("dataset", folder, id, registry, more)
    _pin(registry, f"data {id}", name, found.sha)
    return found.sha


class _Hub:
    """The Hub's own client, and what to do where it does not get through."""

    def __init__(self, kind: str, by_hand: Tuple[str, str]) -> None:
        self._kind, self._by_hand = kind, by_hand
        try:
            self._client = need("huggingface_hub")
        except errors.PackageMissing as error:
            error.fix += ", or by hand:\n" + _indented(by_hand)
            raise

    def about(self, name: str, revision: Optional[str]) -> Any:
        """What the Hub says of it, with the hash of its commit."""
        api = self._client.HfApi()
        return self._asked(f"{name} at {revision}" if revision else name, lambda: api.repo_info(
            name, repo_type=self._kind, revision=revision, timeout=30))

    @staticmethod
    def files(found: Any) -> List[str]:
        return [one.rfilename for one in found.siblings or ()]

    def fetch(self, found: Any, folder: pathlib.Path, patterns: List[str]) -> None:
        print(f"fetching {found.id} at {found.sha}", file=sys.stderr)
        ignored = ["*/*"] if self._kind == "model" else None
        self._asked(found.id, lambda: self._client.snapshot_download(
            found.id, repo_type=self._kind, revision=found.sha, local_dir=folder,
            allow_patterns=patterns, ignore_patterns=ignored))

    def _asked(self, name: str, call: Callable[[], Any]) -> Any:
        told = self._client.errors
        try:
            return call()
        except told.GatedRepoError as error:
            raise errors.PermissionDenied(
                f"{name} is given to those alone who agreed to its terms: {_line(error)}",
                "agree on its page, then hf auth login", id="PY-1024") from None
        except (told.RepositoryNotFoundError, told.RevisionNotFoundError) as error:
            raise errors.NotFound(f"the Hub has no {self._kind} {name}: {_line(error)}",
                                  "correct the name or the revision", id="PY-1024") from None
        except Exception as error:  # of several libraries below it
            raise errors.Unavailable(
                f"the Hub did not give {name}: {type(error).__name__}: {_line(error)}",
                "try again, or where there is a network:\n" + _indented(self._by_hand),
                id="PY-1023") from None


def _rows_of(files: List[str], part: str) -> Dict[str, str]:
    """{file: split}, of one part, in the first format that there is."""
    there = [f for f in files if not part or part in pathlib.PurePath(f).parts[:-1]]
    parts = sorted({f.rpartition("/")[0] for f in there if f.endswith(_ROWS[0])})
    if len(parts) > 1:
        raise errors.InvalidArgument(
            f"it has several parts: {', '.join(parts)}", "name one of them behind a /",
            id="PY-1024")
    for suffix in _ROWS:
        named = [(f, _SPLIT.search(f[len(part):] if f.startswith(part) else f))
                 for f in there if f.endswith(suffix)]
        found = {f: match.group(1) for f, match in named if match}
        if found:
            return found
    return {}


def _write_rows(source: pathlib.Path, files: Dict[str, str], target: pathlib.Path) -> None:
    """One file for each split that has labels: Parquet as JSON lines, others as they are."""
    splits: Dict[str, List[pathlib.Path]] = {}
    for file, split in sorted(files.items()):
        splits.setdefault(split, []).append(source / file)
    for split, paths in splits.items():
        suffix = paths[0].suffix
        if suffix == ".parquet":
            _write_parquet(paths, split, target / f"{split}.jsonl")
        elif len(paths) > 1 and suffix != ".jsonl":
            raise errors.FailedPrecondition(
                f"{split} is in {len(paths)} files with headers, as {paths[0].name}",
                "put them together by hand, and call frostline registry add dataset FILE",
                id="PY-1024")
        else:
            with open(target / f"{split}{suffix}", "wb") as whole:
                for path in paths:
                    whole.write(path.read_bytes())


def _write_parquet(paths: List[pathlib.Path], split: str, target: pathlib.Path) -> None:
    parquet = need("pyarrow.parquet", "datasets")
    labelled = True
    with open(target, "w", encoding="utf-8") as file:
        for path in paths:
            table = parquet.ParquetFile(path)
            names = _classes(table.schema_arrow.metadata)
            for batch in table.iter_batches():
                for row in batch.to_pylist():
                    labelled = labelled and not any(row[name] == -1 for name in names)
                    for name, words in names.items():
                        row[name] = words[row[name]] if row[name] in range(len(words)) else None
                    file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    if not labelled:
        print(f"{split} is left out: its rows have no labels", file=sys.stderr)
        target.unlink()


def _classes(metadata: Any) -> Dict[str, List[str]]:
    """{column: names of its classes}, as the library `datasets` keeps them."""
    about = json.loads((metadata or {}).get(b"huggingface", b"{}"))
    kinds = about.get("info", {}).get("features", {})
    return {name: kind["names"] for name, kind in kinds.items()
            if isinstance(kind, dict) and kind.get("_type") == "ClassLabel"}


def _register(kind: str, path: pathlib.Path, id: str, registry: pathlib.Path,
              more: Sequence[str]) -> None:
    done = subprocess.run([bin_path("cli"), "registry", "add", kind, str(path), "--id", id,
                           "--registry", str(registry), *more])
    if done.returncode:
        raise errors.FailedPrecondition(
            f"frostline registry add {kind} ended with {done.returncode}, and nothing was "
            "added", "it says why above; flags for it go behind --", id="PY-1024")


def _pinned(registry: pathlib.Path, key: str, name: str) -> Optional[str]:
    kept = _lock_of(registry).get(key, {})
    return kept.get("revision") if kept.get("name") == name else None


def _pin(registry: pathlib.Path, key: str, name: str, revision: str) -> None:
    kept = {**_lock_of(registry), key: {"name": name, "revision": revision}}
    part = registry / f"{LOCK}.part"
    part.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(registry / LOCK)
    print(f"{name} is pinned to {revision} in {registry / LOCK}", file=sys.stderr)


def _lock_of(registry: pathlib.Path) -> Dict[str, Dict[str, str]]:
    path = registry / LOCK
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise errors.BadFile(f"{path} cannot be read: {error}", "mend or delete it") from None


@contextlib.contextmanager
def _place(registry: pathlib.Path, id: str, revision: str) -> Iterator[pathlib.Path]:
    """A folder below the registry, where files are used and not copied; it stays only if
    all went well."""
    folder = registry / "hub" / f"{id}-{revision[:12]}"
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except BaseException:
        if not was_there:
            shutil.rmtree(folder)
        raise


def _id_of(name: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", name.rsplit("/", 1)[-1].lower()).strip("-._")[:64]


def _line(error: BaseException) -> str:
    return next((one.strip() for one in str(error).splitlines() if one.strip()), "no text")


def _indented(lines: Tuple[str, str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
