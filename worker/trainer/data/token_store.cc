// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/token_store.h"

#include <algorithm>
#include <unordered_map>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/text/encoder.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {
namespace {

// The label that losses leave out is kIgnoredLabel; ours for "none" is not.
std::int32_t ForLoss(std::int32_t label) {
  return label == kNoLabel ? kIgnoredLabel : label;
}

std::size_t RoundedUp(std::size_t width, const PadOptions& options) {
  const std::size_t multiple = std::max<std::size_t>(options.multiple, 1);
  const std::size_t rounded = (width + multiple - 1) / multiple * multiple;
  if (options.max_width == 0) return rounded;
  return std::max(width, std::min(rounded, options.max_width));
}

// Which texts of an example make one row.
enum class Texts { kAll, kFirst, kSecond };

Expected<Done> EncodeRow(const Dataset& data, std::uint32_t row, Texts texts,
                         const EncodeOptions& options, Encoder& encoder,
                         Encoding& encoding) {
  if (data.task() == TaskKind::kTagging) {
    return encoder.EncodeWords(data.words(row), options, encoding);
  }
  const Example& example = data[row];
  if (texts == Texts::kSecond) {
    return encoder.Encode(example.second, options, encoding);
  }
  if (texts == Texts::kAll && data.is_pair()) {
    return encoder.EncodePair(example.text, example.second, options, encoding);
  }
  return encoder.Encode(example.text, options, encoding);
}

}  // namespace

std::vector<std::uint32_t> TokenStore::Lengths() const {
  std::vector<std::uint32_t> lengths(size());
  for (std::size_t row = 0; row < size(); ++row) {
    lengths[row] = static_cast<std::uint32_t>(ids(row).size());
  }
  return lengths;
}

std::span<const std::int32_t> TokenStore::ids(std::size_t row) const {
  return {ids_.data() + offsets_[row], ids_.data() + offsets_[row + 1]};
}

RowKey TokenStore::drawer(std::size_t row) const {
  RowKey key = keys_[row];
  if (repeats_[row] > 0) key.low ^= MixBits(repeats_[row]);
  return key;
}

void TokenStore::CountRepeats() {
  std::unordered_map<RowKey, std::uint32_t, RowKeyHash> seen;
  for (const RowKey& key : keys_) repeats_.push_back(seen[key]++);
}

std::span<const std::int32_t> TokenStore::token_labels(std::size_t row) const {
  if (!tagging_) return {};
  return {token_labels_.data() + offsets_[row],
          token_labels_.data() + offsets_[row + 1]};
}

