// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial_folders.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "worker/agent/checkpoint_id.h"
#include "worker/agent/file.h"
#include "worker/agent/log_tail.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

// The coordinator checks names too, but a path is made of this one.
absl::StatusOr<std::string> FolderOf(const std::string& run_folder,
                                     const std::string& trial) {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(trial));
  return absl::StrCat(run_folder, "/trials/", name.study_id, "/", name.number);
}

absl::Status NotHere(const std::string& why) {
  return absl::NotFoundError(why);
}

}  // namespace

TrialFolders::TrialFolders(std::string run_folder, std::string trash,
                           std::string agent)
    : run_folder_(std::move(run_folder)),
      trash_(std::move(trash)),
      models_(run_folder_, trash_, std::move(agent)) {}

TrialFolders::Use::Use(TrialFolders& folders, const std::string& trial)
    : folders_(folders),
      path_(FolderOf(folders.run_folder_, trial).value_or("")) {
  const MutexLock lock(&folders_.mutex_);
  folders_.in_use_.insert(path_);
}

TrialFolders::Use::~Use() {
  const MutexLock lock(&folders_.mutex_);
  folders_.in_use_.erase(folders_.in_use_.find(path_));
}

absl::StatusOr<std::string> TrialFolders::Make(const v1::Lease& lease) const {
  ASSIGN_OR_RETURN(const std::string trial,
                   FolderOf(run_folder_, lease.trial()));
  const std::string path = absl::StrCat(trial, "/", lease.attempt());
  // What is there belongs to a study of this name that is no more.
  std::error_code ignored;
  fs::remove_all(lease.attempt() == 1 ? trial : path, ignored);
  RETURN_IF_ERROR(MakeFolders(path));
  return path;
}

v1::LeftLog TrialFolders::LeftLogOf(const v1::LeaseRef& lease) const {
  v1::LeftLog log;
  *log.mutable_lease() = lease;
  const auto trial = FolderOf(run_folder_, lease.trial());
  if (!trial.ok()) return log;
  const std::string path = LogPath(absl::StrCat(*trial, "/", lease.attempt()));
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return log;
  log.mutable_place()->set_path(path);
  log.mutable_place()->set_kept(true);
  const auto size = static_cast<std::int64_t>(file.tellg());
  constexpr auto kMost = static_cast<std::int64_t>(kMaxLogTailBytes);
  file.seekg(std::max<std::int64_t>(size - kMost, 0));
  LogTail tail;
  tail.Append({std::istreambuf_iterator<char>(file), {}});
  log.set_tail(tail.Text());
  return log;
}

std::string TrialFolders::CheckpointTrial(const v1::Lease& lease) {
  if (!lease.has_resume_from()) return "";
  const auto id = ParseCheckpointId(lease.resume_from().id());
  const auto trial = ParseTrialName(lease.trial());
  if (!id.has_value() || !trial.ok()) return "";
  return TrialNameOf(trial->study_id, id->trial);
}

std::string TrialFolders::CheckpointKey(const std::string& trial,
                                        const std::string& checkpoint_id) {
  const auto id = ParseCheckpointId(checkpoint_id);
  const auto name = ParseTrialName(trial);
  if (!id.has_value() || !name.ok()) return "";
  return absl::StrCat(name->study_id, "/", id->trial, "/", id->attempt, "/",
                      id->name);
}

absl::StatusOr<std::string> TrialFolders::FindCheckpoint(
    const v1::Lease& lease) const {
  const v1::Checkpoint& wanted = lease.resume_from();
  const auto id = ParseCheckpointId(wanted.id());
  if (!id.has_value()) return NotHere("no agent of this kind wrote it");
  ASSIGN_OR_RETURN(const std::string trial,
                   FolderOf(run_folder_, CheckpointTrial(lease)));
  const std::string path = absl::StrCat(trial, "/", id->attempt, "/", id->name);
  std::error_code error;
  if (!fs::exists(path, error)) return NotHere("it is not on this node");
  if (!fs::is_regular_file(path, error)) return path;  // a folder has no sum
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  if (wanted.bytes() > 0 && bytes != wanted.bytes()) {
    return NotHere(
        absl::StrCat("it has ", bytes, " bytes instead of ", wanted.bytes()));
  }
  if (wanted.sha256().empty()) return path;
  ASSIGN_OR_RETURN(const std::string sum, Sha256OfFile(path));
  if (sum == wanted.sha256()) return path;
  return NotHere("its SHA-256 is another one: the file has changed");
}

void TrialFolders::RemoveAttempts(const v1::LeaseRef& lease) const {
  const auto trial = FolderOf(run_folder_, lease.trial());
  if (!trial.ok()) return;
  std::error_code ignored;
  for (std::int64_t attempt = lease.attempt(); attempt > 0; --attempt) {
    const std::string path = absl::StrCat(*trial, "/", attempt);
    fs::remove_all(path, ignored);
    fs::remove(LogPath(path), ignored);
    fs::remove(LogPath(path) + ".1", ignored);
    fs::remove(RecordPathOf(path), ignored);
  }
  // Only when nothing else is left.
  const bool last = std::distance(fs::directory_iterator(*trial, ignored),
                                  fs::directory_iterator()) <= 1;
  if (last) fs::remove(*trial + "/ended", ignored);
  fs::remove(*trial, ignored);
}

}  // namespace frostline::agent
