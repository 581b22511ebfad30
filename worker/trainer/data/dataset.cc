// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/dataset.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {

TextShaper::TextShaper(const TextForm& form)
    : shapes_(form.any()),
      normalizer_({.clean_text = false,
                   .handle_chinese_chars = false,
                   .strip_accents = form.strip_accents,
                   .lowercase = form.lowercase}) {}

std::string_view TextShaper::Shape(std::string_view text) {
  if (!shapes_) return text;
  repaired_ = RepairUtf8(text);
  normalizer_.Run(repaired_, 0, shaped_);
  return shaped_.bytes();
}

Expected<LabelSet> LabelSet::FromList(const std::vector<std::string>& names) {
  LabelSet set;
  if (names.size() > kMaxLabels) {
    return Fault{FaultKind::kTooLarge, "there are more than 10,000 labels",
                 "name fewer"};
  }
  for (const std::string& name : names) {
    if (set.Find(name)) {
      return Fault{FaultKind::kInconsistent,
                   "label " + Shown(name) + " is there twice",
                   "name each label once"};
    }
    set.FindOrAdd(name);
  }
  return set;
}

std::optional<std::int32_t> LabelSet::Find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::int32_t LabelSet::FindOrAdd(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

std::vector<std::int32_t> LabelSet::Sort() {
  std::vector<std::optional<double>> numbers;
  numbers.reserve(names_.size());
  for (const std::string& name : names_) numbers.push_back(ParseNumber(name));
  const bool numeric =
      std::all_of(numbers.begin(), numbers.end(),
                  [](const auto& number) { return number.has_value(); });
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (numeric && *numbers[a] != *numbers[b]) return *numbers[a] < *numbers[b];
    return names_[a] < names_[b];
  });
  std::vector<std::int32_t> new_ids(names_.size());
  std::vector<std::string> sorted;
  for (const std::size_t old : order) {
    const auto id = static_cast<std::int32_t>(sorted.size());
    new_ids[old] = id;
    ids_[names_[old]] = id;
    sorted.push_back(names_[old]);
  }
  names_ = std::move(sorted);
  return new_ids;
}

std::string ListOfLabels(const LabelSet& labels) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(labels.size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + Shown(labels.names()[i]);
  }
  if (labels.size() > kShown) {
    list += " and " + std::to_string(labels.size() - kShown) + " more";
  }
  return list;
}

namespace {

void AddLabel(const Dataset& data, std::int32_t label, Sha256Sum& sum) {
  sum.AddField(
      label == kNoLabel
          ? std::string_view()
          : std::string_view(
                data.labels().names()[static_cast<std::size_t>(label)]));
}

}  // namespace

std::vector<std::uint32_t> Dataset::AllRows() const {
  std::vector<std::uint32_t> rows(size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

// Classes stay, so that later rows are numbered with them.
void Dataset::ForgetRows() {
  examples_.clear();
  words_.clear();
  word_labels_.clear();
  pool_ = TextPool();
}

std::string Fingerprint(const Dataset& data,
                        std::span<const std::uint32_t> rows) {
  return Fingerprint(data, rows, StopSign()).value();
}

Expected<std::string> Fingerprint(const Dataset& data,
                                  std::span<const std::uint32_t> rows,
                                  const StopSign& stop) {
  Sha256Sum sum;
  sum.AddField("frostline data 1");  // a change of what follows changes this
  // Once the words that a model did not read were not scored.
  if (data.task() == TaskKind::kTagging) sum.AddField("all words");
  sum.AddNumber(static_cast<std::uint64_t>(data.task()));
  sum.AddNumber(data.labelled() ? 1 : 0);
  sum.AddNumber(data.is_pair() ? 1 : 0);
  sum.AddNumber(rows.size());
  for (const std::uint32_t row : rows) {
    RETURN_IF_FAULT(stop.Check());
    const Example& example = data[row];
    sum.AddNumber(std::bit_cast<std::uint64_t>(example.weight));
    if (data.task() == TaskKind::kTagging) {
      sum.AddNumber(example.word_count);
      for (std::size_t i = 0; i < example.word_count; ++i) {
        sum.AddField(data.words(row)[i]);
        AddLabel(data, data.word_labels(row)[i], sum);
      }
      continue;
    }
    sum.AddField(example.text);
    sum.AddField(example.second);
    if (data.task() == TaskKind::kRegression) {
      sum.AddNumber(std::bit_cast<std::uint64_t>(example.target));
    } else {
      AddLabel(data, example.label, sum);
    }
  }
  return sum.Finish();
}

}  // namespace frostline::trainer
