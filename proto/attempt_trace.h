// SPDX-License-Identifier: Apache-2.0
//
// File: attempt_trace.h
#ifndef FROSTLINE_PROTO_ATTEMPT_TRACE_H_
#define FROSTLINE_PROTO_ATTEMPT_TRACE_H_

#include <string>

#include "base/log.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::proto {

// Returns the trace of everything that concerns one attempt: in the agent's
// log, in calls and so in the coordinator's log, and in the spans of both. It
// is computed from the lease, so that a result that the agent delivers after a
// restart belongs to it too; the lease's secret cannot be found from it. Its
// span is the attempt's.
TraceContext TraceOfAttempt(const v1::LeaseRef& lease);

// Returns the root span of that trace, which began when the trial was queued.
std::string RootSpanOfAttempt(const v1::LeaseRef& lease);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_ATTEMPT_TRACE_H_
