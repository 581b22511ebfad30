#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the samples on which every recipe can be tried in seconds.

usage: make_samples.py [--out DIR]

All sentences are put together here, from frames and words; none is from a data
set. A label follows from the words: good ones and bad ones, the same question or
another, the tag that a word has in its frame. Rows are taken in the order of a
hash of their texts, so that the files are the same everywhere. DIR also gets
tiny/, a BERT of three layers, and tiny-decoder/, a Llama of three layers that
reads bytes, whose weights are drawn from a hash of their names, and
datasets.yaml and models.yaml: it is a registry.

A sample has 60 rows to train on and 20 to validate and test on.
"""
import argparse
import collections
import hashlib
import itertools
import json
import math
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from registry_files import by_hash, safetensors_head  # noqa: E402

TRAIN, DEV = 60, 20

# What one can do: did, do, doing, in which way, and to what.
ACTIONS = [
    ("painted", "paint", "painting", "slowly", "fence door wall boat"),
    ("carried", "carry", "carrying", "carefully", "basket ladder lamp box"),
    ("repaired", "repair", "repairing", "quickly", "clock bicycle roof radio"),
    ("found", "find", "finding", "quickly", "key letter coin map"),
    ("sold", "sell", "selling", "quickly", "house car piano table"),
    ("cleaned", "clean", "cleaning", "carefully", "window kitchen floor stove"),
]
PERSONS = "gardener nurse pilot baker teacher farmer driver neighbour".split()
NAMES = "Anna Peter Maria Tom Laura David".split()
PLACES = ["near the station", "behind the school", "at the market",
          "in the village"]

# A word is form/TAG, or form/lemma/TAG. In braces stands what is put in.
TAGGED = [
    "The/the/DET {kind} {person} {did} the/DET {thing} ./PUNCT",
    "{name} {did} a/DET small/ADJ {thing} {place} ./PUNCT",
    "{pronoun} will/AUX {do} the/DET {thing} {way} ./PUNCT",
    "Two/two/NUM {persons} {did} the/DET {thing} while/SCONJ it/PRON "
    "rained/rain/VERB ./PUNCT",
    "Did/do/AUX {name} {do} the/DET {thing} or/CCONJ the/DET {other} ?/PUNCT",
    "Yes/yes/INTJ ,/PUNCT we/PRON {did} it/PRON {way} ./PUNCT",
    "The/the/DET {thing} was/be/AUX too/ADV large/ADJ for/ADP the/DET {person} "
    "./PUNCT",
    "{name} wants/want/VERB to/PART {do} the/DET {thing} {place} ./PUNCT",
    "My/my/PRON neighbour/NOUN and/CCONJ {name} {did} {number} {things} "
    "./PUNCT",
    "Nobody/nobody/PRON could/AUX {do} the/DET {thing} without/ADP {name} "
    "./PUNCT",
    "{name} 's/PART {person} {did} it/PRON {place} ./PUNCT",
    "If/if/SCONJ it/PRON rains/rain/VERB ,/PUNCT the/DET {person} will/AUX "
    "not/PART {do} the/DET {thing} ./PUNCT",
]
TAGS_OF_PLACES = {"near": "ADP", "behind": "ADP", "at": "ADP", "in": "ADP",
                  "the": "DET"}

GOOD = "lovely great pleasant superb wonderful delightful".split()
BAD = "poor terrible horrible disappointing dreadful boring".split()
# What is judged, and parts of it: films as of IMDb, and what a model is carried
# over to. "phrases" are no sentences.
JUDGED = {
    "sentiment": ("film", "story ending cast soundtrack plot".split()),
    "places": ("restaurant", "soup kitchen room menu waiter".split()),
    "goods": ("radio", "battery display cable case speaker".split()),
    "phrases": ("film", "plot scene camera song hero".split()),
}
SENTENCES = {
    1: ["The {part} was {word}.", "A {word} {whole} with a {more} {part}.",
        "I like this {whole} because the {part} is {word}.",
        "What a {word} {part}, and the {other} is {more} too!"],
    0: ["The {part} was {word}.", "A {word} {whole} with a {more} {part}.",
        "I regret this {whole} because the {part} is {word}.",
        "What a {word} {part}, and the {other} is {more} too!"],
}
PHRASES = ["a {word} {part}", "{word} from beginning to end",
           "the {part} {word} and the {other} {more}"]
GRADES = ["dreadful terrible horrible", "poor weak dull",
          "ordinary average plain", "good pleasant nice",
          "superb wonderful brilliant"]
GRADED = ["The {part} was {word}.", "I found the {part} {word}.",
          "My friends called the {part} of this {whole} {word}."]

# Two ways to ask the same.
QUESTIONS = [
    ("How do I {do} a {thing}?", "What is the best way to {do} a {thing}?"),
    ("Where can I {do} my old {thing}?",
     "Is there a place where I can {do} my old {thing}?"),
]
ASKED = ["paint", "carry", "repair", "sell", "clean"]
ASKED_ABOUT = "bicycle boat piano table lamp clock door fence".split()

# A second sentence to "A nurse is painting a door in the garden.", and how much
# of the first it says.
RATED = [
    (5.0, "In the {place}, a {person} is {doing} a {thing}."),
    (4.2, "A {person} is {doing} a {thing}."),
    (3.0, "A {person} is {doing} a {other} in the {place}."),
    (2.0, "A {else_person} is {else_doing} a {else_thing} in the {place}."),
    (1.0, "There is a {thing} in the {else_place}."),
    (0.0, "{unlike}"),
]
ROOMS = "garden school station market".split()

# What follows from "Anna painted the fence near the station.", or does not.
CLAIMS = [("entailment", "{name} {did} something {place}."),
          ("contradiction", "Nobody {did} the {thing}."),
          ("neutral", "{name} {did} the {other}, too.")]
# What is asked of it, and the answer.
ASKED_OF = [("Who {did} the {thing}?", " {name}"),
            ("What did {name} {do}?", " the {thing}"),
            ("Where did {name} {do} the {thing}?", " {place}")]
UNLIKE = ["The train to the coast leaves at noon.",
          "Nobody knows how deep this lake is.",
          "Our team won the last three games.",
          "It has been raining since Monday."]


def plural(word):
    return word + ("es" if word.endswith("x") else "s")


def with_tags(place):
    return " ".join(f"{word}/{TAGS_OF_PLACES.get(word, 'NOUN')}"
                    for word in place.split())


def fillings():
    """All that a frame of TAGGED may be filled with."""
    for action, name, person in itertools.product(ACTIONS, NAMES, PERSONS):
        did, do, _, way, things = action
        for number, thing in enumerate(things.split()):
            other = things.split()[number - 1]
            yield {
                "did": f"{did}/{do}/VERB", "do": f"{do}/VERB",
                "way": f"{way}/ADV", "name": f"{name}/PROPN",
                "person": f"{person}/NOUN",
                "persons": f"{plural(person)}/{person}/NOUN",
                "thing": f"{thing}/NOUN", "other": f"{other}/NOUN",
                "things": f"{plural(thing)}/{thing}/NOUN",
                "pronoun": ["She/she", "He/he", "They/they"][number % 3] +
                           "/PRON",
                "number": ["three", "four", "five"][number % 3] + "/NUM",
                "kind": ["young", "old", "tall", "tired"][number] + "/ADJ",
                "place": with_tags(PLACES[number]),
            }


def read_words(sentence):
    """(form, lemma, tag) of each word."""
    for word in sentence.split():
        form, *lemma, tag = word.split("/")
        yield form, lemma[0] if lemma else form, tag


def as_conllu(sentence, name):
    words = list(read_words(sentence))
    joined = [following[0] in (".", ",", "?", "'s")
              for following in words[1:]] + [True]
    text = "".join(form + ("" if tight else " ")
                   for (form, _, _), tight in zip(words, joined))
    lines = [f"# sent_id = {name}", f"# text = {text}"]
    for number, ((form, lemma, tag), tight) in enumerate(
            zip(words, joined), start=1):
        note = "SpaceAfter=No" if tight and number < len(words) else "_"
        lines.append("\t".join([str(number), form, lemma, tag] + ["_"] * 5 +
                               [note]))
    return "\n".join(lines) + "\n\n"


def tags():
    """Of each frame equally many, dev's after train's."""
    taken = {"train": [], "dev": []}
    filled = list(fillings())
    each = TRAIN // len(TAGGED)
    for frame in TAGGED:
        found = by_hash(frame.format(**words) for words in filled)
        taken["train"] += found[:each]
        taken["dev"] += found[each:each + 2]
    taken["dev"] = by_hash(taken["dev"])[:DEV]
    return {split: "".join(as_conllu(sentence, f"{split}-{number}")
                           for number, sentence in enumerate(
                               by_hash(sentences), start=1))
            for split, sentences in taken.items()}


def table(rows, columns):
    return "".join("\t".join(row) + "\n" for row in [columns, *rows])


def balanced(rows, columns):
    """Of each label equally many, or nearly; no row is in both files."""
    labels = sorted({row[-1] for row in rows})
    files = {"train": [], "dev": []}
    for number, label in enumerate(labels):
        found = by_hash([row for row in rows if row[-1] == label], "\t".join)
        begin = 0
        for split, count in (("train", TRAIN), ("dev", DEV)):
            share = count // len(labels) + (number < count % len(labels))
            files[split] += found[begin:begin + share]
            begin += share
    return {split: table(by_hash(taken, "\t".join), columns)
            for split, taken in files.items()}


def judged(name):
    whole, parts = JUDGED[name]
    rows = []
    for label, words in ((1, GOOD), (0, BAD)):
        frames = PHRASES if name == "phrases" else SENTENCES[label]
        for frame, number, part in itertools.product(
                frames, range(len(words)), parts):
            rows.append((frame.format(
                whole=whole, part=part, other=parts[parts.index(part) - 1],
                word=words[number], more=words[number - 1]), str(label)))
    return balanced(rows, ("text", "label"))


def graded():
    whole, parts = JUDGED["sentiment"]
    rows = [(frame.format(whole=whole, part=part, word=word), str(label))
            for label, words in enumerate(GRADES)
            for frame in GRADED for part in parts for word in words.split()]
    return balanced(rows, ("text", "label"))


def pairs():
    rows = []
    for (first, second), do, thing in itertools.product(
            QUESTIONS, ASKED, ASKED_ABOUT):
        number = ASKED_ABOUT.index(thing)
        asked = first.format(do=do, thing=thing)
        rows.append((asked, second.format(do=do, thing=thing), "1"))
        if number % 2 == 0:
            unlike = {"do": ASKED[ASKED.index(do) - 1], "thing": thing}
        else:
            unlike = {"do": do, "thing": ASKED_ABOUT[number - 1]}
        rows.append((asked, second.format(**unlike), "0"))
    return balanced(rows, ("text", "second", "label"))


def rated():
    rows = []
    for action, person, number in itertools.product(
            range(len(ACTIONS)), range(len(PERSONS)), range(len(ROOMS))):
        _, _, doing, _, things = ACTIONS[action]
        _, _, else_doing, _, else_things = ACTIONS[action - 1]
        words = {
            "person": PERSONS[person], "else_person": PERSONS[person - 1],
            "doing": doing, "else_doing": else_doing,
            "thing": things.split()[number],
            "other": things.split()[number - 1],
            "else_thing": else_things.split()[number],
            "place": ROOMS[number], "else_place": ROOMS[number - 1],
            "unlike": UNLIKE[number],
        }
        first = "A {person} is {doing} a {thing} in the {place}."
        level, second = RATED[(action + person + number) % len(RATED)]
        rows.append((first.format(**words), second.format(**words),
                     str(level)))
    return balanced(rows, ("text", "second", "label"))


def told():
    """All sentences of who did what, and where, with the words of each."""
    for (did, do, _, _, things), name, place in itertools.product(
            ACTIONS, NAMES, PLACES):
        for number, thing in enumerate(things.split()):
            words = {"did": did, "do": do, "name": name, "place": place,
                     "thing": thing, "other": things.split()[number - 1]}
            yield "{name} {did} the {thing} {place}.".format(**words), words


def claims():
    rows = [(sentence, claim.format(**words), label)
            for sentence, words in told() for label, claim in CLAIMS]
    return balanced(rows, ("text", "second", "label"))


def asked():
    rows = by_hash([json.dumps({
        "prompt": f"{sentence} {question.format(**words)}",
        "answer": answer.format(**words)})
        for sentence, words in told() for question, answer in ASKED_OF])
    return {split: "".join(row + "\n" for row in rows[begin:begin + count])
            for split, begin, count in (("train", 0, TRAIN),
                                        ("dev", TRAIN, DEV))}


def samples():
    """(name, ending, task, what is in its files)."""
    yield "tags", "conllu", "tagging", tags()
    for name in JUDGED:
        yield name, "tsv", "classification", judged(name)
    yield "sentiment5", "tsv", "classification", graded()
    yield "pairs", "tsv", "pair", pairs()
    yield "rated", "tsv", "regression", rated()
    yield "claims", "tsv", "pair", claims()
    yield "asked", "jsonl", "answers", asked()


def entry(name, ending, task, files):
    """What datasets.yaml says of a sample."""
    lines = [f"{name}:", f"  task: {task}", f"  format: {ending}"]
    if task in ("pair", "regression"):
        lines.append("  columns: {text: text, second: second, label: label}")
    lines.append("  splits:")
    for split, of in (("train", ""), ("validation", "-dev"), ("test", "-dev")):
        path = f"{name}{of}.{ending}"
        digest = hashlib.sha256(files[path].encode()).hexdigest()
        lines.append(f"    {split}: {{path: {path}, sha256: {digest}}}")
    return "".join(line + "\n" for line in lines)


# The model knows the words that the samples have most of.
TINY = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 16,
    "intermediate_size": 32,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 64,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "pad_token_id": 0,
    "type_vocab_size": 2,
    "vocab_size": 140,
}
SPECIAL = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
# It reads bytes; token 0 ends a text.
TINY_DECODER = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "eos_token_id": 0,
    "hidden_act": "silu",
    "hidden_size": 16,
    "intermediate_size": 32,
    "max_position_embeddings": 192,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "vocab_size": 257,
}
END = "<|end|>"
SPREAD = 0.2  # of weights that are no scale and no bias


def vocabulary(texts):
    counts = collections.Counter(
        word for text in texts for word in re.findall("[a-z]+", text.lower()))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return SPECIAL + words[:TINY["vocab_size"] - len(SPECIAL)]


def shapes():
    """(name, shape) of each weight, named as transformers names them."""
    hidden, middle = TINY["hidden_size"], TINY["intermediate_size"]

    def norm(name):
        yield f"{name}.weight", [hidden]
        yield f"{name}.bias", [hidden]

    def linear(name, outputs, inputs):
        yield f"{name}.weight", [outputs, inputs]
        yield f"{name}.bias", [outputs]

    for name, rows in (("word", "vocab_size"),
                       ("position", "max_position_embeddings"),
                       ("token_type", "type_vocab_size")):
        yield f"embeddings.{name}_embeddings.weight", [TINY[rows], hidden]
    yield from norm("embeddings.LayerNorm")
    for number in range(TINY["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            yield from linear(f"{layer}.attention.self.{part}", hidden, hidden)
        yield from linear(f"{layer}.attention.output.dense", hidden, hidden)
        yield from norm(f"{layer}.attention.output.LayerNorm")
        yield from linear(f"{layer}.intermediate.dense", middle, hidden)
        yield from linear(f"{layer}.output.dense", hidden, middle)
        yield from norm(f"{layer}.output.LayerNorm")
    yield from linear("pooler.dense", hidden, hidden)


def drawn(name, count):
    """Uniform numbers of a deviation of SPREAD, the same on every machine."""
    if name.endswith("bias"):
        return [0.0] * count
    if name.lower().endswith("norm.weight"):
        return [1.0] * count
    bits = hashlib.shake_256(name.encode()).digest(4 * count)
    return [(number / 2**31 - 1.0) * SPREAD * 3**0.5
            for number in struct.unpack(f"<{count}I", bits)]


def decoder_shapes():
    hidden, middle = TINY_DECODER["hidden_size"], TINY_DECODER["intermediate_size"]
    fewer = hidden * TINY_DECODER["num_key_value_heads"] // \
        TINY_DECODER["num_attention_heads"]
    yield "model.embed_tokens.weight", [TINY_DECODER["vocab_size"], hidden]
    for number in range(TINY_DECODER["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        for part, outputs in (("q", hidden), ("k", fewer), ("v", fewer),
                              ("o", hidden)):
            yield f"{layer}.self_attn.{part}_proj.weight", [outputs, hidden]
        for part in ("gate", "up"):
            yield f"{layer}.mlp.{part}_proj.weight", [middle, hidden]
        yield f"{layer}.mlp.down_proj.weight", [hidden, middle]
        yield f"{layer}.input_layernorm.weight", [hidden]
        yield f"{layer}.post_attention_layernorm.weight", [hidden]
    yield "model.norm.weight", [hidden]


def byte_letters():
    """A letter for each byte, as byte-level BPE has them since GPT-2: itself
    where it can be seen, else the next one from U+0100 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in seen]
    return [chr(byte) if byte in seen else chr(256 + others.index(byte))
            for byte in range(256)]


