// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/attempt_phases.h"

#include <utility>

#include "proto/attempt_trace.h"

namespace frostline::agent {

AttemptPhases::AttemptPhases(const v1::LeaseRef& lease, spans::SpanSink* sink,
                             const Clock& clock)
    : sink_(sink),
      clock_(clock),
      attempt_(proto::TraceOfAttempt(lease)),
      trial_(lease.trial()) {}

AttemptPhases::~AttemptPhases() { End(); }

void AttemptPhases::Begin(const std::string& name) {
  if (sink_ == nullptr) return;
  End();
  phase_.context = ChildOf(attempt_);
  phase_.parent = attempt_.span_id;
  phase_.name = name;
  phase_.begin = clock_.Wall();
  phase_.attributes = {{"frostline.trial", trial_}};
}

void AttemptPhases::End() {
  if (phase_.name.empty()) return;
  phase_.end = clock_.Wall();
  sink_->Take(std::exchange(phase_, {}));
}

}  // namespace frostline::agent
