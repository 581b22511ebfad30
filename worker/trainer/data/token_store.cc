// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/token_store.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/plain/sums.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kDigits = 16;  // of 64 bits

std::uint64_t FromHex(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

RowKey RowKeyOf(std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> types) {
  Sha256Sum sum;
  sum.AddField({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  sum.AddField(
      {reinterpret_cast<const char*>(types.data()), types.size_bytes()});
  const std::string digits = sum.Finish();
  const std::string_view all = digits;
  return {FromHex(all.substr(0, kDigits)),
          FromHex(all.substr(kDigits, kDigits))};
}

namespace {

// Lengths are sorted within so many batches: enough for batches without much
// padding, few enough for chance to decide who meets whom.
constexpr std::size_t kBatchesOfPool = 50;

std::vector<std::uint32_t> Numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  return numbers;
}

}  // namespace

BatchPlanner::BatchPlanner(std::vector<std::uint32_t> lengths,
                           BatchOptions options)
    : lengths_(std::move(lengths)), options_(options) {
  options_.batch_size = std::max<std::size_t>(options_.batch_size, 1);
}

void BatchPlanner::SortByLength(std::vector<std::uint32_t>& rows,
                                std::size_t begin, std::size_t end) const {
  std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                   rows.begin() + static_cast<std::ptrdiff_t>(end),
                   [this](std::uint32_t a, std::uint32_t b) {
                     return lengths_[a] > lengths_[b];
                   });
}

std::vector<RowBatch> BatchPlanner::Cut(const std::vector<std::uint32_t>& rows,
                                        std::size_t begin,
                                        std::size_t end) const {
  std::vector<RowBatch> batches;
  std::size_t longest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    longest = std::max<std::size_t>(longest, lengths_[rows[i]]);
    const std::size_t size = batches.empty() ? 0 : batches.back().size();
    const bool full = options_.batch_tokens > 0
                          ? (size + 1) * longest > options_.batch_tokens
                          : size == options_.batch_size;
    if (size == 0 || full) {
      batches.emplace_back();
      longest = lengths_[rows[i]];
    }
    batches.back().push_back(rows[i]);
  }
  return batches;
}

std::size_t BatchPlanner::PoolRows() const {
  if (!options_.bucket) return lengths_.size();
  if (options_.batch_tokens == 0) return options_.batch_size * kBatchesOfPool;
  const std::uint64_t tokens =
      std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0});
  const std::uint64_t mean = std::max<std::uint64_t>(
      tokens / std::max<std::size_t>(lengths_.size(), 1), 1);
  return std::max<std::size_t>(options_.batch_tokens / mean, 1) *
         kBatchesOfPool;
}

std::vector<RowBatch> BatchPlanner::Epoch(std::uint64_t epoch) const {
  std::vector<std::uint32_t> rows = ShuffledRows(
      Numbers(lengths_.size()), options_.seed, kEpochStream + epoch);
  if (!options_.bucket) return Cut(rows, 0, rows.size());
  const std::size_t pool = PoolRows();
  for (std::size_t begin = 0; begin < rows.size(); begin += pool) {
    SortByLength(rows, begin, std::min(rows.size(), begin + pool));
  }
  // Cut over the borders of pools, so that only one batch is not full.
  std::vector<RowBatch> batches = Cut(rows, 0, rows.size());
  std::vector<RowBatch> shuffled;
  for (const std::uint32_t i : ShuffledRows(
           Numbers(batches.size()), options_.seed, kBatchStream + epoch)) {
    shuffled.push_back(std::move(batches[i]));
  }
  const auto longest = [this](const RowBatch& batch) {
    std::uint32_t most = 0;
    for (const std::uint32_t row : batch) most = std::max(most, lengths_[row]);
    return most;
  };
  const auto first =
      std::max_element(shuffled.begin(), shuffled.end(),
                       [&](const RowBatch& a, const RowBatch& b) {
                         return longest(a) < longest(b);
                       });
  if (first != shuffled.end()) std::swap(*first, shuffled.front());
  return shuffled;
}

std::vector<RowBatch> BatchPlanner::Ordered() const {
  std::vector<std::uint32_t> rows = Numbers(lengths_.size());
  SortByLength(rows, 0, rows.size());
  return Cut(rows, 0, rows.size());
}

std::uint64_t BatchPlanner::BatchesOf(std::uint64_t epochs) const {
  if (options_.batch_tokens == 0) {
    const std::size_t size = options_.batch_size;
    return epochs * ((lengths_.size() + size - 1) / size);
  }
  std::uint64_t total = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    total += Epoch(epoch).size();
  }
  return total;
}

BatchCursor::BatchCursor(const BatchPlanner& planner, BatchPosition position)
    : planner_(planner),
      position_(position),
      planned_epoch_(position.epoch),
      plan_(planner.Epoch(position.epoch)) {}

