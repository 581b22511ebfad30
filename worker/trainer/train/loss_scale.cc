// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "worker/trainer/train/gradients.h"

namespace frostline::trainer {
namespace {

// Of what fp32 can hold.
constexpr std::int64_t kMostExponent = 127;

}  // namespace

LossScale::LossScale(const LossScaleOptions& options)
    : double_after_(options.double_after), exponent_(options.exponent) {}

double LossScale::value() const {
  return std::ldexp(1.0, static_cast<int>(exponent_));
}

LossScale::Verdict LossScale::Judge(bool finite) {
  if (finite) {
    if (++good_ < double_after_) return Verdict::kMove;
    good_ = 0;
    if (exponent_ < kMostExponent) ++exponent_;
    return Verdict::kMove;
  }
  good_ = 0;
  if (exponent_ == 0) return Verdict::kHopeless;
  --exponent_;
  ++skipped_;
  return Verdict::kSkip;
}

std::string LossScale::Print() const {
  return std::to_string(exponent_) + " " + std::to_string(good_) + " " +
         std::to_string(skipped_);
}

bool LossScale::Restore(std::string_view text) {
  std::array<std::int64_t, 3> numbers = {};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::int64_t& number : numbers) {
    if (&number != numbers.data() && (at == end || *at++ != ' ')) return false;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return false;
    at = next;
  }
  const auto [exponent, good, skipped] = numbers;
  if (at != end || exponent > kMostExponent) return false;
  exponent_ = exponent;
  good_ = good;
  skipped_ = skipped;
  return true;
}

}  // namespace frostline::trainer
