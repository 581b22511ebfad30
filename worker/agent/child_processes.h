// SPDX-License-Identifier: Apache-2.0
//
// File: child_processes.h
//
// Who the children of this process are: /proc tells, as processes that nobody
// here has forked become children of a subreaper (PR_SET_CHILD_SUBREAPER) when
// their own parent ends. It allocates nothing and takes no lock, so that a
// process just forked may call it.
#ifndef FROSTLINE_WORKER_AGENT_CHILD_PROCESSES_H_
#define FROSTLINE_WORKER_AGENT_CHILD_PROCESSES_H_

#include <sys/types.h>

namespace frostline::agent {

// Calls `see` for each child, also for those that have ended and are not
// waited for: until that is done a number is given to no other process.
void ForEachChild(void (*see)(pid_t child, void* context), void* context);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_CHILD_PROCESSES_H_