const RowBatch& BatchCursor::Next() {
  if (position_.batch >= plan_.size()) position_ = {position_.epoch + 1, 0};
  if (position_.epoch != planned_epoch_) {
    plan_ = planner_.Epoch(position_.epoch);
    planned_epoch_ = position_.epoch;
  }
  return plan_[position_.batch++];
}

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
  if (!by_token_) return {};
  return {token_labels_.data() + offsets_[row],
          token_labels_.data() + offsets_[row + 1]};
}

std::vector<std::uint64_t> TokenStore::CountLabels(std::size_t classes) const {
  std::vector<std::uint64_t> counts(classes);
  for (const std::int32_t label : by_token_ ? token_labels_ : labels_) {
    if (label != kIgnoredLabel) ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

std::span<const UnreadWord> TokenStore::unread(std::size_t row) const {
  if (!by_token_) return {};
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

void TokenStore::CloseRow(double weight) {
  keys_.push_back(RowKeyOf(
      std::span(ids_).subspan(offsets_.back()),
      std::span(types_).subspan(static_cast<std::size_t>(offsets_.back()))));
  offsets_.push_back(ids_.size());
  weights_.push_back(static_cast<float>(weight));
}

void TokenStore::AddAnswer(std::span<const std::int32_t> prompt,
                           std::span<const std::int32_t> answer,
                           std::int32_t end, std::size_t max_length) {
  const std::size_t begin = ids_.size();
  ids_.insert(ids_.end(), prompt.begin(), prompt.end());
  ids_.insert(ids_.end(), answer.begin(), answer.end());
  if (!answer.empty() && end >= 0) ids_.push_back(end);
  const std::size_t told = answer.empty() ? 0 : 1;  // the last token alone
  const std::size_t whole = ids_.size() - begin - told;
  const std::size_t kept = std::min(whole, max_length);
  for (std::size_t i = 0; i < kept; ++i) {
    const bool answers = i + 1 >= prompt.size() && told > 0;
    token_labels_.push_back(answers ? ids_[begin + i + 1] : kIgnoredLabel);
  }
  ids_.resize(begin + kept);
  types_.resize(ids_.size(), 0);
  cut_.push_back(kept < whole);
  unread_ends_.push_back(0);
}

std::span<const std::int32_t> TokenStore::prompt(std::size_t row) const {
  const std::span<const std::int32_t> labels = token_labels(row);
  const auto first = std::ranges::find_if(
      labels, [](std::int32_t label) { return label != kIgnoredLabel; });
  const std::span<const std::int32_t> all = ids(row);
  return first == labels.end()
             ? all
             : all.first(static_cast<std::size_t>(first - labels.begin()) + 1);
}

std::size_t TokenStore::cut_total() const {
  return static_cast<std::size_t>(std::ranges::count(cut_, true));
}

Expected<Done> TokenStore::Add(const Dataset& data, std::uint32_t row,
                               const Encoding& encoding) {
  ids_.insert(ids_.end(), encoding.ids.begin(), encoding.ids.end());
  for (const std::int32_t type : encoding.type_ids) {
    types_.push_back(static_cast<std::uint8_t>(type));
  }
  CloseRow(data[row].weight);
  if (!by_token_) {
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
  batch.labels.assign(by_token_ ? area : batch.rows, kIgnoredLabel);
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
    if (by_token_) {
      std::copy_n(token_labels_.begin() + begin, length,
                  batch.labels.begin() + at);
      continue;
    }
    batch.labels[i] = labels_[row];
    batch.targets[i] = targets_[row];
  }
}

namespace {

Fault NoRoom(std::uint32_t row, std::size_t tokens, std::size_t most) {
  return {FaultKind::kMisuse,
          "row " + std::to_string(row + 1) +
              " of the data set has a prompt of " + std::to_string(tokens) +
              " tokens, which leaves none of " + std::to_string(most) +
              " for an answer",
          "give a greater training.max_length, or leave the row out"};
}

// Encodes prompts and what answers them.
class AnswerEncoder {
 public:
  // `chat` is null where prompts are taken as they are.
  AnswerEncoder(const Tokenizer& tokenizer, const EncodeOptions& options,
                const ChatTemplate* chat)
      : options_(options), chat_(chat), encoder_(tokenizer) {}

  Expected<Done> Prompt(std::string_view text, std::uint32_t row) {
    EncodeOptions whole;
    whole.add_special_tokens = chat_ == nullptr;  // a chat has its own
    if (chat_ == nullptr) {
      RETURN_IF_FAULT(encoder_.Encode(text, whole, prompt_));
    } else {
      const ChatMessage question = {"user", text};
      ASSIGN_OR_FAULT(const std::string asked,
                      WriteChat(*chat_, {&question, 1}, /*asks=*/true));
      RETURN_IF_FAULT(encoder_.Encode(asked, whole, prompt_));
    }
    if (prompt_.ids.empty()) {
      return Fault{FaultKind::kInconsistent,
                   "row " + std::to_string(row + 1) +
                       " of the data set has a prompt of 0 tokens",
                   "give it a prompt, or leave the row out"};
    }
    if (prompt_.size() <= options_.max_length) return Done{};
    return NoRoom(row, prompt_.size(), options_.max_length);
  }

  Expected<Done> Answer(std::string_view text, std::uint32_t row) {
    EncodeOptions plain;
    plain.add_special_tokens = false;
    RETURN_IF_FAULT(encoder_.Encode(text, plain, answer_));
    if (!answer_.ids.empty()) return Done{};
    return Fault{FaultKind::kInconsistent,
                 "row " + std::to_string(row + 1) +
                     " of the data set has an answer of 0 tokens",
                 "give it an answer, or leave the row out"};
  }

  std::span<const std::int32_t> prompt() const { return prompt_.ids; }
  std::span<const std::int32_t> answer() const { return answer_.ids; }

 private:
  const EncodeOptions& options_;
  const ChatTemplate* chat_;
  Encoder encoder_;
  Encoding prompt_;
  Encoding answer_;
};

}  // namespace

Expected<Done> TokenStore::AddAnswers(const Dataset& data,
                                      std::span<const std::uint32_t> rows,
                                      const Tokenizer& tokenizer,
                                      const EncodeOptions& options,
                                      PairForm form, const StopSign& stop) {
  EncodeOptions bounded = options;
  if (bounded.max_length == 0) bounded.max_length = ~std::size_t{0};
  const bool choices = data.task() == TaskKind::kChoices;
  const std::int32_t end = choices ? -1 : tokenizer.end().value_or(-1);
  if (!choices && end < 0) {
    return Fault{FaultKind::kInconsistent,
                 "the tokenizer names no token that ends an answer",
                 "name it: \"eos_token\" in tokenizer_config.json"};
  }
  if (data.form().chat && tokenizer.chat() == nullptr) {
    return Fault{FaultKind::kUnsupported,
                 "the data set is of chats, and the model's folder has no chat "
                 "template that is known",
                 "take an instructed SmolLM2, Qwen2.5, Qwen3 or Llama 3, or "
                 "write prompts whole and leave chat out"};
  }
  by_token_ = true;
  AnswerEncoder encoder(tokenizer, bounded,
                        data.form().chat ? tokenizer.chat() : nullptr);
  for (const std::uint32_t row : rows) {
    RETURN_IF_FAULT(stop.Check());
    const Example& example = data[row];
    RETURN_IF_FAULT(encoder.Prompt(example.text, row));
    const auto add = [&](std::string_view answer) -> Expected<Done> {
      RETURN_IF_FAULT(encoder.Answer(answer, row));
      AddAnswer(encoder.prompt(), encoder.answer(), end, bounded.max_length);
      answer_bytes_.push_back(static_cast<std::uint32_t>(answer.size()));
      CloseRow(example.weight);
      return Done{};
    };
    if (!choices && !data.labelled()) {
      AddAnswer(encoder.prompt(), {}, end, bounded.max_length);
      answer_bytes_.push_back(0);
      CloseRow(example.weight);
      continue;
    }
    if (!choices || form == PairForm::kRight) {
      RETURN_IF_FAULT(
          add(choices ? data.words(row)[example.right] : example.second));
      continue;
    }
    const auto first = static_cast<std::uint32_t>(size());
    for (const std::string_view choice : data.words(row)) {
      RETURN_IF_FAULT(add(choice));
    }
    choices_.push_back(
        {static_cast<std::uint32_t>(size()), first + example.right});
  }
  return Done{};
}

Expected<TokenStore> Tokenize(const Dataset& data,
                              std::span<const std::uint32_t> rows,
                              const Tokenizer& tokenizer,
                              const EncodeOptions& options, PairForm form,
                              const StopSign& stop) {
  TokenStore store;
  if (data.task() == TaskKind::kAnswers || data.task() == TaskKind::kChoices) {
    RETURN_IF_FAULT(
        store.AddAnswers(data, rows, tokenizer, options, form, stop));
    store.CountRepeats();
    return store;
  }
  std::vector<Texts> passes = {Texts::kAll};
  if (form == PairForm::kApart) {
    if (!data.is_pair()) {
      return Fault{FaultKind::kMisuse,
                   "texts are to be compared, and the data have no second one",
                   "name its column: columns: {second: ...}"};
    }
    passes = {Texts::kFirst, Texts::kSecond};
  }
  store.by_token_ = data.task() == TaskKind::kTagging;
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
