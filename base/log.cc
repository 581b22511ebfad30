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
#include "base/log_format.h"
#include "base/plain/json_text.h"
#include "base/plain/text.h"

namespace frostline {
namespace {

std::atomic<int> log_level{static_cast<int>(LogLevel::kInfo)};
std::atomic<LogFormat> log_format{LogFormat::kText};
// Of the innermost scope on this thread.
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
}

}  // namespace frostline
