// SPDX-License-Identifier: Apache-2.0
#include "proto/attempt_trace.h"

#include "base/plain/sums.h"

namespace frostline::proto {
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
