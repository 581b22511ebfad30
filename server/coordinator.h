// SPDX-License-Identifier: Apache-2.0
//
// File: coordinator.h
//
// The coordinator behind the wire. An edge (rpc/) serves its table of verbs
// (verbs/verb_table.h).
//
// Threads: any thread may call a verb, which returns at once. The verb calls
// its reply exactly once, from one of the coordinator's threads; the reply must
// not block.
//
// Failure: when the disk fails a commit, the process has to end. The
// coordinator calls `on_fatal` once. The calls of that commit get the store's
// error, later calls get UNAVAILABLE.
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
  // After a restart every lease ends this much later, so that the workers have
  // time to come back.
  Duration restart_grace = std::chrono::seconds(120);
  Duration longest_wait = std::chrono::seconds(30);
  // A watch that has no news sends a sign of life this often.
  Duration watch_alive = std::chrono::seconds(15);
  int reader_threads = 2;  // at least; for lists, exports and other scans
  std::size_t most_reader_threads = 16;
  int importance_threads = 2;        // each uses all cores
  const Issuer* issuer = nullptr;    // null: workers cannot join
  std::string audit_folder = {};     // empty: the audit stays in the store
  std::string backup_folder = {};    // created at the first backup
  LibraryVersions libraries = {};    // linked; told to who asks
  std::int32_t schema_version = 0;   // of its store; 0: it has none
  NotifyOptions notify = {};         // who is told that a study has ended
  spans::SpanSink* spans = nullptr;  // null: no spans; outlives it
  std::function<void(const absl::Status&)> on_fatal = nullptr;
  // Called when a drain has committed the last group; only computations may
  // still run.
  std::function<void()> on_last_commit = nullptr;
};

// A coordinator. It makes its rooms (dispatcher, ledger, verbs and others) in
// order, owns them, and ends them.
class Coordinator {
 public:
  // Borrows the store and the clock.
  Coordinator(CoordinatorOptions options, storage::TrialStore& store,
              const Clock& clock);
  ~Coordinator();  // drains
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  absl::Status Start();
  // Takes no new work, answers parked calls and ends the threads. Idempotent.
  void Drain();

  const VerbTable& verbs() const;
  // Returns the tokens and certificates, by which an edge finds out who calls.
  Credentials& credentials();
  AuditLog& audit();
  // Says where the page is served, for who asks for it (AdminService.GetInfo).
  void ServePageAt(const std::string& url, bool allows_writes);
  // Adds to `page` what the rooms have counted. Any thread may call it; it
  // blocks while it asks the loop (overview/overview.h).
  void Measure(MetricsPage& page) const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_COORDINATOR_H_
