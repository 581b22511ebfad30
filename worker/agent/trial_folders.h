// SPDX-License-Identifier: Apache-2.0
//
// File: trial_folders.h
//
// Trials train in these folders:
//
//   DIR/trials/STUDY/17/2/       scratch of attempt 2 of trial 17
//   DIR/trials/STUDY/17/2.log    what that attempt's trainer wrote as log
//   DIR/trials/STUDY/17/2.model  what its model is worth (model_record.h)
//   DIR/trials/STUDY/17/ended    how the trial ended; absent until it has
//
// Integers alone name them, so another agent finds the checkpoint. An attempt's
// number is granted once, so no two share a folder. It is thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_FOLDERS_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_FOLDERS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/keep.h"
#include "worker/agent/kept_models.h"

namespace frostline::agent {

class TrialFolders {
 public:
  // `trash`, on the same file system, takes folders first; `agent` is our id.
  TrialFolders(std::string run_folder, std::string trash, std::string agent);

  // While one lives, nothing here removes the trial's folder.
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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_FOLDERS_H_
