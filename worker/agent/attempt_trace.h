// SPDX-License-Identifier: Apache-2.0
//
// File: attempt_trace.h
#ifndef FROSTLINE_WORKER_AGENT_ATTEMPT_TRACE_H_
#define FROSTLINE_WORKER_AGENT_ATTEMPT_TRACE_H_

#include "base/trace.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// The trace of all that is said of one attempt: in this agent's log, in calls,
// and so in the coordinator's. It is a function of the lease, so that a result
// that another life of the agent delivers belongs to it too; its secret cannot
// be told from it.
TraceContext TraceOfAttempt(const v1::LeaseRef& lease);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_ATTEMPT_TRACE_H_
