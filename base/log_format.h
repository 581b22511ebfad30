// SPDX-License-Identifier: Apache-2.0
//
// File: log_format.h
//
// How lines of log.h look, and what they are tied to:
//
//   text  2026-11-21T06:07:34.123456Z info lease_lost trial=studies/a/trials/7
//   json  {"time":"2026-…Z","level":"info","event":"lease_lost","trial":"…"}
//
// Every value of a JSON line is a string of well-formed UTF-8.
#ifndef FROSTLINE_BASE_LOG_FORMAT_H_
#define FROSTLINE_BASE_LOG_FORMAT_H_

#include <initializer_list>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/trace.h"

namespace frostline {

enum class LogFormat { kText, kJson };

// Of all lines from now on; text at first.
void SetLogFormat(LogFormat format);

// Says whether a line of this level would be written.
bool IsLogged(LogLevel level);

// While it lives, lines of this thread carry the trace and its span. Scopes
// nest. `trace` outlives it.
class LogTraceScope {
 public:
  explicit LogTraceScope(const TraceContext& trace);
  ~LogTraceScope();
  LogTraceScope(const LogTraceScope&) = delete;
  LogTraceScope& operator=(const LogTraceScope&) = delete;

 private:
  const TraceContext* const before_;
};

// Makes the line of Log() as JSON, without newline. A field that has the name
// of one of the first three, or is there already, gets "field_" before it.
std::string FormatJsonLogLine(WallMicros time, LogLevel level,
                              const char* event,
                              std::initializer_list<LogField> fields,
                              const TraceContext& trace);

}  // namespace frostline

#endif  // FROSTLINE_BASE_LOG_FORMAT_H_
