// SPDX-License-Identifier: Apache-2.0
//
// File: attempt_trace.h
#ifndef FROSTLINE_PROTO_ATTEMPT_TRACE_H_
#define FROSTLINE_PROTO_ATTEMPT_TRACE_H_

#include <string>

#include "base/log.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::proto {

// The trace of all that is said of one attempt: in the agent's log, in calls,
// and so in the coordinator's, and in the spans of both. It is a function of
// the lease, so that a result that another life of the agent delivers belongs
// to it too; its secret cannot be told from it. Its span is the attempt's.
TraceContext TraceOfAttempt(const v1::LeaseRef& lease);

// The root of that trace: what began when the trial was queued.
std::string RootSpanOfAttempt(const v1::LeaseRef& lease);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_ATTEMPT_TRACE_H_
