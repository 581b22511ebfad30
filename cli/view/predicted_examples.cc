// SPDX-License-Identifier: Apache-2.0
#include "cli/view/predicted_examples.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/plain/predictions_file.h"
#include "base/plain/text.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kColumnsOfWords = 4;

}  // namespace

PredictedExamples::PredictedExamples(std::istream& file) {
  std::string line;
  if (!std::getline(file, line)) return;
  const std::vector<std::string> names = absl::StrSplit(line, '\t');
  of_words_ = names[0] == kWordColumn;
  const bool of_numbers = !of_words_ && std::find(names.begin(), names.end(),
                                                  "confidence") == names.end();
  if (of_words_) texts_.emplace_back();
  while (std::getline(file, line)) {
    if (of_words_ && line.empty()) {
      texts_.emplace_back();
      continue;
    }
    std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns.size() != names.size()) continue;
    for (std::string& column : columns) column = UnescapeColumn(column);
    if (of_words_) {
      AddWord(columns);
    } else {
      AddText(columns, of_numbers);
    }
  }
}

void PredictedExamples::AddText(const std::vector<std::string>& columns,
                                bool of_numbers) {
  if (columns[0].empty()) return;  // nobody knows what is right
  if (of_numbers) {
    table_.true_value.push_back(ParseNumber(columns[0]).value_or(0.0));
    table_.predicted_value.push_back(ParseNumber(columns[1]).value_or(0.0));
  } else {
    AddClasses(columns[0], columns[1], columns[2]);
  }
  places_.emplace_back(texts_.size(), 0);
  texts_.emplace_back(columns.begin() + (of_numbers ? 2 : 3), columns.end());
}

void PredictedExamples::AddWord(const std::vector<std::string>& columns) {
  if (columns.size() != kColumnsOfWords) return;
  if (!columns[1].empty()) {
    AddClasses(columns[1], columns[2], columns[3]);
    places_.emplace_back(texts_.size() - 1, texts_.back().size());
  }
  texts_.back().push_back(columns[0]);
}

void PredictedExamples::AddClasses(const std::string& truth,
                                   const std::string& prediction,
                                   const std::string& confidence) {
  table_.truth.push_back(ClassOf(truth));
  table_.predicted.push_back(prediction.empty() ? -1 : ClassOf(prediction));
  table_.confidence.push_back(
      static_cast<float>(ParseNumber(confidence).value_or(0.0)));
}

std::int32_t PredictedExamples::ClassOf(const std::string& name) {
  const auto found =
      std::find(table_.classes.begin(), table_.classes.end(), name);
  if (found == table_.classes.end()) table_.classes.push_back(name);
  return static_cast<std::int32_t>(
      std::find(table_.classes.begin(), table_.classes.end(), name) -
      table_.classes.begin());
}

std::string PredictedExamples::TextOf(std::size_t example) const {
  const auto [text, word] = places_[example];
  if (!of_words_) return absl::StrJoin(texts_[text], " | ");
  std::string sentence;
  for (std::size_t i = 0; i < texts_[text].size(); ++i) {
    const bool is_it = i == word;
    absl::StrAppend(&sentence, i == 0 ? "" : " ", is_it ? "[" : "",
                    texts_[text][i], is_it ? "]" : "");
  }
  return sentence;
}

}  // namespace frostline::cli
