// SPDX-License-Identifier: Apache-2.0
//
// File: trial_folders.h
//
// Trials train in these folders:
//
//   DIR/trials/STUDY/17/2/       scratch of attempt 2 of trial 17
//   DIR/trials/STUDY/17/2.log    what that attempt's trainer wrote as log
//   DIR/trials/STUDY/17/2.model  what its model is worth (kept_models.h)
//   DIR/trials/STUDY/17/ended    how the trial ended; absent until it has
//
// Integers alone name them, so another agent finds the checkpoint. An attempt's
// number is granted once, so no two share a folder. It is thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_FOLDERS_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_FOLDERS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/trial/kept_models.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// Decides which trials' folders may go: none in use, nor that of a trial that
// has not ended, as another attempt may need its checkpoint.

enum class KeepPolicy {
  kAll,
  kUseful,  // failed ones, and those with a checkpoint
  kFailed,
  kNone,
};

struct KeepRules {
  KeepPolicy policy = KeepPolicy::kUseful;
  std::int64_t most_bytes = std::int64_t{100} << 30;  // 0: no bound
  std::int64_t most_trials = 0;                       // 0: no bound
};

struct TrialFolderInfo {
  std::string path;
  bool in_use = false;  // runs, or has something to deliver
  bool ended = false;
  bool failed = false;
  bool leaves_work = false;
  bool has_model = false;  // a trained one that was asked for
  std::int64_t bytes = 0;
  std::chrono::nanoseconds touched{};  // orders them by age
};

bool KeepsEnded(KeepPolicy policy, bool failed, bool leaves_work);

// What the policy does not want goes first, then, oldest first, what is beyond
// the bounds: trials with a trained model after all others.
std::vector<std::string> FoldersToRemove(const KeepRules& rules,
                                         std::vector<TrialFolderInfo> trials);

// The folders of trials in a run folder.
class TrialFolders {
 public:
  // `trash`, on the same file system, takes folders first; `agent` is our id.
  TrialFolders(std::string run_folder, std::string trash, std::string agent);

  // A mark that a trial's folder is in use: while it lives, nothing here
  // removes the folder.
  class Use {
   public:
    Use(TrialFolders& folders, const std::string& trial);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    TrialFolders& folders_;
    const std::string path_;
  };

  // Makes it, absolute and empty. Attempt 1 clears what an earlier study of
  // this name left.
  absl::StatusOr<std::string> Make(const v1::Lease& lease) const;
  static std::string LogPath(const std::string& attempt_folder) {
    return attempt_folder + ".log";
  }
  // Tells what an attempt has written as log, as far as it is here: the last
  // lines and the path, if any. It is kept while the trial has not ended.
  v1::LeftLog LeftLogOf(const v1::LeaseRef& lease) const;
  // It is empty where there is no checkpoint.
  static std::string CheckpointTrial(const v1::Lease& lease);
  // Tells where below DIR/trials/ a checkpoint of the lease's study lies; it is
  // empty where no agent of this kind wrote that id.
  static std::string CheckpointKey(const std::string& trial,
                                   const std::string& checkpoint_id);
  // Finds the lease's checkpoint on this machine, unharmed, or says why not
  // with NotFound.
  absl::StatusOr<std::string> FindCheckpoint(const v1::Lease& lease) const;

  // Trained models that are left speak for themselves.
  void MarkEnded(const v1::LeaseRef& lease, bool failed, bool has_checkpoint);
  // Removes this attempt and those before it; a newer one may still run.
  void RemoveAttempts(const v1::LeaseRef& lease) const;
  // Removes models that are beaten, what the rules do not keep, and the trash.
  void Clean(const KeepRules& rules);
  KeptModels& models() { return models_; }

 private:
  std::vector<TrialFolderInfo> List() const;
  bool IsInUse(const std::string& path,
               const std::set<std::string>& spooled) const;
  // Lists trials with something to deliver.
  std::set<std::string> Spooled() const;
  bool Discard(const std::string& path);

  const std::string run_folder_;
  const std::string trash_;
  KeptModels models_;
  mutable Mutex mutex_;
  std::multiset<std::string> in_use_ ABSL_GUARDED_BY(mutex_);
  Mutex clean_mutex_;
};

// Removes trials' folders that may go, at its start, after each ending and once
// an hour, in its own thread: no slot waits for a slow disk.
class Janitor {
 public:
  // `folders` outlives it.
  Janitor(TrialFolders& folders, const KeepRules& rules);
  ~Janitor();  // after the pass under way
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  void Ring() { wakeup_.Ring(); }  // a trial ended; any thread

 private:
  void Loop();

  TrialFolders& folders_;
  const KeepRules rules_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

// Several agents, also of several nodes on a shared file system, may use one
// folder:
//
//   DIR/agents/ID/lock         held by the living agent of that id
//   DIR/agents/ID/spool/       undelivered reports and endings (outbox.h)
//   DIR/agents/ID/rejected/    endings that the coordinator refused for good
//   DIR/agents/ID/trash/       folders on their way out
//   DIR/agents/ID/identity/    of a worker that has joined (identity.h)
//   DIR/trials/                see above
//   DIR/prefix/                of the trainers, unless --prefix-dir says
//   another
class RunFolder {
 public:
  // A spool file without a living agent.
  struct Orphan {
    std::string path;
    bool own = false;  // of an earlier life of this id
  };

  // Returns REQUEST_INVALID at --id when a living agent has the id.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(
      const std::string& folder, const std::string& worker_id);
  ~RunFolder();  // lets go of all locks
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Returns what dead agents left, and keeps their locks, so that no third
  // agent does the same.
  std::vector<Orphan> Adopt();

  std::string SpoolPath(const v1::LeaseRef& lease) const;
  std::string RejectedFolder() const;

  const std::string& path() const { return folder_; }  // absolute
  TrialFolders& trials() { return trials_; }

 private:
  RunFolder(std::string folder, std::string worker_id);
  std::string AgentFolder(const std::string& worker_id) const;

  const std::string folder_;
  const std::string worker_id_;
  TrialFolders trials_;
  std::vector<int> locks_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_FOLDERS_H_
