// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/score.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace frostline::trainer {
namespace {

constexpr std::int64_t kMaxPower = 308;

double PowerOfTen(std::int64_t exponent) {
  static const auto table = [] {
    std::array<double, kMaxPower + 1> powers{};
    for (std::size_t i = 0; i < powers.size(); ++i) {
      const std::string text = "1e" + std::to_string(i);
      std::from_chars(text.data(), text.data() + text.size(), powers[i]);
    }
    return powers;
  }();
  return table[static_cast<std::size_t>(exponent)];
}

double Scaled(double value, std::int64_t exponent) {
  while (exponent < -kMaxPower && value != 0.0) {
    value /= PowerOfTen(kMaxPower);
    exponent += kMaxPower;
  }
  if (value == 0.0) return value;
  if (exponent > kMaxPower) return std::numeric_limits<double>::infinity();
  return exponent < 0 ? value / PowerOfTen(-exponent)
                      : value * PowerOfTen(exponent);
}

// "e-5": bounded, so that sums of exponents cannot overflow.
std::int64_t ExponentOf(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  for (const char c : digits) {
    exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1'000'000'000);
  }
  return negative ? -exponent : exponent;
}

}  // namespace

double ScoreOf(std::string_view number) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool point = false;
  bool full = false;  // further digits are dropped
  std::size_t i = 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      point = true;
      full = false;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(number[i] - '0');
    full = full || digits > (kMax - digit) / 10;
    if (full) {
      exponent += point ? 0 : 1;
      continue;
    }
    digits = digits * 10 + digit;
    exponent -= point ? 1 : 0;
  }
  if (i < number.size()) exponent += ExponentOf(number.substr(i + 1));
  const double value = Scaled(static_cast<double>(digits), exponent);
  return negative ? -value : value;
}

}  // namespace frostline::trainer
