// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/kept_models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_time.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kRecordSuffix[] = ".model";

// Empty where the name is none: a path is made of it.
std::string AttemptFolderOf(const std::string& run_folder,
                            const v1::LeaseRef& lease) {
  const auto name = ParseTrialName(lease.trial());
  if (!name.ok()) return "";
  return absl::StrCat(run_folder, "/trials/", name->study_id, "/", name->number,
                      "/", lease.attempt());
}

fs::path StudyFolderOf(const std::string& attempt_folder) {
  return fs::path(attempt_folder).parent_path().parent_path();
}

}  // namespace

KeptModels::KeptModels(std::string run_folder, std::string trash,
                       std::string agent)
    : run_folder_(std::move(run_folder)),
      trash_(std::move(trash)),
      agent_(std::move(agent)) {}

void KeptModels::Begin(const v1::Lease& lease,
                       const std::string& attempt_folder) {
  if (!ExportsBestOnly(lease.spec())) return;
  ModelRecord record;
  record.agent = agent_;
  record.study = proto::TimestampFromProto(lease.spec().study_create_time());
  const absl::Status written =
      WriteRecord(RecordPathOf(attempt_folder), record);
  if (written.ok()) return;
  Log(LogLevel::kWarning, "model_not_recorded",
      {{"trial", lease.trial()}, {"cause", std::string(written.message())}});
}

bool KeptModels::Offer(const v1::TrialSpec& spec,
                       const std::string& attempt_folder,
                       const v1::Outcome& outcome) {
  if (!ExportsBestOnly(spec)) return true;
  const MutexLock lock(&mutex_);
  const std::string path = RecordPathOf(attempt_folder);
  std::optional<ModelRecord> record = ReadRecord(path);
  // Without one nothing could take it away later.
  if (!record.has_value()) return true;
  Score(spec, outcome.metrics(), *record);
  for (const Found& other : FindIn(StudyFolderOf(attempt_folder).string())) {
    const bool is_beaten =
        other.record.IsSettled() && Beats(other.record, *record);
    if (!is_beaten) continue;
    Discard(attempt_folder, other.attempt_folder + " is better");
    return false;
  }
  const absl::Status written = WriteRecord(path, *record);
  if (!written.ok()) Discard(attempt_folder, std::string(written.message()));
  return written.ok();
}

void KeptModels::Settle(const v1::FinishRequest& finish,
                        const v1::FinishReply& reply) {
  const std::string folder = AttemptFolderOf(run_folder_, finish.lease());
  if (folder.empty()) return;
  const MutexLock lock(&mutex_);
  std::optional<ModelRecord> record = ReadRecord(RecordPathOf(folder));
  if (!record.has_value()) return;
  const bool counts = record->IsScored() &&
                      reply.verdict() == v1::FinishReply::ACCEPTED &&
                      finish.outcome().kind() == v1::Outcome::SUCCEEDED;
  if (!counts) return Discard(folder, "it is not the trial's result");
  // An answer from before revisions were still says that it was taken.
  record->revision = std::max<std::int64_t>(1, reply.trial().revision());
  const absl::Status written = WriteRecord(RecordPathOf(folder), *record);
  // At once: the agent may end with this trial.
  if (written.ok()) {
    return CleanStudy(StudyFolderOf(folder).string(),
                      [](const std::string&) { return true; });
  }
  Log(LogLevel::kWarning, "model_not_recorded",
      {{"trial", finish.lease().trial()},
       {"cause", std::string(written.message())}});
}

std::vector<KeptModels::Found> KeptModels::FindIn(
    const std::string& study_folder) const {
  std::vector<Found> found;
  std::error_code error;
  for (const auto& trial : fs::directory_iterator(study_folder, error)) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(trial.path(), none)) {
      const std::string path = entry.path().string();
      if (!absl::EndsWith(path, kRecordSuffix)) continue;
      std::optional<ModelRecord> record = ReadRecord(path);
      if (!record.has_value()) continue;
      found.push_back({std::string(absl::StripSuffix(path, kRecordSuffix)),
                       *std::move(record)});
    }
  }
  return found;
}

void KeptModels::CleanStudy(
    const std::string& study_folder,
    const std::function<bool(const std::string&)>& in_use) {
  std::vector<Found> found = FindIn(study_folder);
  for (const Found& each : found) {
    const std::string trial =
        fs::path(each.attempt_folder).parent_path().string();
    // Ours, and nothing of us runs it: its agent died, or the lease was lost.
    const bool is_left = !each.record.IsScored() &&
                         each.record.agent == agent_ && !in_use(trial);
    const bool is_beaten =
        each.record.IsSettled() &&
        std::any_of(found.begin(), found.end(), [&](const Found& other) {
          return other.record.IsSettled() && Beats(other.record, each.record);
        });
    if (is_left) Discard(each.attempt_folder, "its attempt has no result");
    if (is_beaten) Discard(each.attempt_folder, "another trial is better");
  }
}

void KeptModels::Clean(const std::function<bool(const std::string&)>& in_use) {
  const MutexLock lock(&mutex_);
  std::error_code error;
  for (const auto& study :
       fs::directory_iterator(run_folder_ + "/trials", error)) {
    CleanStudy(study.path().string(), in_use);
  }
}

void KeptModels::Discard(const std::string& attempt_folder,
                         const std::string& why) {
  const std::string model = absl::StrCat(attempt_folder, "/", kModelFolder);
  std::error_code error;
  if (fs::exists(model, error)) {
    std::error_code failed;
    fs::create_directories(trash_, failed);
    const std::string away = absl::StrCat(trash_, "/model~", RandomHexId());
    fs::rename(model, away, failed);
    if (failed) {  // the record stays, so that the next look tries again
      Log(LogLevel::kWarning, "model_not_removed",
          {{"path", model}, {"cause", failed.message()}});
      return;
    }
    fs::remove_all(away, failed);
    Log(LogLevel::kInfo, "model_removed", {{"path", model}, {"why", why}});
  }
  fs::remove(RecordPathOf(attempt_folder), error);
}

}  // namespace frostline::agent
