// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/call_counts.h"

#include "absl/strings/strip.h"

namespace frostline::server {
namespace {

constexpr std::array<const char*, VerbCounts::kCodes> kNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED"};

void WriteUnary(const std::string& verb, const VerbCounts& counts,
                MetricsPage& page) {
  page.Set("frostline_calls_in_progress",
           counts.begun.value() - counts.ended.value(), {{"verb", verb}});
  for (std::size_t code = 0; code < kNames.size(); ++code) {
    const Histogram& seconds = counts.seconds[code];
    // Errors that never were would be most of the page.
    if (code != grpc::StatusCode::OK && seconds.Count() == 0) continue;
    page.Set("frostline_calls_total", seconds.Count(),
             {{"verb", verb}, {"code", kNames[code]}});
    page.Set("frostline_call_seconds", seconds,
             {{"verb", verb}, {"code", kNames[code]}});
  }
}

}  // namespace

const char* CodeName(grpc::StatusCode code) {
  const auto at = static_cast<std::size_t>(code);
  return kNames[at < kNames.size() ? at : VerbCounts::kUnknown];
}

VerbCounts* CallCounts::Of(const std::string& method, bool streams) {
  VerbCounts& counts =
      verbs_[std::string(absl::StripPrefix(method, "frostline.v1."))];
  counts.streams = streams;
  return &counts;
}

void CallCounts::Write(MetricsPage& page) const {
  for (const auto& [verb, counts] : verbs_) {
    if (!counts.streams) {
      WriteUnary(verb, counts, page);
      continue;
    }
    page.Set("frostline_streams_total", counts.begun, {{"verb", verb}});
    page.Set("frostline_streams_open",
             counts.begun.value() - counts.ended.value(), {{"verb", verb}});
  }
}

}  // namespace frostline::server
