#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_test.py PROGRAMS: models and data by their names, from a stand-in of the Hub on this
machine, through the Hub's own client and into a real registry."""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest
import urllib.parse

import pyarrow
import pyarrow.parquet
import transformers
from world import PROGRAMS, scratch

from totals import run_and_count

OTHER_NAMES = {"glue": "nyu-mll/glue"}  # as the Hub has them for its oldest sets


class StandIn(http.server.BaseHTTPRequestHandler):
    """What huggingface_hub asks: what a repository is, and its files."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.server.asked.append(path)
        for short, long in OTHER_NAMES.items():
            if f"datasets/{short}" == path.split("/api/")[-1].split("/revision")[0]:
                return self.say(307, b"", Location=path.replace(short, long))
        for name, commits in self.server.repositories.items():
            newest = list(commits)[-1]
            about, files = f"/api/{name}", f"/{name.removeprefix('models/')}/resolve/"
            if path in (about, f"{about}/revision/main"):
                return self.about(name, newest, commits[newest])
            if path.startswith(f"{about}/revision/"):
                wanted = path.rsplit("/", 1)[1]
                if wanted in commits:
                    return self.about(name, wanted, commits[wanted])
                return self.say(404, b"{}", **{"X-Error-Code": "RevisionNotFound"})
            if path.startswith(f"{about}/tree/"):
                commit = path[len(f"{about}/tree/"):].split("/")[0]
                tree = [{"type": "file", "path": f, "size": len(c), "oid": blob(c)}
                        for f, c in commits[commit].items()]
                return self.say(200, json.dumps(tree).encode())
            if path.startswith(files):
                commit, file = path[len(files):].split("/", 1)
                content = commits.get(commit, {}).get(file)
                if content is None:
                    return self.say(404, b"", **{"X-Error-Code": "EntryNotFound"})
                return self.say(200, content, ETag=f'"{blob(content)}"',
                                **{"X-Repo-Commit": commit})
        return self.say(404, b"{}", **{"X-Error-Code": "RepoNotFound"})

    def about(self, name, commit, files):
        self.say(200, json.dumps({
            "_id": "1", "id": name.split("/", 1)[1], "sha": commit, "private": False,
            "disabled": False, "downloads": 0, "likes": 0, "tags": [],
            "siblings": [{"rfilename": file} for file in files]}).encode())

    def say(self, code, body, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def blob(content):
    return hashlib.sha1(content).hexdigest()


@contextlib.contextmanager
def stand_in(repositories):
    """Yields its address and the list of what it was asked."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    server.repositories, server.asked = repositories, []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file()}


def tiny_bert(seed=1):
    transformers.set_seed(seed)
    with scratch() as folder:
        (folder / "vocab.txt").write_text("\n".join(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film"]) + "\n")
        transformers.BertModel(transformers.BertConfig(
            vocab_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=32)).save_pretrained(folder)
        (folder / "onnx").mkdir()
        (folder / "onnx/model.onnx").write_bytes(b"of no use")
        return contents(folder)


def sst2():
    """As the library `datasets` writes it: classes by number, their names in the schema."""
    about = {"info": {"features": {
        "sentence": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["negative", "positive"], "_type": "ClassLabel"},
        "idx": {"dtype": "int32", "_type": "Value"}}}}

    def rows(count, label=None):
        made = pyarrow.table(
            {"sentence": [f"a {'good' if i % 2 else 'bad'} film, {i}" for i in range(count)],
             "label": [i % 2 if label is None else label for i in range(count)],
             "idx": list(range(count))})
        return made.replace_schema_metadata({"huggingface": json.dumps(about)})

    with scratch() as folder:
        for part in ("sst2", "other"):
            (folder / part).mkdir()
            for split, made in (("train", rows(40)), ("validation", rows(8)),
                                ("test", rows(6, -1))):
                pyarrow.parquet.write_table(
                    made, folder / part / f"{split}-00000-of-00001.parquet")
        (folder / "README.md").write_text("---\n---\n")
        return contents(folder)


def hub(endpoint, folder, *flags, without=""):
    """frostline-hub, as a user calls it, with caches of its own."""
    code = "import sys; " + (f"sys.modules[{without!r}] = None; " if without else "") + \
        "from frostline.hub import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *flags], cwd=folder, capture_output=True, text=True,
        timeout=120, env={**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "hf"),
                          "HF_HUB_DISABLE_PROGRESS_BARS": "1"})


def frostline(folder, *words, **variables):
    return subprocess.run([PROGRAMS / "frostline", *words], cwd=folder, timeout=60,
                          capture_output=True, text=True, env={**os.environ, **variables})


