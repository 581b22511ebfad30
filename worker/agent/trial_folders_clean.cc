// SPDX-License-Identifier: Apache-2.0
//
// Which trials' folders there are, and how they go. A folder goes by a rename,
// under the lock that Use takes, so that none is half gone when an attempt
// comes to need it.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/ids.h"
#include "base/log.h"
#include "worker/agent/file.h"
#include "worker/agent/predictions.h"
#include "worker/agent/trial_folders.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kFailed[] = "failed";
constexpr char kCheckpoint[] = "checkpoint";

std::int64_t BytesUnder(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  const auto end = fs::recursive_directory_iterator();
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != end; entry.increment(error)) {
    std::error_code no_file;
    const bool file = entry->is_regular_file(no_file);
    if (file && !entry->is_symlink(no_file)) {
      const auto size = entry->file_size(no_file);
      if (!no_file) bytes += static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

// Of any attempt. Names of integers are those of attempts' folders.
bool HasModel(const fs::path& trial) {
  std::error_code error;
  for (const auto& attempt : fs::directory_iterator(trial, error)) {
    std::error_code none;
    if (fs::is_directory(attempt.path() / kModelFolder, none)) return true;
  }
  return false;
}

TrialFolderInfo Look(const fs::path& path) {
  TrialFolderInfo info;
  info.path = path.string();
  info.has_model = HasModel(path);
  info.leaves_work = info.has_model || TrialHasPredictions(info.path);
  std::ifstream ended(info.path + "/ended");
  for (std::string word; ended >> word;) {
    info.ended = true;
    info.failed = info.failed || word == kFailed;
    info.leaves_work = info.leaves_work || word == kCheckpoint;
  }
  info.bytes = BytesUnder(info.path);
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (!error) info.touched = time.time_since_epoch();
  return info;
}

}  // namespace

void TrialFolders::MarkEnded(const v1::LeaseRef& lease, bool failed,
                             bool has_checkpoint) {
  const auto name = ParseTrialName(lease.trial());
  if (!name.ok()) return;
  const std::string path = absl::StrCat(run_folder_, "/trials/", name->study_id,
                                        "/", name->number, "/ended");
  std::ofstream(path + ".new")
      << "ended" << (failed ? absl::StrCat(" ", kFailed) : "")
      << (has_checkpoint ? absl::StrCat(" ", kCheckpoint) : "") << "\n";
  std::error_code error;
  fs::rename(path + ".new", path, error);
  if (!error) return;
  Log(LogLevel::kWarning, "end_not_marked",
      {{"trial", lease.trial()}, {"cause", error.message()}});
}

std::set<std::string> TrialFolders::Spooled() const {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& agent :
       fs::directory_iterator(run_folder_ + "/agents", error)) {
    std::error_code none;
    for (const auto& file :
         fs::directory_iterator(agent.path() / "spool", none)) {
      // "imdb~17~2.spool"
      const std::vector<std::string> parts =
          absl::StrSplit(file.path().filename().string(), '~');
      if (parts.size() != 3) continue;
      paths.insert(
          absl::StrCat(run_folder_, "/trials/", parts[0], "/", parts[1]));
    }
  }
  return paths;
}

std::vector<TrialFolderInfo> TrialFolders::List() const {
  const std::set<std::string> spooled = Spooled();
  std::vector<TrialFolderInfo> trials;
  std::error_code error;
  for (const auto& study :
       fs::directory_iterator(run_folder_ + "/trials", error)) {
    std::error_code none;
    for (const auto& trial : fs::directory_iterator(study.path(), none)) {
      trials.push_back(Look(trial.path()));
      trials.back().in_use = IsInUse(trials.back().path, spooled);
    }
  }
  return trials;
}

bool TrialFolders::IsInUse(const std::string& path,
                           const std::set<std::string>& spooled) const {
  const MutexLock lock(&mutex_);
  return in_use_.count(path) > 0 || spooled.count(path) > 0;
}

bool TrialFolders::Discard(const std::string& path) {
  const std::set<std::string> spooled = Spooled();
  const MutexLock lock(&mutex_);
  // The list is a moment old.
  if (in_use_.count(path) > 0 || spooled.count(path) > 0) return false;
  const fs::path from = path;
  const std::string name =
      absl::StrCat(from.parent_path().filename().string(), "~",
                   from.filename().string(), "~", RandomHexId());
  std::error_code error;
  fs::rename(from, fs::path(trash_) / name, error);
  return !error;
}

void TrialFolders::Clean(const KeepRules& rules) {
  const MutexLock lock(&clean_mutex_);
  if (!MakeFolders(trash_).ok()) return;
  const std::set<std::string> spooled = Spooled();
  models_.Clean(
      [&](const std::string& path) { return IsInUse(path, spooled); });
  for (const std::string& path : FoldersToRemove(rules, List())) {
    if (!Discard(path)) continue;
    Log(LogLevel::kInfo, "trial_folder_removed", {{"path", path}});
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(trash_, error)) {
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace frostline::agent
