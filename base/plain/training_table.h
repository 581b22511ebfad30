// SPDX-License-Identifier: Apache-2.0
//
// File: training_table.h
//
// The settings of a training. These rows decide what the trainer reads, what it
// and the coordinator refuse, and what the table in docs/reference/trainer.md
// says.
#ifndef FROSTLINE_BASE_PLAIN_TRAINING_TABLE_H_
#define FROSTLINE_BASE_PLAIN_TRAINING_TABLE_H_

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline {

// Next: what the trainer takes from a study besides these rows. The coordinator
// knows it too, and refuses anything else.

// The kinds of `data.task`, written as in SettingRow.
inline constexpr std::string_view kTaskKinds =
    "classification, regression, tagging, pair, answers, choices";

// The most sets in `also_evaluate`, so that their metrics fit into a finish.
inline constexpr std::size_t kMostOtherSets = 16;

// A name for a linear map of a layer, as a study writes it in `lora.modules`.
// It is our own name, or that of a model of transformers, as peft uses it.
struct LoraWord {
  std::string_view word;
  std::string_view map;  // our word
};

// Returns the names of all families. Ours come first, one for each map.
std::span<const LoraWord> LoraWords();

// The bound of a setting that has no real one.
inline constexpr double kAnyCount = static_cast<double>(1LL << 40);
inline constexpr double kAnySize = std::numeric_limits<double>::max();

// What values a setting has.
enum class SettingKind {
  kWhole,   // a whole number of least … most
  kNumber,  // a number of least … most
  kWord,    // one of `words`, the first unless given
  kText,
  kTexts,
  kSwitch,   // true or false; false unless given
  kBits,     // a whole number of 64 bits
  kWeights,  // one of `words`, or a list of numbers above 0
};

// A setting: its bounds, its default and what it does.
struct SettingRow {
  // The setting's path in a study below `training`, or from the top if it
  // begins with `freeze`: "batch_size", "lora.rank", "freeze.mode".
  std::string_view key;
  SettingKind kind;
  double least = 0.0;
  double most = 0.0;
  double unless_given = 0.0;
  std::string_view words = "";         // "adamw, adam, sgd"
  std::string_view default_text = "";  // as the page shows it
  std::string_view searched_as = "";   // parameter's name; empty: never
  std::string_view doc = "";

  // Returns "lora." for "lora.rank", and an empty text when there is no block;
  // name() is "rank".
  std::string_view block() const;
  std::string_view name() const;
};

std::span<const SettingRow> TrainingTable();

// Returns null when there is none.
const SettingRow* FindSetting(std::string_view key);
// Finds a setting by the name of the parameter that searches it.
const SettingRow* FindSearchedSetting(std::string_view parameter);
// REQUIRES: there is one.
const SettingRow& SettingOf(std::string_view key);

// Returns "rank", "alpha", … in the table's order.
std::vector<std::string_view> NamesOfBlock(std::string_view block);
std::vector<std::string_view> WordsOf(const SettingRow& row);
// Returns "whole, 1 … 100000", "0 or more", or the words.
std::string RangeOf(const SettingRow& row);
// Returns "a, b, c".
std::string Listed(const std::vector<std::string_view>& words);

std::string TrainingTablePage();

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_TRAINING_TABLE_H_
