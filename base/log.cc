// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/plain/json.h"
#include "base/plain/text.h"
#include "base/terminal_log.h"

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

namespace {

std::atomic<int> log_level{static_cast<int>(LogLevel::kInfo)};
std::atomic<LogFormat> log_format{LogFormat::kText};
// The trace of the innermost scope on this thread.
thread_local const TraceContext* thread_trace = nullptr;

const char* NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

bool NeedsQuotes(const std::string& value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

TraceContext CurrentTrace() {
  return thread_trace == nullptr ? TraceContext() : *thread_trace;
}

std::string FormatTextLine(WallMicros time, LogLevel level, const char* event,
                           std::initializer_list<LogField> fields,
                           const TraceContext& trace) {
  std::string line =
      absl::StrCat(FormatWall(time), " ", FormatLogLine(level, event, fields));
  if (!trace.empty()) absl::StrAppend(&line, " trace_id=", trace.trace_id);
  return line;
}

}  // namespace

void SetLogFormat(LogFormat format) { log_format = format; }

bool IsLogged(LogLevel level) { return static_cast<int>(level) >= log_level; }

LogTraceScope::LogTraceScope(const TraceContext& trace)
    : before_(std::exchange(thread_trace, &trace)) {}

LogTraceScope::~LogTraceScope() { thread_trace = before_; }

std::string FormatJsonLogLine(WallMicros time, LogLevel level,
                              const char* event,
                              std::initializer_list<LogField> fields,
                              const TraceContext& trace) {
  std::string line = "{";
  std::vector<std::string> keys;
  const auto add = [&](std::string key, std::string_view value) {
    while (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      key.insert(0, "field_");
    }
    absl::StrAppend(&line, keys.empty() ? "" : ",", JsonString(key), ":",
                    JsonString(RepairUtf8(value)));
    keys.push_back(std::move(key));
  };
  add("time", FormatWall(time));
  add("level", NameOf(level));
  add("event", event);
  if (!trace.empty()) {
    add("trace_id", trace.trace_id);
    add("span_id", trace.span_id);
  }
  for (const auto& [key, value] : fields) add(key, value);
  return line + "}";
}

void SetLogLevel(LogLevel level) { log_level = static_cast<int>(level); }

std::string FormatLogLine(LogLevel level, const char* event,
                          std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat(NameOf(level), " ", event);
  for (const auto& [key, value] : fields) {
    absl::StrAppend(&line, " ", key, "=");
    if (NeedsQuotes(value)) {
      absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(value), "\"");
    } else {
      absl::StrAppend(&line, value);
    }
  }
  return line;
}

void Log(LogLevel level, const char* event,
         std::initializer_list<LogField> fields) {
  if (!IsLogged(level)) return;
  const auto format =
      log_format == LogFormat::kJson ? FormatJsonLogLine : FormatTextLine;
  const std::string line =
      format(SystemClock().Wall(), level, event, fields, CurrentTrace()) + "\n";
  // A log that cannot be written has nowhere to be reported.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
  if (level == LogLevel::kError) {
    SayOnTerminal(FormatLogLine(level, event, fields));
  }
}

}  // namespace frostline
