// SPDX-License-Identifier: Apache-2.0
//
// File: log.h
//
// One line per event on standard error, as key=value pairs that grep, journald
// and Loki can read:
//
//   Log(LogLevel::kInfo, "lease_granted", {{"trial", name}});
//   2026-11-21T06:07:34.1Z info lease_granted trial=studies/a/trials/7
//
// Any thread may log; a line is written by one write(2), so lines never mix.
// Values are quoted when they hold blanks or control characters, so a hostile
// study name cannot forge a line. Secrets do not get here: SecretString has no
// conversion to text.
#ifndef FROSTLINE_BASE_LOG_H_
#define FROSTLINE_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

namespace frostline {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

using LogField = std::pair<const char*, std::string>;

// Lines below this level are dropped. Default kInfo.
void SetLogLevel(LogLevel level);

void Log(LogLevel level, const char* event,
         std::initializer_list<LogField> fields = {});

// The line Log would write, without time stamp and newline.
std::string FormatLogLine(LogLevel level, const char* event,
                          std::initializer_list<LogField> fields);

}  // namespace frostline

#endif  // FROSTLINE_BASE_LOG_H_
