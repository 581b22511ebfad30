// SPDX-License-Identifier: Apache-2.0
//
// File: coordinator.h
//
// Makes the rooms behind the wire. An edge (rpc/) serves its table of verbs
// (verbs/verb_table.h).
//
// Threads: any thread may call a verb, which returns at once. Its reply is
// called exactly once, from a thread of ours, and must not block.
//
// Failure: a disk that fails a commit has to end the process. `on_fatal` is
// called once; that commit's calls get the store's error, later ones
// UNAVAILABLE.
#ifndef FROSTLINE_SERVER_COORDINATOR_H_
#define FROSTLINE_SERVER_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/known_holes.h"
#include "server/audit/audit_log.h"
#include "server/auth/credentials.h"
#include "server/auth/issuer.h"
#include "server/metrics/page.h"
#include "server/notify/notifier.h"
#include "server/verbs/verb_table.h"
#include "spans/span.h"
#include "storage/trial_store.h"

namespace frostline::server {

struct CoordinatorOptions {
  Duration lease_ttl = std::chrono::seconds(60);
  Duration heartbeat_interval = std::chrono::seconds(15);
  // Leases get it on top after a restart, so that a fleet can come back.
  Duration restart_grace = std::chrono::seconds(120);
  Duration longest_wait = std::chrono::seconds(30);
  // A watch without news says so often that it is alive.
  Duration watch_alive = std::chrono::seconds(15);
  int reader_threads = 2;  // of lists, exports and other scans, at least
  std::size_t most_reader_threads = 16;
  int importance_threads = 2;        // each uses all cores
  const Issuer* issuer = nullptr;    // null: workers cannot join
  std::string audit_folder = {};     // empty: the audit stays in the store
  std::string backup_folder = {};    // created at the first backup
  LibraryVersions libraries = {};    // that it stands on, for who asks
  std::int32_t schema_version = 0;   // of its store; 0: it has none
  NotifyOptions notify = {};         // who is told that a study has ended
  spans::SpanSink* spans = nullptr;  // null: nobody wants any; outlives it
  std::function<void(const absl::Status&)> on_fatal = nullptr;
  // A drain has committed the last group; only computations may go on.
  std::function<void()> on_last_commit = nullptr;
};

class Coordinator {
 public:
  // Borrows both.
  Coordinator(CoordinatorOptions options, storage::TrialStore& store,
              const Clock& clock);
  ~Coordinator();  // drains
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  absl::Status Start();
  // Takes no new work, answers parked calls, ends the threads. It is
  // idempotent.
  void Drain();

  const VerbTable& verbs() const;
  // For who asks whose a call is.
  Credentials& credentials();
  AuditLog& audit();
  // Adds what its rooms have counted. Any thread may call; it blocks while the
  // loop is asked (overview/overview.h).
  void Measure(MetricsPage& page) const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_COORDINATOR_H_
