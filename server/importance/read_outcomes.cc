// SPDX-License-Identifier: Apache-2.0
//
// What became of each example, from the wire's packed form.
#include <algorithm>
#include <vector>

#include "proto/packed_numbers.h"
#include "server/importance/contenders.h"

namespace frostline::server {
namespace {

using statistics::Outcomes;
using Packed = proto::PackedNumbers;

constexpr std::int32_t kNoClass = -1;  // of a word that was cut off

void ReadMarks(const v1::ExampleOutcomes& said, std::size_t count,
               Outcomes& outcomes) {
  const std::string& data = said.data();
  if (said.encoding() == v1::ExampleOutcomes::PACKED_BITS &&
      data.size() == (count + 7) / 8) {
    outcomes.right_or_wrong = true;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<std::uint8_t>(data[i / 8]);
      outcomes.marks.push_back(static_cast<float>(byte >> i % 8 & 1));
    }
  } else if (const Packed halves(data, 2);
             said.encoding() == v1::ExampleOutcomes::FLOAT16 &&
             halves.Holds(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      outcomes.marks.push_back(proto::FromHalf(halves.At(i)));
    }
  }
}

void ReadClasses(const v1::ExampleOutcomes& said, std::size_t count,
                 Outcomes& outcomes) {
  const std::size_t width = proto::ClassWidth(said);
  const Packed truth(said.true_class(), width);
  const Packed predicted(said.predicted_class(), width);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  const auto classes = static_cast<std::uint32_t>(said.classes_size());
  for (std::size_t i = 0; i < count; ++i) {
    if (truth.At(i) >= classes || predicted.At(i) > classes) return;
  }
  outcomes.classes.assign(said.classes().begin(), said.classes().end());
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_class.push_back(static_cast<std::int32_t>(truth.At(i)));
    const std::uint32_t guess = predicted.At(i);
    outcomes.predicted_class.push_back(
        guess == classes ? kNoClass : static_cast<std::int32_t>(guess));
  }
}

void ReadValues(const v1::ExampleOutcomes& said, std::size_t count,
                Outcomes& outcomes) {
  const Packed truth(said.true_value(), 4);
  const Packed predicted(said.predicted_value(), 4);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_value.push_back(truth.FloatAt(i));
    outcomes.predicted_value.push_back(predicted.FloatAt(i));
  }
}

void ReadSentences(const v1::ExampleOutcomes& said, std::size_t count,
                   Outcomes& outcomes) {
  const auto& ends = said.sentence_ends();
  const bool whole = !ends.empty() && *ends.rbegin() == count &&
                     std::is_sorted(ends.begin(), ends.end());
  if (whole && outcomes.true_value.empty()) {
    outcomes.sentence_ends.assign(ends.begin(), ends.end());
  }
}

}  // namespace

Outcomes ReadOutcomes(const v1::ExampleOutcomes& said) {
  Outcomes outcomes;
  if (said.count() < 1) return outcomes;
  const auto count = static_cast<std::size_t>(said.count());
  ReadMarks(said, count, outcomes);
  ReadClasses(said, count, outcomes);
  if (outcomes.true_class.empty()) ReadValues(said, count, outcomes);
  ReadSentences(said, count, outcomes);
  return outcomes;
}

}  // namespace frostline::server
