#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what transformers' apply_chat_template makes of a few conversations.

    python scripts/chat_fixtures.py --templates DIR \
        >tests/worker/trainer/text/data/chat.jsonl

DIR has the families' programs as trl ships them (trl/chat_templates): qwen2_5.jinja,
qwen3.jinja, llama3.jinja, llama3_1.jinja, llama3_2.jinja. That of SmolLM2 stands here,
as it is short.
"""

import argparse
import json
import pathlib

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

SMOLLM2 = ("{% for m in messages %}"
           "{% if loop.first and m['role'] != 'system' %}"
           "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, "
           "trained by Hugging Face<|im_end|>\n' }}{% endif %}"
           "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
           "{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
FILES = {"Qwen2.5": "qwen2_5", "Qwen3": "qwen3", "Llama 3": "llama3",
         "Llama 3.1": "llama3_1", "Llama 3.2": "llama3_2"}
TALKS = [
    [("user", "Hi")],
    [("user", " Which is larger?\n\n9.11 or 9.9 "), ("assistant", " 9.9\n")],
    [("system", "Answer in one word. "), ("user", "Sky?"), ("assistant", "Blue"),
     ("user", "Grass?"), ("assistant", "Green")],
    [("system", ""), ("user", "Größe, 語, 🙂"), ("assistant", ""), ("user", "Und?")],
    [("user", "2+2?"), ("assistant", "<think>\nTwo and two.\n</think>\n\n4"),
     ("user", "3+3?"), ("assistant", "<think>\nThree, twice.\n</think>\n\n6")],
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--templates", type=pathlib.Path, required=True)
    folder = parser.parse_args().templates
    programs = {"SmolLM2": SMOLLM2} | {
        name: (folder / f"{file}.jinja").read_text() for name, file in FILES.items()}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE()), bos_token="<|begin_of_text|>")
    for name, program in programs.items():
        for talk in TALKS:
            messages = [{"role": role, "content": content} for role, content in talk]
            for asks in (False, True):
                if asks and talk[-1][0] == "assistant":
                    continue
                text = tokenizer.apply_chat_template(
                    messages, chat_template=program, tokenize=False,
                    add_generation_prompt=asks, enable_thinking=False,
                    date_string="26 Jul 2024")
                print(json.dumps({"template": name, "asks": asks,
                                  "messages": [list(each) for each in talk],
                                  "text": text}))


if __name__ == "__main__":
    main()
