#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records tokenizers of ModernBERT's and DeBERTa-v3's form, for tests/parity.

    python scripts/tokenizer_fixtures.py --seed 7 --out DIR

Needs tokenizers. Vocabularies are those of tests/parity/data/tokenizers, bpe and
unigram; what stands around them is what transformers writes for the two
families. Texts are random: composed and decomposed letters, Hangul, marks that
compose with nothing, white space of all kinds. Writes DIR/modernbert and
DIR/deberta.
"""

import argparse
import json
import pathlib
import random

from tokenizers import (AddedToken, Regex, Tokenizer, normalizers,
                        pre_tokenizers, processors)

OWN = (pathlib.Path(__file__).resolve().parent.parent /
       "tests/parity/data/tokenizers")
LETTERS = ["e\u0301", "\u00e9", "A\u030a", "\u212b", "o\u0328\u0304", "u\u0308\u0301",
           "\u1100\u1161\u11a8", "\uac00\u11a8", "\uac01", "\u1100\u1161",
           "\u0915\u093c", "\u0958", "\u05e9\u05bc\u05c1", "\ufb2c", "\u2add\u0338",
           "q\u0323\u0307", "q\u0307\u0323", "s\u0323\u0307", "\u1e69", "\u0344",
           "\u0301", "\u0327\u0301", "a\u0315\u0300\u05ae\u0062", "\u0f73",
           "\U0001d15f", "\u1b06", "\U000110ab", "\ufa4c", "\u03a9\u0301"]
BLANKS = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003 ", "   ", "\u3000", " \n "]
WORDS = ["the", "old", "garden", "array", "Don't", "2024-05-17", "!?", "...",
         "caf\u00e9", "nai\u0308ve", "\U0001f600", "x=1;", "\u4e2d\u6587",
         "[MASK]", "<mask>", "</s>", "ALPHA", "elaborate"]


def modernbert():
    made = Tokenizer.from_file(str(OWN / "bpe/tokenizer.json"))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = template("<s>", 0, "</s>", 2)
    # As ModernBERT's own: runs of blanks, found after the normalizer.
    made.add_tokens([AddedToken("   ", normalized=True, special=False)])
    return made


def deberta():
    made = Tokenizer.from_file(str(OWN / "unigram/tokenizer.json"))
    made.normalizer = normalizers.Sequence([
        normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(),
        normalizers.Strip(left=False, right=True)])
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(replacement="\u2581",
                                  prepend_scheme="always")])
    made.post_processor = template("<s>", 0, "</s>", 2)
    return made


def template(cls, cls_id, sep, sep_id):
    return processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
        special_tokens=[(cls, cls_id), (sep, sep_id)])


def text(dice):
    parts = []
    for _ in range(dice.randint(0, 12)):
        parts.append(dice.choice(dice.choice((LETTERS, WORDS, WORDS))))
        if dice.random() < 0.7:
            parts.append(dice.choice(BLANKS) if dice.random() < 0.4 else " ")
    return "".join(parts)


def record(made, dice):
    one = {"a": text(dice)}
    if dice.random() < 0.2:
        one["b"] = text(dice)
        one["max"] = 24
        made.enable_truncation(24, strategy="longest_first")
    else:
        made.no_truncation()
    encoded = made.encode(one["a"], one.get("b"))
    one["i"] = encoded.ids
    one["o"] = [place for span in encoded.offsets for place in span]
    one["w"] = [-1 if word is None else word for word in encoded.word_ids]
    if "b" in one:
        one["t0"] = encoded.type_ids.count(0)
    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=120)
    arguments = parser.parse_args()
    for name, make in (("modernbert", modernbert), ("deberta", deberta)):
        dice = random.Random(arguments.seed)
        made = make()
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        made.no_truncation()
        made.save(str(folder / "tokenizer.json"), pretty=False)
        lines = [json.dumps(record(made, dice), ensure_ascii=False,
                            separators=(",", ":"))
                 for _ in range(arguments.count)]
        (folder / "goldens.jsonl").write_text("\n".join(lines) + "\n",
                                              encoding="utf-8")
    print(f"{arguments.out}: 2 tokenizers, {arguments.count} texts each")


if __name__ == "__main__":
    main()
