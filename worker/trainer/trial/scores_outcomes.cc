// SPDX-License-Identifier: Apache-2.0
//
// What scores say of each example, as a finish carries it.
#include <bit>
#include <utility>

#include "worker/trainer/tasks/outcomes.h"
#include "worker/trainer/trial/scores.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kMostByteClasses = 255;  // 255 itself is no class
constexpr std::size_t kMostClasses = 65'535;

void AppendLittle(std::uint32_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xFF);
  }
}

}  // namespace

Expected<ExampleOutcomes> Scores::Outcomes(
    const std::string& fingerprint) const {
  ExampleOutcomes outcomes;
  outcomes.data_fingerprint = fingerprint;
  Expected<Done> packed =
      of_numbers() ? PackNumbers(outcomes) : PackClasses(outcomes);
  if (!packed.ok()) return packed.fault();
  return outcomes;
}

Expected<Done> Scores::PackNumbers(ExampleOutcomes& outcomes) const {
  const std::vector<float> scores(prediction_.begin(), prediction_.end());
  outcomes.encoding = "FLOAT16";
  outcomes.count = static_cast<std::int64_t>(scores.size());
  Expected<std::string> bytes = PackFloat16(scores);
  if (!bytes.ok()) return bytes.fault();
  outcomes.bytes = std::move(bytes).value();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto truth = static_cast<float>(truth_[i]);
    AppendLittle(std::bit_cast<std::uint32_t>(truth), 4, outcomes.true_value);
    AppendLittle(std::bit_cast<std::uint32_t>(scores[i]), 4,
                 outcomes.predicted_value);
  }
  return Done{};
}

Expected<Done> Scores::PackClasses(ExampleOutcomes& outcomes) const {
  std::vector<bool> right;
  std::vector<float> confidence;
  const std::size_t classes = labels_.size();
  const int width = classes > kMostByteClasses ? 2 : 1;
  for (const Guess& guess : guesses_) {
    for (std::size_t i = 0; i < guess.truth.size(); ++i) {
      if (guess.truth[i] < 0) continue;  // nobody knows
      const std::int32_t said = guess.prediction[i];
      right.push_back(guess.truth[i] == said);
      confidence.push_back(guess.confidence[i]);
      AppendLittle(static_cast<std::uint32_t>(guess.truth[i]), width,
                   outcomes.true_class);
      AppendLittle(said < 0 ? static_cast<std::uint32_t>(classes)
                            : static_cast<std::uint32_t>(said),
                   width, outcomes.predicted_class);
    }
    if (head_.task == Task::kTokens && !guess.truth.empty()) {
      outcomes.sentence_ends.push_back(
          static_cast<std::uint32_t>(right.size()));
    }
  }
  outcomes.encoding = "PACKED_BITS";
  outcomes.count = static_cast<std::int64_t>(right.size());
  outcomes.words_cut = static_cast<std::int64_t>(words_cut_);
  Expected<std::string> bytes = PackBits(right);
  if (!bytes.ok()) return bytes.fault();
  outcomes.bytes = std::move(bytes).value();
  if (classes > kMostClasses) {
    outcomes.DropDetails();
    return Done{};
  }
  outcomes.classes = labels_.names();
  // Of more than fit the marks alone are told.
  Expected<std::string> halves = PackFloat16(confidence);
  if (halves.ok()) outcomes.confidence = std::move(halves).value();
  return Done{};
}

void ExampleOutcomes::DropDetails() {
  classes.clear();
  predicted_class.clear();
  true_class.clear();
  predicted_value.clear();
  true_value.clear();
  confidence.clear();
}

std::size_t ExampleOutcomes::size() const {
  constexpr std::size_t kNames = 256;  // of fields, sets and the fingerprint
  std::size_t all = kNames + bytes.size() + predicted_class.size() +
                    true_class.size() + predicted_value.size() +
                    true_value.size() + confidence.size() + set.size() +
                    task.size() + 5 * sentence_ends.size();
  for (const std::string& name : classes) all += name.size() + 4;
  return all;
}

// Confidences go first, then what was predicted, then sets, of each the last
// set's first: the validation set stands first.
std::vector<std::string> FitIntoFinish(std::vector<ExampleOutcomes>& sets) {
  std::vector<std::string> left_out;
  const auto fits = [&sets] {
    std::size_t bytes = 0;
    for (const ExampleOutcomes& set : sets) bytes += set.size();
    return bytes <= kMaxEvaluationsBytes;
  };
  for (std::size_t i = sets.size(); i-- > 0 && !fits();) {
    if (sets[i].confidence.empty()) continue;
    sets[i].confidence.clear();
    left_out.push_back("confidences of " + sets[i].set);
  }
  for (std::size_t i = sets.size(); i-- > 0 && !fits();) {
    sets[i].DropDetails();
    left_out.push_back("predictions of " + sets[i].set);
  }
  while (!fits()) {
    left_out.push_back("all outcomes of " + sets.back().set);
    sets.pop_back();
  }
  return left_out;
}

}  // namespace frostline::trainer
