// SPDX-License-Identifier: Apache-2.0
//
// File: trace.h
//
// What ties lines and spans of several programs to one piece of work: W3C Trace
// Context, https://www.w3.org/TR/trace-context/, as the metadata "traceparent":
//
//   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
#ifndef FROSTLINE_BASE_TRACE_H_
#define FROSTLINE_BASE_TRACE_H_

#include <string>
#include <string_view>

namespace frostline {

inline constexpr char kTraceparent[] = "traceparent";

struct TraceContext {
  std::string trace_id;  // 32 lower-case hexadecimal digits; empty: none
  std::string span_id;   // 16 of them: who called
  bool is_sampled = false;

  bool empty() const { return trace_id.empty(); }
};

// Answers none for what has not its form, all zeros, or version ff. Of a later
// version the parts that are known are read.
TraceContext ParseTraceparent(std::string_view text);

// REQUIRES: not empty.
std::string FormatTraceparent(const TraceContext& trace);

// A new trace, as the one that is made where none came.
TraceContext NewTrace();
// The same trace, in a new span.
TraceContext ChildOf(const TraceContext& parent);

}  // namespace frostline

#endif  // FROSTLINE_BASE_TRACE_H_
