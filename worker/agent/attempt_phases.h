// SPDX-License-Identifier: Apache-2.0
//
// File: attempt_phases.h
//
// An attempt as its worker sees it, one phase after the other, each a span of
// the attempt's trace (spans/span.h):
//
//   phases.Begin("train");     // what came before has ended
#ifndef FROSTLINE_WORKER_AGENT_ATTEMPT_PHASES_H_
#define FROSTLINE_WORKER_AGENT_ATTEMPT_PHASES_H_

#include <string>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "spans/span.h"

namespace frostline::agent {

// It is not thread-safe.
class AttemptPhases {
 public:
  // `sink` may be null: then nothing is done. It and `clock` outlive this.
  AttemptPhases(const v1::LeaseRef& lease, spans::SpanSink* sink,
                const Clock& clock);
  // Ends the last one.
  ~AttemptPhases();
  AttemptPhases(const AttemptPhases&) = delete;
  AttemptPhases& operator=(const AttemptPhases&) = delete;

  void Begin(const std::string& name);
  // What is under way has failed, for this cause.
  void Fail(const std::string& cause) { phase_.error = cause; }

 private:
  void End();

  spans::SpanSink* const sink_;
  const Clock& clock_;
  const TraceContext attempt_;
  const std::string trial_;
  spans::Span phase_;  // without a name: none
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_ATTEMPT_PHASES_H_
