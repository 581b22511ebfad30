// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_words.h
//
// What the trainer takes of a study beside the rows of training_table.h, where
// the coordinator sees it too, and refuses the rest.
#ifndef FROSTLINE_BASE_PLAIN_TRAINER_WORDS_H_
#define FROSTLINE_BASE_PLAIN_TRAINER_WORDS_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace frostline {

// Of `data.task`, listed as in SettingRow.
inline constexpr std::string_view kTaskKinds =
    "classification, regression, tagging, pair";

// Of `also_evaluate`: so that their metrics fit a finish.
inline constexpr std::size_t kMostOtherSets = 16;

// A linear map of a layer, for `lora.modules`: ours, or what a model of
// transformers calls it, as peft's users write it.
struct LoraWord {
  std::string_view word;
  std::string_view map;  // our word
};

// Of all families together. Ours come first, one for each map.
std::span<const LoraWord> LoraWords();

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_TRAINER_WORDS_H_
