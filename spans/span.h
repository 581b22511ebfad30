// SPDX-License-Identifier: Apache-2.0
//
// File: span.h
//
// A span: a part of a trial's life, with its begin and end. The spans of one
// trace form a tree; when a trial runs again, its new trace links to the last
// one.
//
//   trial     from when it was queued until its attempt ended
//     queued  until a worker took it
//     attempt until the coordinator knew its end
//       prepare, train, deliver   as the worker saw them
#ifndef FROSTLINE_SPANS_SPAN_H_
#define FROSTLINE_SPANS_SPAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/log.h"

namespace frostline::spans {

using Attribute =
    std::pair<std::string, std::variant<std::int64_t, std::string>>;
using Attributes = std::vector<Attribute>;

// A part of a trial's life, with its begin and end.
struct Span {
  TraceContext context;
  std::string parent;  // its span id; empty for a root
  std::string name;
  WallMicros begin = 0;
  WallMicros end = 0;
  Attributes attributes;
  std::vector<TraceContext> links;
  std::string error;  // empty: it went well
};

// A place that takes spans and keeps or sends them. Any thread may call. It
// does not block, and the work that a span describes never fails because of it.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void Take(Span span) = 0;
};

}  // namespace frostline::spans

#endif  // FROSTLINE_SPANS_SPAN_H_
