// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/trial_folders.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/file.h"
#include "worker/agent/file.h"
#include "worker/agent/link/log_listener.h"
#include "worker/agent/link/outbox.h"
#include "worker/agent/process/log_tail.h"
#include "worker/agent/process/protocol.h"

namespace frostline::agent {

bool KeepsEnded(KeepPolicy policy, bool failed, bool leaves_work) {
  switch (policy) {
    case KeepPolicy::kAll:
      return true;
    case KeepPolicy::kUseful:
      return failed || leaves_work;
    case KeepPolicy::kFailed:
      return failed;
    case KeepPolicy::kNone:
      return false;
  }
  return true;
}

std::vector<std::string> FoldersToRemove(const KeepRules& rules,
                                         std::vector<TrialFolderInfo> trials) {
  std::sort(trials.begin(), trials.end(), [](const auto& a, const auto& b) {
    return a.touched != b.touched ? a.touched < b.touched : a.path < b.path;
  });
  std::int64_t bytes = 0;
  auto count = static_cast<std::int64_t>(trials.size());
  for (const TrialFolderInfo& trial : trials) bytes += trial.bytes;
  std::vector<std::string> remove;
  const auto take = [&](const TrialFolderInfo& trial) {
    remove.push_back(trial.path);
    bytes -= trial.bytes;
    --count;
  };
  std::vector<TrialFolderInfo> wanted;
  for (const TrialFolderInfo& trial : trials) {
    if (trial.in_use || !trial.ended) continue;
    if (KeepsEnded(rules.policy, trial.failed, trial.leaves_work)) {
      wanted.push_back(trial);
    } else {
      take(trial);
    }
  }
  std::stable_partition(wanted.begin(), wanted.end(),
                        [](const auto& trial) { return !trial.has_model; });
  for (const TrialFolderInfo& trial : wanted) {
    const bool too_large = rules.most_bytes > 0 && bytes > rules.most_bytes;
    const bool too_many = rules.most_trials > 0 && count > rules.most_trials;
    if (!too_large && !too_many) break;
    take(trial);
  }
  return remove;
}

namespace {

namespace fs = std::filesystem;

// The coordinator checks names too, but a path is made of this one.
absl::StatusOr<std::string> TrialFolderOf(const std::string& run_folder,
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
      path_(TrialFolderOf(folders.run_folder_, trial).value_or("")) {
  const MutexLock lock(&folders_.mutex_);
  folders_.in_use_.insert(path_);
}

TrialFolders::Use::~Use() {
  const MutexLock lock(&folders_.mutex_);
  folders_.in_use_.erase(folders_.in_use_.find(path_));
}

absl::StatusOr<std::string> TrialFolders::Make(const v1::Lease& lease) const {
  ASSIGN_OR_RETURN(const std::string trial,
                   TrialFolderOf(run_folder_, lease.trial()));
  const std::string path = absl::StrCat(trial, "/", lease.attempt());
  // What is there belongs to an earlier study of this name.
  std::error_code ignored;
  fs::remove_all(lease.attempt() == 1 ? trial : path, ignored);
  RETURN_IF_ERROR(MakeFolders(path));
  return path;
}

v1::LeftLog TrialFolders::LeftLogOf(const v1::LeaseRef& lease) const {
  v1::LeftLog log;
  *log.mutable_lease() = lease;
  const auto trial = TrialFolderOf(run_folder_, lease.trial());
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
                   TrialFolderOf(run_folder_, CheckpointTrial(lease)));
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
  const auto trial = TrialFolderOf(run_folder_, lease.trial());
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

// The rest of this file lists trials' folders and removes them. A folder is
// removed by a rename, under the lock that Use takes, so that no attempt finds
// a folder that is half deleted.

namespace {

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

// Says whether any attempt left a model. A folder whose name is a number is an
// attempt's.
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
  const auto marked = WriteFileAtomically(
      path,
      absl::StrCat("ended", failed ? absl::StrCat(" ", kFailed) : "",
                   has_checkpoint ? absl::StrCat(" ", kCheckpoint) : "", "\n"));
  if (marked.ok()) return;
  Log(LogLevel::kWarning, "end_not_marked",
      {{"trial", lease.trial()}, {"cause", marked.fault().cause}});
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
  // The list may be out of date by a moment.
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

namespace {

constexpr Duration kJanitorSleep = std::chrono::hours(1);
constexpr Duration kShortestCleaningPause = std::chrono::milliseconds(200);
// Looking through folders takes at most a tenth of the thread's time.
constexpr int kPauseFactor = 10;

}  // namespace

FolderCleaner::FolderCleaner(TrialFolders& folders, const KeepRules& rules)
    : folders_(folders), rules_(rules), thread_([this] { Loop(); }) {}

FolderCleaner::~FolderCleaner() {
  stopped_ = true;
  wakeup_.Ring();
  thread_.join();
}

void FolderCleaner::Loop() {
  const SystemClock clock;
  while (!stopped_) {
    const SteadyTime start = clock.Steady();
    folders_.Clean(rules_);
    const Duration took = clock.Steady() - start;
    const SteadyTime until =
        clock.Steady() + std::max(kShortestCleaningPause, took * kPauseFactor);
    bool rang = false;
    while (!stopped_ && clock.Steady() < until) {
      rang = wakeup_.WaitFor(until - clock.Steady()) || rang;
    }
    if (!stopped_ && !rang) wakeup_.WaitFor(kJanitorSleep);
  }
}

namespace {

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
      // That agent lives, or its lock cannot be read.
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