def byte_tokenizer():
    of_bytes = {"type": "ByteLevel", "add_prefix_space": False,
                "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": END, "single_word": False,
                          "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True}],
        "normalizer": None, "pre_tokenizer": of_bytes, "post_processor": None,
        "decoder": of_bytes,
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False,
                  "vocab": {letter: number for number, letter in enumerate(
                      [END, *byte_letters()])},
                  "merges": []}}


def weights(named):
    """A safetensors file."""
    named = list(named)
    return safetensors_head(named) + b"".join(
        struct.pack(f"<{math.prod(shape)}f", *drawn(name, math.prod(shape)))
        for name, shape in named)


def as_json(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def models(texts):
    """The files of both models, by path."""
    return {
        "tiny/config.json": as_json(TINY),
        "tiny/vocab.txt": "".join(
            word + "\n" for word in vocabulary(texts)).encode(),
        "tiny/model.safetensors": weights(shapes()),
        "tiny-decoder/config.json": as_json(TINY_DECODER),
        "tiny-decoder/tokenizer.json": as_json(byte_tokenizer()),
        "tiny-decoder/tokenizer_config.json": as_json(
            {"eos_token": END, "pad_token": END}),
        "tiny-decoder/model.safetensors": weights(decoder_shapes()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent)
    out = parser.parse_args().out
    head = ("# SPDX-License-Identifier: Apache-2.0\n"
            "# Written by make_samples.py.\n")
    registry = head
    files = {}
    for name, ending, task, splits in samples():
        files[f"{name}.{ending}"] = splits["train"]
        files[f"{name}-dev.{ending}"] = splits["dev"]
        registry += entry(name, ending, task, files)
    made = models(text for path, text in files.items()
                  if path.endswith(".tsv") and not path.startswith("claims"))
    files["datasets.yaml"] = registry
    files["models.yaml"] = head
    for name in ("tiny", "tiny-decoder"):
        digest = hashlib.sha256(
            made[f"{name}/model.safetensors"]).hexdigest()
        files["models.yaml"] += (f"{name}:\n  path: {name}\n"
                                 f"  weights: model.safetensors\n"
                                 f"  sha256: {digest}\n")
        (out / name).mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (out / path).write_bytes(text.encode())
    for path, content in made.items():
        (out / path).write_bytes(content)


if __name__ == "__main__":
    main()
