// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/run_folder.h"

#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "worker/agent/file.h"
#include "worker/agent/spool.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kSpoolSuffix[] = ".spool";

std::vector<std::string> SpoolFilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSpoolSuffix) {
      files.push_back(entry.path().string());
    }
  }
  return files;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Open(
    const std::string& folder, const std::string& worker_id) {
  const std::string absolute = fs::absolute(folder).lexically_normal().string();
  std::unique_ptr<RunFolder> run(new RunFolder(absolute, worker_id));
  const std::string own = run->AgentFolder(worker_id);
  RETURN_IF_ERROR(MakeFolders(own + "/spool"));
  ASSIGN_OR_RETURN(const int lock, LockFile(own + "/lock"));
  if (lock < 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("a living agent has the id ", worker_id, " in ", absolute),
        "give each agent its own --id", "--id");
  }
  run->locks_.push_back(lock);
  return run;
}

RunFolder::RunFolder(std::string folder, std::string worker_id)
    : folder_(std::move(folder)),
      worker_id_(std::move(worker_id)),
      trials_(folder_, AgentFolder(worker_id_) + "/trash", worker_id_) {}

RunFolder::~RunFolder() {
  for (const int lock : locks_) close(lock);
}

std::string RunFolder::AgentFolder(const std::string& worker_id) const {
  return absl::StrCat(folder_, "/agents/", worker_id);
}

std::vector<RunFolder::Orphan> RunFolder::Adopt() {
  std::vector<Orphan> orphans;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ + "/agents", error)) {
    const std::string agent = entry.path().string();
    const bool own = entry.path().filename() == worker_id_;
    const auto files = SpoolFilesIn(agent + "/spool");
    if (files.empty()) continue;
    if (!own) {
      const auto lock = LockFile(agent + "/lock");
      // Alive, or not ours to judge.
      if (!lock.ok() || *lock < 0) continue;
      locks_.push_back(*lock);
    }
    for (const std::string& file : files) orphans.push_back({file, own});
  }
  return orphans;
}

std::string RunFolder::SpoolPath(const v1::LeaseRef& lease) const {
  return AgentFolder(worker_id_) + "/spool/" + SpoolFileName(lease);
}

std::string RunFolder::RejectedFolder() const {
  return AgentFolder(worker_id_) + "/rejected";
}

}  // namespace frostline::agent
