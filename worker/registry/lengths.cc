// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/lengths.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/text/encoder.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

using trainer::Dataset;
using trainer::TaskKind;

constexpr std::size_t kRows = 1'000;
constexpr std::size_t kLongest = 8'192;  // tokens that are worth counting

absl::StatusOr<std::int64_t> LengthQuantile(std::vector<std::size_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  const std::size_t rank = (lengths.size() - 1) * 95 / 100;
  return static_cast<std::int64_t>(lengths[rank]);
}

Expected<Done> Encode(const Dataset& some, std::size_t row,
                      trainer::Encoder& encoder, trainer::Encoding& encoding) {
  const trainer::EncodeOptions options{.max_length = kLongest};
  if (some.task() == TaskKind::kTagging) {
    return encoder.EncodeWords(some.words(row), options, encoding);
  }
  if (some.is_pair()) {
    return encoder.EncodePair(some[row].text, some[row].second, options,
                              encoding);
  }
  return encoder.Encode(some[row].text, options, encoding);
}

}  // namespace

absl::StatusOr<std::int64_t> LongTextTokens(const Registry& registry,
                                            const std::string& model,
                                            const std::string& data) {
  const trainer::DatasetEntry& set = registry.data_sets.at(data);
  const trainer::SplitEntry& train = set.splits.at("train");
  const Expected<trainer::Tokenizer> tokenizer = trainer::LoadTokenizer(
      registry.folder + "/" + registry.models.at(model).path);
  if (!tokenizer.ok()) return ErrorOf(tokenizer.fault());
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  Expected<trainer::InputFile> file = root.value().OpenFile(train.path);
  if (!file.ok()) return ErrorOf(file.fault());
  trainer::Encoder encoder(tokenizer.value());
  trainer::Encoding encoding;
  std::vector<std::size_t> lengths;
  std::optional<Fault> fault;
  trainer::DatasetReader reader(TaskOfSet(set).kind);
  reader.WithStop(StopSign([&] { return fault || lengths.size() >= kRows; }));
  if (train.skip_unlabelled) reader.SkipUnlabelled();
  reader.WithForm(train.form);
  const auto look = [&](const Dataset& some) {
    for (std::size_t row = 0; row < some.size() && lengths.size() < kRows;
         ++row) {
      const Expected<Done> done = Encode(some, row, encoder, encoding);
      if (!done.ok()) fault = done.fault();
      lengths.push_back(encoding.size());
    }
  };
  const Expected<Done> scanned =
      reader.Scan(std::move(file).value(), train.format, train.columns, look);
  if (fault) return ErrorOf(*fault);
  const bool stopped =
      !scanned.ok() && scanned.fault().kind == FaultKind::kStopped;
  if (!scanned.ok() && !stopped) return ErrorOf(scanned.fault());
  return LengthQuantile(std::move(lengths));
}

}  // namespace frostline::registry
