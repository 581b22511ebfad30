// SPDX-License-Identifier: Apache-2.0
//
// File: run_folder.h
//
// Several agents, also of several nodes on a shared file system, may use one
// folder:
//
//   DIR/agents/ID/lock         held by the living agent of that id
//   DIR/agents/ID/spool/       undelivered reports and endings (spool.h)
//   DIR/agents/ID/rejected/    endings that the coordinator refused for good
//   DIR/agents/ID/trash/       folders on their way out
//   DIR/agents/ID/identity/    of a worker that has joined (identity.h)
//   DIR/trials/                see trial_folders.h
//   DIR/prefix/                of the trainers, unless --prefix-dir says
//   another
#ifndef FROSTLINE_WORKER_AGENT_RUN_FOLDER_H_
#define FROSTLINE_WORKER_AGENT_RUN_FOLDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/trial_folders.h"

namespace frostline::agent {

class RunFolder {
 public:
  // This spool file has no living agent.
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

#endif  // FROSTLINE_WORKER_AGENT_RUN_FOLDER_H_