std::vector<std::uint64_t> TokenStore::CountLabels(std::size_t classes) const {
  std::vector<std::uint64_t> counts(classes);
  for (const std::int32_t label : tagging_ ? token_labels_ : labels_) {
    if (label != kIgnoredLabel) ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

std::span<const UnreadWord> TokenStore::unread(std::size_t row) const {
  if (!tagging_) return {};
  return {unread_.data() + (row == 0 ? 0 : unread_ends_[row - 1]),
          unread_.data() + unread_ends_[row]};
}

void TokenStore::AddUnread(std::span<const std::int32_t> word_labels,
                           const Encoding& encoding) {
  std::vector<bool> read(word_labels.size());
  for (const std::int32_t word : encoding.word_ids) {
    if (word != kNoWord) read[static_cast<std::size_t>(word)] = true;
  }
  std::uint32_t place = 0;
  for (std::size_t word = 0; word < word_labels.size(); ++word) {
    if (word_labels[word] == kNoLabel) continue;
    if (!read[word]) unread_.push_back({place, word_labels[word]});
    ++place;
  }
  words_ += place;
  unread_ends_.push_back(unread_.size());
}

Expected<Done> TokenStore::Add(const Dataset& data, std::uint32_t row,
                               const Encoding& encoding) {
  ids_.insert(ids_.end(), encoding.ids.begin(), encoding.ids.end());
  for (const std::int32_t type : encoding.type_ids) {
    types_.push_back(static_cast<std::uint8_t>(type));
  }
  keys_.push_back(RowKeyOf(
      std::span(ids_).subspan(offsets_.back()),
      std::span(types_).subspan(static_cast<std::size_t>(offsets_.back()))));
  offsets_.push_back(ids_.size());
  weights_.push_back(static_cast<float>(data[row].weight));
  if (!tagging_) {
    labels_.push_back(ForLoss(data[row].label));
    targets_.push_back(static_cast<float>(data[row].target));
    return Done{};
  }
  // Where nobody labelled anything each word is asked about, and a place is
  // kept for its answer.
  const std::vector<std::int32_t> asked(
      data.labelled() ? 0 : data.word_labels(row).size(), 0);
  const std::span<const std::int32_t> labels =
      data.labelled() ? data.word_labels(row) : std::span(asked);
  std::vector<std::int32_t> aligned;
  Expected<Done> done = AlignLabels(encoding, labels, aligned);
  if (!done.ok()) return done;
  for (const std::int32_t label : aligned) {
    token_labels_.push_back(ForLoss(label));
  }
  AddUnread(labels, encoding);
  return Done{};
}

void TokenStore::Pad(std::span<const std::uint32_t> rows,
                     const PadOptions& options, PaddedBatch& batch) const {
  std::size_t longest = 0;
  for (const std::uint32_t row : rows) {
    longest = std::max(longest, ids(row).size());
  }
  batch.rows = rows.size();
  batch.width = RoundedUp(longest, options);
  const std::size_t area = batch.rows * batch.width;
  batch.ids.assign(area, options.pad_id);
  batch.types.assign(area, 0);
  batch.mask.assign(area, 0);
  batch.labels.assign(tagging_ ? area : batch.rows, kIgnoredLabel);
  batch.targets.assign(batch.rows, 0.0F);
  batch.weights.assign(batch.rows, 1.0F);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    const auto at = static_cast<std::ptrdiff_t>(i * batch.width);
    const auto begin = static_cast<std::ptrdiff_t>(offsets_[row]);
    const auto length = static_cast<std::ptrdiff_t>(ids(row).size());
    std::copy_n(ids_.begin() + begin, length, batch.ids.begin() + at);
    std::copy_n(types_.begin() + begin, length, batch.types.begin() + at);
    std::fill_n(batch.mask.begin() + at, length, 1);
    batch.weights[i] = weights_[row];
    if (tagging_) {
      std::copy_n(token_labels_.begin() + begin, length,
                  batch.labels.begin() + at);
      continue;
    }
    batch.labels[i] = labels_[row];
    batch.targets[i] = targets_[row];
  }
}

Expected<TokenStore> Tokenize(const Dataset& data,
                              std::span<const std::uint32_t> rows,
                              const Tokenizer& tokenizer,
                              const EncodeOptions& options, PairForm form,
                              const StopSign& stop) {
  std::vector<Texts> passes = {Texts::kAll};
  if (form == PairForm::kApart) {
    if (!data.is_pair()) {
      return Fault{FaultKind::kMisuse,
                   "texts are to be compared, and the data have no second one",
                   "name its column: columns: {second: ...}"};
    }
    passes = {Texts::kFirst, Texts::kSecond};
  }
  TokenStore store;
  store.tagging_ = data.task() == TaskKind::kTagging;
  Encoder encoder(tokenizer);
  Encoding encoding;
  for (const Texts texts : passes) {
    for (const std::uint32_t row : rows) {
      Expected<Done> done = stop.Check();
      if (!done.ok()) return done.fault();
      done = EncodeRow(data, row, texts, options, encoder, encoding);
      if (!done.ok()) return done.fault();
      done = store.Add(data, row, encoding);
      if (!done.ok()) return done.fault();
    }
  }
  store.CountRepeats();
  return store;
}

}  // namespace frostline::trainer
