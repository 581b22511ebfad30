// SPDX-License-Identifier: Apache-2.0
#include "proto/wire_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/plain/sums.h"

namespace frostline::proto {
namespace {

constexpr std::int64_t kLongestSeconds = 100LL * 365 * 24 * 3600;
constexpr std::int64_t kEndOf9999 = 253'402'300'799;
constexpr std::int32_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

}  // namespace

google::protobuf::Duration DurationToProto(Duration duration) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(duration);
  google::protobuf::Duration proto;
  proto.set_seconds(seconds.count());
  proto.set_nanos(static_cast<std::int32_t>(
      std::chrono::nanoseconds(duration - seconds).count()));
  return proto;
}

Duration DurationFromProto(const google::protobuf::Duration& proto) {
  const std::int32_t nanos = proto.nanos();
  const bool one_sign = (proto.seconds() >= 0 && nanos >= 0) ||
                        (proto.seconds() <= 0 && nanos <= 0);
  const bool in_range = nanos > -kNanosPerSecond && nanos < kNanosPerSecond;
  if (!one_sign || !in_range) return Duration(-1);
  const std::int64_t seconds =
      std::clamp(proto.seconds(), -kLongestSeconds, kLongestSeconds);
  return std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
}

google::protobuf::Timestamp TimestampToProto(WallMicros time) {
  google::protobuf::Timestamp proto;
  proto.set_seconds(time / kMicrosPerSecond);
  proto.set_nanos(static_cast<std::int32_t>(time % kMicrosPerSecond) * 1000);
  return proto;
}

bool IsTimestamp(const google::protobuf::Timestamp& proto) {
  return proto.seconds() >= 0 && proto.seconds() <= kEndOf9999 &&
         proto.nanos() >= 0 && proto.nanos() < kNanosPerSecond;
}

WallMicros TimestampFromProto(const google::protobuf::Timestamp& proto) {
  return proto.seconds() * kMicrosPerSecond + proto.nanos() / 1000;
}

float FromHalf(std::uint32_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) {
    return sign * std::ldexp(1024.0F + fraction, exponent - 25);
  }
  return fraction == 0.0F ? sign * std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
}

namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;

std::string DigitsOf(const v1::LeaseRef& lease) {
  Sha256Sum sum;
  sum.AddField("frostline attempt");
  sum.AddField(lease.trial());
  sum.AddNumber(static_cast<std::uint64_t>(lease.attempt()));
  sum.AddField(lease.secret());
  return sum.Finish();
}

}  // namespace

TraceContext TraceOfAttempt(const v1::LeaseRef& lease) {
  const std::string digits = DigitsOf(lease);
  return {.trace_id = digits.substr(0, kTraceDigits),
          .span_id = digits.substr(kTraceDigits, kSpanDigits),
          .is_sampled = true};
}

std::string RootSpanOfAttempt(const v1::LeaseRef& lease) {
  return DigitsOf(lease).substr(kTraceDigits + kSpanDigits, kSpanDigits);
}

}  // namespace frostline::proto
