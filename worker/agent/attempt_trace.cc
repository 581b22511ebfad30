// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/attempt_trace.h"

#include <string>

#include "base/plain/sha256.h"

namespace frostline::agent {

TraceContext TraceOfAttempt(const v1::LeaseRef& lease) {
  constexpr std::size_t kTraceDigits = 32;
  constexpr std::size_t kSpanDigits = 16;
  Sha256Sum sum;
  sum.AddField("frostline attempt");
  sum.AddField(lease.trial());
  sum.AddNumber(static_cast<std::uint64_t>(lease.attempt()));
  sum.AddField(lease.secret());
  const std::string digits = sum.Finish();
  return {.trace_id = digits.substr(0, kTraceDigits),
          .span_id = digits.substr(kTraceDigits, kSpanDigits),
          .is_sampled = true};
}

}  // namespace frostline::agent
