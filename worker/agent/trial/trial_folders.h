// SPDX-License-Identifier: Apache-2.0
//
// File: trial_folders.h
//
// The folders in which trials train, and the run folder that holds them:
//
//   DIR/trials/STUDY/17/2/       scratch of attempt 2 of trial 17
//   DIR/trials/STUDY/17/2.log    the log of that attempt's trainer
//   DIR/trials/STUDY/17/2.model  how good its model is (kept_models.h)
//   DIR/trials/STUDY/17/ended    how the trial ended; absent until it has
//
// The names follow from the study and the numbers alone, so another agent finds
// the checkpoint. An attempt's number is granted once, so no two attempts share
// a folder.
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

// Which folders of ended trials are kept.
enum class KeepPolicy {
  kAll,
  kUseful,  // failed ones, and those with a checkpoint
  kFailed,
  kNone,
};

// Which folders are kept, and how much in all.
struct KeepRules {
  KeepPolicy policy = KeepPolicy::kUseful;
  std::int64_t most_bytes = std::int64_t{100} << 30;  // 0: no bound
  std::int64_t most_trials = 0;                       // 0: no bound
};

// What decides whether a trial's folder may be removed.
struct TrialFolderInfo {
  std::string path;
  bool in_use = false;  // the trial runs, or has something to deliver
  bool ended = false;
  bool failed = false;
  bool leaves_work = false;
  bool has_model = false;  // a trained model that the study asked for
  std::int64_t bytes = 0;
  std::chrono::nanoseconds touched{};  // when it was last changed
};

// Says whether the policy keeps the folder of an ended trial.
bool KeepsEnded(KeepPolicy policy, bool failed, bool leaves_work);

// Returns the folders that may be removed, in this order: those that the policy
// does not keep; then, oldest first, those beyond the bounds, trials with a
// trained model after all others. It never returns a folder in use, nor that of
// a trial that has not ended, since another attempt may need its checkpoint.
std::vector<std::string> FoldersToRemove(const KeepRules& rules,
                                         std::vector<TrialFolderInfo> trials);

// The folders of trials in a run folder. It is thread-safe.
class TrialFolders {
 public:
  // Folders are moved to `trash`, on the same file system, before they are
  // deleted. `agent` is our id.
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

  // Makes the attempt's folder, empty, and returns its absolute path. Attempt 1
  // removes what an earlier study of this name left.
  absl::StatusOr<std::string> Make(const v1::Lease& lease) const;
  static std::string LogPath(const std::string& attempt_folder) {
    return attempt_folder + ".log";
  }
  // Returns the last lines of an attempt's log and its path, if the log is
  // here. It stays while the trial has not ended.
  v1::LeftLog LeftLogOf(const v1::LeaseRef& lease) const;
  // Returns the name of the trial whose checkpoint the lease resumes from; ""
  // if it resumes from none.
  static std::string CheckpointTrial(const v1::Lease& lease);
  // Returns where a checkpoint of the trial's study lies below DIR/trials/; ""
  // if the id is not in our form.
  static std::string CheckpointKey(const std::string& trial,
                                   const std::string& checkpoint_id);
  // Returns the path of the lease's checkpoint if it is on this machine and
  // unchanged. The error is NotFound and says why not.
  absl::StatusOr<std::string> FindCheckpoint(const v1::Lease& lease) const;

  // Writes the file `ended`. Whether a trained model is left is not written: it
  // is seen in the folder.
  void MarkEnded(const v1::LeaseRef& lease, bool failed, bool has_checkpoint);
  // Removes the folders of this attempt and those before it; a newer one may
  // still run.
  void RemoveAttempts(const v1::LeaseRef& lease) const;
  // Removes models that others beat, folders that the rules do not keep, and
  // what is in the trash.
  void Clean(const KeepRules& rules);
  KeptModels& models() { return models_; }

 private:
  std::vector<TrialFolderInfo> List() const;
  bool IsInUse(const std::string& path,
               const std::set<std::string>& spooled) const;
  // Returns the trials with something to deliver.
  std::set<std::string> Spooled() const;
  bool Discard(const std::string& path);

  const std::string run_folder_;
  const std::string trash_;
  KeptModels models_;
  mutable Mutex mutex_;
  std::multiset<std::string> in_use_ ABSL_GUARDED_BY(mutex_);
  Mutex clean_mutex_;
};

// The thread that removes trials' folders that are not kept: at its start,
// after each ending and once an hour. So no slot waits for a slow disk.
class FolderCleaner {
 public:
  // `folders` outlives it.
  FolderCleaner(TrialFolders& folders, const KeepRules& rules);
  ~FolderCleaner();  // waits for the pass under way
  FolderCleaner(const FolderCleaner&) = delete;
  FolderCleaner& operator=(const FolderCleaner&) = delete;

  // Call it when a trial has ended. Any thread may.
  void Ring() { wakeup_.Ring(); }

 private:
  void Loop();

  TrialFolders& folders_;
  const KeepRules rules_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

// The run folder of an agent. Several agents, also on several nodes with a
// shared file system, may use one:
//
//   DIR/agents/ID/lock         held by the living agent of that id
//   DIR/agents/ID/spool/       undelivered reports and endings (outbox.h)
//   DIR/agents/ID/rejected/    endings that the coordinator refused for good
//   DIR/agents/ID/trash/       folders on their way out
//   DIR/agents/ID/identity/    of a worker that has joined (identity.h)
//   DIR/trials/                see above
//   DIR/prefix/                what trainers keep of frozen layers, unless
//                              --prefix-dir names another folder
class RunFolder {
 public:
  // A spool file without a living agent.
  struct Orphan {
    std::string path;
    bool own = false;  // an earlier process with our id left it
  };

  // Makes or opens a run folder. The error is REQUEST_INVALID at --id when a
  // living agent has the id.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(
      const std::string& folder, const std::string& worker_id);
  ~RunFolder();  // releases all locks
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Returns what dead agents left to deliver, and keeps their locks, so that no
  // other agent delivers it too.
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
