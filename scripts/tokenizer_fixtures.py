#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records tokenizers of the form of later families, for tests/parity.

    python scripts/tokenizer_fixtures.py --seed 7 --out DIR

Needs tokenizers. Vocabularies are those of tests/parity/data/tokenizers, bpe and
unigram; what stands around them is what transformers writes for ModernBERT,
DeBERTa-v3, Llama 3, Qwen and SmolLM2. Texts are random: composed and decomposed letters, Hangul, marks that
compose with nothing, white space of all kinds, and for decoders numbers and
contractions. Writes a folder for each below DIR.
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


# Contractions of any case, numbers of many kinds, ends of lines.
HARD = ["DON'T", "we'Ll", "it'\u017f", "'", "''s", "'re", "12", "1234567", "\u00b2\u00bd",
        "\u0664\u0665", "\u2167", "a1b22c", "_x", "...\n\n", "!\r\n", "\n\n", " \n  \n ",
        "\u00a0\n", "\t\tif", "#!", "-7", "$5", "(a)", "\u2028"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace("{1,3}", "")


def decoder(before, regex):
    made = Tokenizer.from_file(str(OWN / "bpe/tokenizer.json"))
    made.normalizer = None
    made.pre_tokenizer = pre_tokenizers.Sequence([before, pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=regex)])
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def split(expression):
    return pre_tokenizers.Split(Regex(expression), "isolated", invert=False)


def llama3():
    made = decoder(split(LLAMA3), regex=False)
    made.model.ignore_merges = True
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(
            single="<s>:0 $A:0", pair="<s>:0 $A:0 <s>:1 $B:1",
            special_tokens=[("<s>", 0)])])
    return made


def qwen():
    made = decoder(split(QWEN), regex=False)
    made.normalizer = normalizers.NFC()
    return made


def smollm():
    return decoder(pre_tokenizers.Digits(individual_digits=True), regex=True)


def template(cls, cls_id, sep, sep_id):
    return processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
        special_tokens=[(cls, cls_id), (sep, sep_id)])


def text(dice, words):
    parts = []
    for _ in range(dice.randint(0, 12)):
        parts.append(dice.choice(dice.choice((LETTERS, *words))))
        if dice.random() < 0.7:
            parts.append(dice.choice(BLANKS) if dice.random() < 0.4 else " ")
    return "".join(parts)


def record(made, dice, words):
    one = {"a": text(dice, words)}
    if dice.random() < 0.2:
        one["b"] = text(dice, words)
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
    encoders, decoders = (WORDS, WORDS), (WORDS, HARD)
    makers = {"modernbert": (modernbert, encoders), "deberta": (deberta, encoders),
              "llama3": (llama3, decoders), "qwen": (qwen, decoders),
              "smollm": (smollm, decoders)}
    for name, (make, words) in makers.items():
        dice = random.Random(arguments.seed)
        made = make()
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        made.no_truncation()
        made.save(str(folder / "tokenizer.json"), pretty=False)
        lines = [json.dumps(record(made, dice, words), ensure_ascii=False,
                            separators=(",", ":"))
                 for _ in range(arguments.count)]
        (folder / "goldens.jsonl").write_text("\n".join(lines) + "\n",
                                              encoding="utf-8")
    print(f"{arguments.out}: {len(makers)} tokenizers, {arguments.count} texts each")


if __name__ == "__main__":
    main()
