// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/tasks/outcomes.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {
namespace {

using namespace std::string_literals;

// What a half stands for, by the definition of IEEE 754.
float ValueOf(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const auto mantissa = static_cast<float>(half & 1023);
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024.0F + mantissa, exponent - 25);
}

TEST(PackBits, PutsTheFirstExampleLowest) {
  EXPECT_EQ(
      PackBits({true, false, false, false, false, false, false, true, true})
          .value(),
      "\x81\x01"s);
  EXPECT_EQ(PackBits({}).value(), "");
}

TEST(PackBits, HasALimit) {
  EXPECT_EQ(PackBits(std::vector<bool>(4 << 20)).value().size(), 512U << 10);
  const auto over = PackBits(std::vector<bool>((4 << 20) + 1));
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.fault().kind, FaultKind::kTooLarge);
}

TEST(ToFloat16, TakesEveryHalfBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half >> 10 & 31) == 31) continue;  // infinite, or no number
    ASSERT_EQ(ToFloat16(ValueOf(half)), half);
  }
}

TEST(ToFloat16, RoundsToTheNearest) {
  for (std::uint16_t half = 0; half < 0x7BFF; ++half) {
    const float low = ValueOf(half);
    const float high = ValueOf(static_cast<std::uint16_t>(half + 1));
    const float middle = (low + high) / 2.0F;  // exact
    const int even = half % 2 == 0 ? half : half + 1;
    ASSERT_EQ(ToFloat16(middle), even);
    ASSERT_EQ(ToFloat16(std::nextafter(middle, low)), half);
    ASSERT_EQ(ToFloat16(std::nextafter(middle, high)), half + 1);
  }
}

TEST(ToFloat16, KnowsItsEnds) {
  EXPECT_EQ(ToFloat16(65519.0F), 0x7BFF);
  EXPECT_EQ(ToFloat16(65520.0F), 0x7C00);
  EXPECT_EQ(ToFloat16(-1e30F), 0xFC00);
  EXPECT_EQ(ToFloat16(1e-30F), 0);
  EXPECT_EQ(ToFloat16(-0.0F), 0x8000);
  EXPECT_EQ(ToFloat16(std::numeric_limits<float>::quiet_NaN()), 0x7E00);
}

TEST(PackFloat16, IsLittleEndian) {
  const std::vector<float> scores = {1.0F, -2.0F};
  EXPECT_EQ(PackFloat16(scores).value(), "\x00\x3C\x00\xC0"s);
  EXPECT_FALSE(PackFloat16(std::vector<float>(262'145)).ok());
}

TEST(EncodeBase64, IsReadBack) {
  EXPECT_EQ(EncodeBase64("\x81\x01"s), "gQE=");
  for (std::size_t size = 0; size < 10; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) {
      bytes += static_cast<char>(251 + 37 * i);
    }
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
}

}  // namespace
}  // namespace frostline::trainer
