// SPDX-License-Identifier: Apache-2.0
//
// File: call_context.h
//
// Who calls, and until when the answer is wanted. The edge fills it in once;
// it reaches every verb, streams too. A Reply is how a verb answers: called
// exactly once, from any thread, and it must not block.
#ifndef FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_
#define FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::server {

template <typename T>
using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// Set by the edge when the caller has hung up: a lease is not granted to
// nobody.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

// What a caller may do. Each verb names the least that it asks for.
enum class CallerRole {
  kViewer,      // reads
  kWorker,      // takes trials and reports on them
  kResearcher,  // creates and changes studies and trials
  kAdmin,       // operates the coordinator and the fleet
};

struct CallContext {
  // The name behind the caller's credentials. Nobody is asked for any yet, so
  // it is empty, and the role is that of who may do everything.
  std::string identity;
  CallerRole role = CallerRole::kAdmin;
  std::string peer;        // "ipv4:127.0.0.1:54321"; empty: this process
  std::string request_id;  // of the request; empty: it has none
  SteadyTime deadline = SteadyTime::max();
  CancelFlag cancelled;  // null: the caller cannot hang up

  bool hung_up() const { return cancelled != nullptr && *cancelled; }
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_
