// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/dataset.h"

#include <bit>
#include <numeric>

#include "base/plain/sums.h"

namespace frostline::trainer {
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
    if (Expected<Done> wanted = stop.Check(); !wanted.ok()) {
      return wanted.fault();
    }
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
