// SPDX-License-Identifier: Apache-2.0
//
// File: coordinator.h
//
// The service behind the wire: its rooms, made in order, started and ended
// together. An edge (rpc/) serves its table of verbs (verbs/verb_table.h).
//
// Threads: any thread may call a verb, which returns at once; its reply is
// called exactly once, from a thread of the coordinator, and must not block.
// None of these waits for another while holding a lock.
//
// Failure: when the disk fails a commit the process must end: `on_fatal` is
// called once and every waiting call is answered UNAVAILABLE.
#ifndef FROSTLINE_SERVER_COORDINATOR_H_
#define FROSTLINE_SERVER_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "server/verbs/verb_table.h"
#include "storage/trial_store.h"

namespace frostline::server {

struct CoordinatorOptions {
  Duration lease_ttl = std::chrono::seconds(60);
  Duration heartbeat_interval = std::chrono::seconds(15);
  // Added to leases after a restart, so that a fleet can come back.
  Duration restart_grace = std::chrono::seconds(120);
  Duration longest_wait = std::chrono::seconds(30);
  // A watch without news says so often that it is alive.
  Duration watch_alive = std::chrono::seconds(15);
  int reader_threads = 2;
  int importance_threads = 2;      // each uses all cores
  std::string backup_folder = {};  // created at the first backup
  std::function<void(const absl::Status&)> on_fatal = nullptr;
};

class Coordinator {
 public:
  // Borrows both.
  Coordinator(CoordinatorOptions options, storage::TrialStore& store,
              const Clock& clock);
  ~Coordinator();  // drains
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Loads what the store holds.
  absl::Status Start();
  // Takes no new work, answers parked calls, ends the threads. Idempotent.
  void Drain();

  const VerbTable& verbs() const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_COORDINATOR_H_
