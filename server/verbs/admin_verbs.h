// SPDX-License-Identifier: Apache-2.0
//
// File: admin_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_ADMIN_VERBS_H_
#define FROSTLINE_SERVER_VERBS_ADMIN_VERBS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/known_holes.h"
#include "base/mutex.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "server/dispatch/dispatcher.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// What the verbs need to know of the coordinator.
struct AdminOptions {
  std::string backup_folder;  // created at the first backup
  Duration longest_wait{};
  LibraryVersions libraries;
  std::int32_t schema_version = 0;
};

// The verbs that tell about the coordinator and make backups.
class AdminVerbs {
 public:
  AdminVerbs(Calls& calls, Ledger& ledger, const Dispatcher& dispatcher,
             const storage::TrialStore& store, const Clock& clock,
             AdminOptions options);

  void AddTo(VerbTable& table);

  // Says where the page is served, which is known only after the verbs are.
  // Any thread may call.
  void ServePageAt(const std::string& url, bool allows_writes);

 private:
  struct Seen;

  // Makes a backup. A reader copies, since that takes long; the loop handles
  // the request id before and after.
  void Backup(CallContext caller, v1::BackupRequest request,
              Reply<v1::BackupReply> reply);
  // Returns the earlier answer; nothing when the caller is to make the backup.
  // The error is STORE_BUSY for others while it is made.
  absl::StatusOr<std::optional<v1::BackupReply>> BackedUpBefore(
      const RequestMark& mark, const LookedUpReply& stored) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::BackupReply> MakeBackup(const std::string& label) const;
  void GetInfo(CallContext caller, v1::GetInfoRequest request,
               Reply<v1::ServerInfo> reply);

  Calls& calls_;
  Ledger& ledger_;
  const Dispatcher& dispatcher_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  const AdminOptions options_;
  const WallMicros started_;
  mutable Mutex mutex_;
  std::string page_ ABSL_GUARDED_BY(mutex_);
  bool page_writes_ ABSL_GUARDED_BY(mutex_) = false;
  // The request ids of backups under way.
  std::set<std::string> backups_ ABSL_GUARDED_BY(kLoopThread);
};

// The verb ExplainStudy: why so little is running (supply.h), and where one
// trial stands.
class ExplainVerb {
 public:
  ExplainVerb(Calls& calls, Ledger& ledger, const storage::DiskRoom& disk,
              const Clock& clock)
      : calls_(calls), ledger_(ledger), disk_(disk), clock_(clock) {}

  void AddTo(VerbTable& table);

 private:
  struct Seen;

  void ExplainStudy(CallContext caller, v1::ExplainStudyRequest request,
                    Reply<v1::ExplainStudyReply> reply);
  absl::StatusOr<Seen> See(Change& change,
                           const v1::ExplainStudyRequest& request) const
      FROSTLINE_ON_LOOP;
  std::string ProgressOf(const storage::TrialRow& row) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_ADMIN_VERBS_H_
