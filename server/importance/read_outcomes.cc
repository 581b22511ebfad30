// SPDX-License-Identifier: Apache-2.0
//
// What became of each example, from the wire's packed form.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "server/importance/outcome_rows.h"

namespace frostline::server {
namespace {

using statistics::Outcomes;

// Whole numbers of `width` bytes, the lowest first.
class Packed {
 public:
  Packed(const std::string& bytes, std::size_t width)
      : bytes_(bytes), width_(width) {}

  bool Holds(std::size_t count) const {
    return count > 0 && bytes_.size() == count * width_;
  }
  std::uint32_t At(std::size_t i) const {
    std::uint32_t value = 0;
    for (std::size_t b = width_; b-- > 0;) {
      value = value << 8 | static_cast<std::uint8_t>(bytes_[i * width_ + b]);
    }
    return value;
  }

 private:
  const std::string& bytes_;
  std::size_t width_;
};

void ReadMarks(const v1::ExampleOutcomes& proto, std::size_t count,
               Outcomes& outcomes) {
  const std::string& data = proto.data();
  if (proto.encoding() == v1::ExampleOutcomes::PACKED_BITS &&
      data.size() == (count + 7) / 8) {
    outcomes.right_or_wrong = true;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<std::uint8_t>(data[i / 8]);
      outcomes.marks.push_back(static_cast<float>(byte >> i % 8 & 1));
    }
  } else if (const Packed halves(data, 2);
             proto.encoding() == v1::ExampleOutcomes::FLOAT16 &&
             halves.Holds(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      outcomes.marks.push_back(
          FromHalf(static_cast<std::uint16_t>(halves.At(i))));
    }
  }
}

void ReadClasses(const v1::ExampleOutcomes& proto, std::size_t count,
                 Outcomes& outcomes) {
  const std::size_t width = proto.classes_size() > 256 ? 2 : 1;
  const Packed truth(proto.true_class(), width);
  const Packed predicted(proto.predicted_class(), width);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  const auto classes = static_cast<std::uint32_t>(proto.classes_size());
  for (std::size_t i = 0; i < count; ++i) {
    if (std::max(truth.At(i), predicted.At(i)) < classes) continue;
    return;
  }
  outcomes.classes.assign(proto.classes().begin(), proto.classes().end());
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_class.push_back(static_cast<std::int32_t>(truth.At(i)));
    outcomes.predicted_class.push_back(
        static_cast<std::int32_t>(predicted.At(i)));
  }
}

void ReadValues(const v1::ExampleOutcomes& proto, std::size_t count,
                Outcomes& outcomes) {
  const Packed truth(proto.true_value(), 4);
  const Packed predicted(proto.predicted_value(), 4);
  if (!truth.Holds(count) || !predicted.Holds(count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    outcomes.true_value.push_back(std::bit_cast<float>(truth.At(i)));
    outcomes.predicted_value.push_back(std::bit_cast<float>(predicted.At(i)));
  }
}

void ReadSentences(const v1::ExampleOutcomes& proto, std::size_t count,
                   Outcomes& outcomes) {
  const auto& ends = proto.sentence_ends();
  const bool whole = !ends.empty() && *ends.rbegin() == count &&
                     std::is_sorted(ends.begin(), ends.end());
  if (whole && outcomes.true_value.empty()) {
    outcomes.sentence_ends.assign(ends.begin(), ends.end());
  }
}

}  // namespace

float FromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31)
    return sign * std::ldexp(1024.0f + fraction, exponent - 25);
  return fraction == 0.0f ? sign * std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
}

Outcomes ReadOutcomes(const v1::ExampleOutcomes& proto) {
  Outcomes outcomes;
  if (proto.count() < 1) return outcomes;
  const auto count = static_cast<std::size_t>(proto.count());
  ReadMarks(proto, count, outcomes);
  ReadClasses(proto, count, outcomes);
  if (outcomes.true_class.empty()) ReadValues(proto, count, outcomes);
  ReadSentences(proto, count, outcomes);
  return outcomes;
}

}  // namespace frostline::server
