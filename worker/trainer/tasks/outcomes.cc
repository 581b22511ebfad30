// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/tasks/outcomes.h"

#include <bit>

namespace frostline::trainer {
namespace {

Fault TooMany(std::size_t count) {
  return Fault{FaultKind::kTooLarge,
               "outcomes of " + std::to_string(count) +
                   " examples take more than 512 KiB",
               "validate on fewer rows, or set report_example_outcomes: false"};
}

}  // namespace

Expected<std::string> PackBits(const std::vector<bool>& right) {
  const std::size_t size = (right.size() + 7) / 8;
  if (size > kMaxOutcomeBytes) return TooMany(right.size());
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (!right[i]) continue;
    bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
  }
  return bytes;
}

Expected<std::string> PackFloat16(std::span<const float> scores) {
  if (2 * scores.size() > kMaxOutcomeBytes) return TooMany(scores.size());
  std::string bytes;
  bytes.reserve(2 * scores.size());
  for (const float score : scores) {
    const std::uint16_t half = ToFloat16(score);
    bytes += static_cast<char>(half & 0xFF);
    bytes += static_cast<char>(half >> 8);
  }
  return bytes;
}

std::uint16_t ToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  const auto with_sign = [sign](std::uint32_t half) {
    return static_cast<std::uint16_t>(sign | half);
  };
  if (magnitude > 0x7F800000) return with_sign(0x7E00);   // not a number
  if (magnitude >= 0x477FF000) return with_sign(0x7C00);  // 65520 and more
  if (magnitude < 0x33000000) return sign;                // under 2^-25
  // Below 2^-14 a half has a fixed point 24 bits down, above it its own.
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const bool tiny = exponent < -14;
  const std::uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
  const int shift = tiny ? -exponent - 1 : 13;
  std::uint32_t half = mantissa >> shift;
  const std::uint32_t rest = mantissa & ((std::uint32_t{1} << shift) - 1);
  const std::uint32_t middle = std::uint32_t{1} << (shift - 1);
  if (rest > middle || (rest == middle && (half & 1) != 0)) ++half;
  // The leading one of a normal number is the lowest bit of its exponent, so a
  // carry out of the mantissa lands where it belongs.
  if (!tiny) half += static_cast<std::uint32_t>(exponent + 14) << 10;
  return with_sign(half);
}

std::string EncodeBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const char byte = k < three.size() ? three[k] : '\0';
      bits = bits << 8 | static_cast<unsigned char>(byte);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= three.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace frostline::trainer
