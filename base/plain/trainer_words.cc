// SPDX-License-Identifier: Apache-2.0
#include "base/plain/trainer_words.h"

namespace frostline {
namespace {

constexpr LoraWord kLoraWords[] = {{"query", "query"},
                                   {"key", "key"},
                                   {"value", "value"},
                                   {"attention_out", "attention_out"},
                                   {"ffn_in", "ffn_in"},
                                   {"ffn_out", "ffn_out"},
                                   {"qkv", "qkv"},
                                   {"q_lin", "query"},
                                   {"k_lin", "key"},
                                   {"v_lin", "value"},
                                   {"out_lin", "attention_out"},
                                   {"attention_output", "attention_out"},
                                   {"lin1", "ffn_in"},
                                   {"lin2", "ffn_out"},
                                   {"query_proj", "query"},
                                   {"key_proj", "key"},
                                   {"value_proj", "value"},
                                   {"Wqkv", "qkv"},
                                   {"Wi", "ffn_in"}};

}  // namespace

std::span<const LoraWord> LoraWords() { return kLoraWords; }

}  // namespace frostline