class Hub(unittest.TestCase):
    def test_a_model_and_a_part_of_a_data_set_come_by_their_names(self):
        first, second = "a" * 40, "b" * 40
        there = {"models/bert-tiny": {first: tiny_bert()},
                 "datasets/nyu-mll/glue": {first: sst2()}}
        with scratch() as folder, stand_in(there) as (endpoint, asked):
            done = hub(endpoint, folder, "--model", "bert-tiny", "--data", "glue/sst2")
            self.assertEqual(0, done.returncode, done.stderr)
            checked = frostline(folder, "registry", "check")
            self.assertEqual("", checked.stderr, done.stdout)
            self.assertIn("all 2 entries of registry are right", checked.stdout)
            self.assertIn("2 layers", checked.stdout)
            self.assertRegex(checked.stdout, r"sst2(.|\n)*negative(.|\n)*positive")
            self.assertIn("test is left out: its rows have no labels", done.stderr)
            self.assertEqual(
                {"model bert-tiny": {"name": "bert-tiny", "revision": first},
                 "data sst2": {"name": "glue/sst2", "revision": first}},
                json.loads((folder / "registry/hub.json").read_text()))
            self.assertFalse([one for one in asked if "onnx" in one or "other" in one])
            self.assertEqual(["bert-tiny-" + 12 * "a", "sst2-" + 12 * "a"],
                             sorted(os.listdir(folder / "registry/hub")))

            # The Hub has a newer one: the pinned one comes again, until another is named.
            there["models/bert-tiny"][second] = tiny_bert(seed=2)
            again = hub(endpoint, folder, "--model", "bert-tiny")
            self.assertEqual(0, again.returncode, again.stderr)
            self.assertIn("is in registry/models.yaml already", again.stdout)
            newer = hub(endpoint, folder, "--model", "bert-tiny", "--revision", "main",
                        "--", "--replace")
            self.assertEqual(0, newer.returncode, newer.stderr)
            self.assertIn(second, (folder / "registry/hub.json").read_text())
            self.assertIn("added to", newer.stdout)

    def test_the_command_line_adds_by_name(self):
        there = {"models/bert-tiny": {"a" * 40: tiny_bert()},
                 "datasets/nyu-mll/glue": {"a" * 40: sst2()}}
        with scratch() as folder, stand_in(there) as (endpoint, _):
            away = {"HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "hf"), "PATH": "/nowhere",
                    "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
            ours = {**away, "FROSTLINE_PYTHON": sys.executable}
            add = "registry", "add"
            # Without a Python that has it, two lines are said, and they are not run.
            for words, said in (
                    (("--model", "org/Bert-Tiny", "--revision", "v1"),
                     "    hf download org/Bert-Tiny --revision v1 --local-dir bert-tiny\n"
                     "    frostline registry add model bert-tiny --id bert-tiny"),
                    (("--data", "glue/sst2", "--text", "sentence"),
                     "d.load_dataset('glue', 'sst2').items()]\"\n"
                     "    frostline registry add dataset sst2 --id sst2 --registry registry "
                     "--text sentence")):
                done = frostline(folder, *add, *words, **away)
                self.assertEqual(100, done.returncode, done.stdout)
                self.assertIn("error[FL-5010]", done.stderr)
                self.assertIn(said, done.stderr)
            self.assertEqual([], os.listdir(folder))
            done = frostline(folder, *add, "--model", "bert-tiny", "--id", "tiny", **ours)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("added to registry/models.yaml", done.stdout)
            # As a program of this name on PATH; a flag of `add dataset` reaches it.
            (folder / "bin").mkdir()
            program = folder / "bin/frostline-hub"
            program.write_text(f"#!{sys.executable}\nimport sys\nfrom frostline.hub import "
                               "main\nsys.exit(main())\n")
            program.chmod(0o755)
            done = frostline(folder, *add, "--data", "glue/sst2", "--registry", "other",
                             "--text", "sentence", **{**away, "PATH": str(folder / "bin")})
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("glue/sst2 is pinned to aaaa", done.stderr)
            done = frostline(folder, *add, "--model", "none", **ours)
            self.assertEqual(1, done.returncode)
            self.assertIn("error[PY-1024]", done.stderr)
            for words, said in ((("model", "x", "--revision", "y"), "--revision excludes model"),
                                (("--model", "../x"), "no name that the Hub gives"),
                                (("--model", "x", "--text", "y"), "--text requires --data")):
                done = frostline(folder, *add, *words, **ours)
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn(said, done.stderr)

    def test_several_parts_are_named(self):
        with scratch() as folder, stand_in(
                {"datasets/nyu-mll/glue": {"a" * 40: sst2()}}) as (endpoint, _):
            done = hub(endpoint, folder, "--data", "nyu-mll/glue")
            self.assertIn("several parts: other, sst2", done.stderr)
            done = hub(endpoint, folder, "--data", "nyu-mll/glue/other")
            self.assertEqual(0, done.returncode, done.stderr)

    def test_what_is_not_there_is_said(self):
        pickled = {"config.json": b"{}", "pytorch_model.bin": b"x"}
        with scratch() as folder, stand_in({"models/old": {"a" * 40: pickled}}) as (at, _):
            for words, said in ((("--model", "brt"), "has no model brt"),
                                (("--model", "old"), "no weights as safetensors"),
                                (("--model", "old", "--revision", "v9"), "no model old at v9"),
                                (("--data", "glue/sst2"), "no dataset glue")):
                done = hub(at, folder, *words)
                self.assertEqual(1, done.returncode)
                self.assertIn(said, done.stderr)
                self.assertIn("error[PY-1024]", done.stderr)
            self.assertFalse((folder / "registry/hub").exists())

    def test_without_a_network_or_the_package_two_lines_do_it_by_hand(self):
        with scratch() as folder:
            for away in ({}, {"without": "huggingface_hub"}):
                model = hub("http://127.0.0.1:9", folder, "--model", "org/bert", **away)
                self.assertEqual(1, model.returncode)
                self.assertIn("    hf download org/bert --local-dir bert\n    frostline "
                              "registry add model bert --id bert", model.stderr)
                data = hub("http://127.0.0.1:9", folder, "--data", "glue/sst2", **away)
                self.assertIn("d.load_dataset('glue', 'sst2')", data.stderr)
                self.assertIn("frostline registry add dataset sst2", data.stderr)
            self.assertIn("pip install huggingface_hub", model.stderr)
            self.assertFalse(pathlib.Path(folder, "registry/models.yaml").exists())


if __name__ == "__main__":
    sys.exit(run_and_count())
