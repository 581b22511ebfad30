// SPDX-License-Identifier: Apache-2.0
//
// File: log.h
//
// Writes each event as a line on standard error:
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
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace frostline {

// The metadata that carries a trace from program to program, as W3C Trace
// Context says (https://www.w3.org/TR/trace-context/):
//
//   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
inline constexpr char kTraceparent[] = "traceparent";

// The trace to which a line or span belongs. It ties lines and spans of several
// programs to one piece of work.
struct TraceContext {
  std::string trace_id;  // 32 lower-case hexadecimal digits; empty: none
  std::string span_id;   // 16 such digits; the span of the caller
  bool is_sampled = false;

  bool empty() const { return trace_id.empty(); }
};

// Reads a traceparent. The result is empty for a text of another form, for all
// zeros and for version ff. Of a later version it reads the parts that are
// known.
TraceContext ParseTraceparent(std::string_view text);

// REQUIRES: not empty.
std::string FormatTraceparent(const TraceContext& trace);

// Makes a new trace, for work that came with none.
TraceContext NewTrace();
// Returns the same trace with a new span.
TraceContext ChildOf(const TraceContext& parent);

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

using LogField = std::pair<const char*, std::string>;

// Drops lines below this level, which is kInfo at first.
void SetLogLevel(LogLevel level);

void Log(LogLevel level, const char* event,
         std::initializer_list<LogField> fields = {});

// Returns the line of Log(), without time stamp and newline.
std::string FormatLogLine(LogLevel level, const char* event,
                          std::initializer_list<LogField> fields);

// How lines of the log look:
//
//   text  2026-11-21T06:07:34.123456Z info lease_lost trial=studies/a/trials/7
//   json  {"time":"2026-…Z","level":"info","event":"lease_lost","trial":"…"}
//
// Every value of a JSON line is a string of well-formed UTF-8.
enum class LogFormat { kText, kJson };

// Sets the format of all further lines; it is text at first.
void SetLogFormat(LogFormat format);

// Says whether a line of this level would be written.
bool IsLogged(LogLevel level);

// A scope in which log lines of this thread carry a trace and its span. Scopes
// nest. `trace` must outlive it.
class LogTraceScope {
 public:
  explicit LogTraceScope(const TraceContext& trace);
  ~LogTraceScope();
  LogTraceScope(const LogTraceScope&) = delete;
  LogTraceScope& operator=(const LogTraceScope&) = delete;

 private:
  const TraceContext* const before_;
};

// Returns the line of Log() as JSON, without newline. A field gets "field_"
// before its name if one of the first three, or an earlier field, has that
// name.
std::string FormatJsonLogLine(WallMicros time, LogLevel level,
                              const char* event,
                              std::initializer_list<LogField> fields,
                              const TraceContext& trace);

}  // namespace frostline

#endif  // FROSTLINE_BASE_LOG_H_
