// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/ids.h"

namespace frostline {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kLength = 2 + 1 + kTraceDigits + 1 + kSpanDigits + 1 + 2;
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = kTraceAt + kTraceDigits + 1;
constexpr std::size_t kFlagsAt = kSpanAt + kSpanDigits + 1;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool IsTraceId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool IsOdd(char digit) {
  return digit == 'b' || digit == 'd' || digit == 'f' ||
         (digit <= '9' && (digit - '0') % 2 == 1);
}

}  // namespace

TraceContext ParseTraceparent(std::string_view text) {
  if (text.size() < kLength) return {};
  const std::string_view version = text.substr(0, 2);
  const bool is_longer = text.size() > kLength;
  if (is_longer && (version == "00" || text[kLength] != '-')) return {};
  const std::string_view trace = text.substr(kTraceAt, kTraceDigits);
  const std::string_view span = text.substr(kSpanAt, kSpanDigits);
  const std::string_view flags = text.substr(kFlagsAt, 2);
  const bool has_form = text[2] == '-' && text[kSpanAt - 1] == '-' &&
                        text[kFlagsAt - 1] == '-' && IsHex(version) &&
                        version != "ff" && IsHex(flags);
  if (!has_form || !IsTraceId(trace) || !IsTraceId(span)) return {};
  return {.trace_id = std::string(trace),
          .span_id = std::string(span),
          .is_sampled = IsOdd(flags[1])};
}

std::string FormatTraceparent(const TraceContext& trace) {
  return absl::StrCat("00-", trace.trace_id, "-", trace.span_id, "-",
                      trace.is_sampled ? "01" : "00");
}

TraceContext NewTrace() {
  return {.trace_id = RandomHexId(),
          .span_id = RandomHexId().substr(0, kSpanDigits),
          .is_sampled = true};
}

TraceContext ChildOf(const TraceContext& parent) {
  TraceContext child = parent;
  child.span_id = RandomHexId().substr(0, kSpanDigits);
  return child;
}

}  // namespace frostline
