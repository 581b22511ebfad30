// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <atomic>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace frostline {
namespace {

std::atomic<int> log_level{static_cast<int>(LogLevel::kInfo)};

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

}  // namespace

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
  if (static_cast<int>(level) < log_level) return;
  const std::string line =
      absl::StrCat(FormatWall(SystemClock().Wall()), " ",
                   FormatLogLine(level, event, fields), "\n");
  // A log that cannot be written has nowhere to be reported.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace frostline
