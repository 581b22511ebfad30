// SPDX-License-Identifier: Apache-2.0
//
// File: log.h
//
// Each event is a line on standard error:
//
//   Log(LogLevel::kInfo, "lease_granted", {{"trial", name}});
//   2026-11-21T06:07:34.123456Z info lease_granted trial=studies/a/trials/7
//
// Any thread may log: each line is one write(2), so lines never mix. Blanks and
// control characters are quoted, so a hostile study name cannot forge a line.
#ifndef FROSTLINE_BASE_LOG_H_
#define FROSTLINE_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

namespace frostline {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

using LogField = std::pair<const char*, std::string>;

// Drops lines below this level, which is kInfo at first.
void SetLogLevel(LogLevel level);

void Log(LogLevel level, const char* event,
         std::initializer_list<LogField> fields = {});

// Makes the line of Log(), without time stamp and newline.
std::string FormatLogLine(LogLevel level, const char* event,
                          std::initializer_list<LogField> fields);

}  // namespace frostline

#endif  // FROSTLINE_BASE_LOG_H_
