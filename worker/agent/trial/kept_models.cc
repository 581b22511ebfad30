// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/kept_models.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "proto/wire_values.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kMostModelRecordBytes = std::size_t{64} << 10;
constexpr char kExport[] = "export";
constexpr char kBest[] = "best";

// Adds a line's value to the record. Returns false for a line that does not
// belong there.
bool Take(const std::vector<std::string>& words, ModelRecord& record) {
  const std::string& key = words.front();
  if (key == "losses") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      double loss = 0.0;
      if (!absl::SimpleAtod(words[i], &loss)) return false;
      record.losses.push_back(loss);
    }
    return true;
  }
  if (words.size() != 2) return false;
  if (key == "agent") record.agent = words[1];
  if (key == "study") return absl::SimpleAtoi(words[1], &record.study);
  if (key == "violation") return absl::SimpleAtod(words[1], &record.violation);
  if (key == "revision") return absl::SimpleAtoi(words[1], &record.revision);
  return key == "agent";
}

// Says whether `a` is at least as good in all and better in one.
bool IsNoWorse(const std::vector<double>& a, const std::vector<double>& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    is_better = is_better || a[i] < b[i];
  }
  return is_better;
}

}  // namespace

bool ExportsBestOnly(const v1::TrialSpec& spec) {
  const auto& fields = spec.training().extra().fields();
  const auto word = fields.find(kExport);
  if (word == fields.end()) return false;
  return word->second.string_value() == kBest || word->second.bool_value();
}

void Score(const v1::TrialSpec& spec,
           const google::protobuf::Map<std::string, double>& metrics,
           ModelRecord& record) {
  record.losses.clear();
  for (const v1::Objective& objective : spec.objectives()) {
    const double value = metrics.at(objective.metric());
    record.losses.push_back(
        objective.direction() == v1::DIRECTION_MAXIMIZE ? -value : value);
  }
  record.violation = 0.0;
  for (const v1::MetricConstraint& constraint : spec.constraints()) {
    const auto metric = metrics.find(constraint.metric());
    const double above = metric == metrics.end()
                             ? std::numeric_limits<double>::infinity()
                             : metric->second - constraint.upper_bound();
    record.violation += std::isnan(above)
                            ? std::numeric_limits<double>::infinity()
                            : std::max(0.0, above);
  }
}

bool Beats(const ModelRecord& better, const ModelRecord& other) {
  if (better.study != other.study ||
      better.losses.size() != other.losses.size()) {
    return false;  // another study of this name, whose trials say nothing
  }
  if (better.violation != other.violation) {
    return better.violation < other.violation;
  }
  if (IsNoWorse(better.losses, other.losses)) return true;
  const bool is_twin =
      better.losses.size() == 1 && better.losses == other.losses;
  if (!is_twin || !better.IsSettled()) return false;
  return !other.IsSettled() || better.revision < other.revision;
}

std::string RecordPathOf(const std::string& attempt_folder) {
  return attempt_folder + ".model";
}

std::optional<ModelRecord> ReadRecord(const std::string& path) {
  const Expected<std::string> text = ReadWholeFile(path, kMostModelRecordBytes);
  if (!text.ok()) return std::nullopt;
  ModelRecord record;
  for (const absl::string_view line :
       absl::StrSplit(text.value(), '\n', absl::SkipEmpty())) {
    if (!Take(absl::StrSplit(line, ' '), record)) return std::nullopt;
  }
  return record;
}

absl::Status WriteRecord(const std::string& path, const ModelRecord& record) {
  std::string text =
      absl::StrCat("agent ", record.agent, "\nstudy ", record.study, "\n");
  if (record.IsScored()) {
    absl::StrAppend(&text, "losses");
    for (const double loss : record.losses) {
      absl::StrAppendFormat(&text, " %.17g", loss);
    }
    absl::StrAppendFormat(&text, "\nviolation %.17g\nrevision %d\n",
                          record.violation, record.revision);
  }
  const Expected<Done> written = WriteFileAtomically(path, text);
  if (written.ok()) return absl::OkStatus();
  errno = EIO;
  return FileError("write", path);
}

namespace {

namespace fs = std::filesystem;

constexpr char kRecordSuffix[] = ".model";

// Returns "" for a malformed name, since a path is made of it.
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
  // Without a record nothing could remove the model later.
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
  // A coordinator of an earlier version answers without a revision.
  record->revision = std::max<std::int64_t>(1, reply.trial().revision());
  const absl::Status written = WriteRecord(RecordPathOf(folder), *record);
  // This is done at once, since the agent may end with this trial.
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
    // The record is ours and no slot runs its attempt: our process died, or the
    // lease was lost.
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

// What a trained model's folder holds, file by file.

namespace {

// Lists regular files by their names below the folder, with their sizes.
absl::StatusOr<std::map<std::string, std::int64_t>> FilesIn(
    const std::string& folder) {
  std::map<std::string, std::int64_t> files;
  std::error_code error;
  const auto end = fs::recursive_directory_iterator();
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    const std::string name =
        entry->path().lexically_relative(folder).generic_string();
    const bool is_plain = entry->is_regular_file(error) &&
                          !entry->is_symlink(error) &&
                          name.find_first_of("\n\r\\") == std::string::npos;
    if (!is_plain) {
      return MakeError(ErrorId::kTrainerProtocol,
                       absl::StrCat(entry->path().string(),
                                    " is no plain file with a plain name"),
                       "leave plain files in the folder `model`");
    }
    if (name == kModelSums) continue;
    files[name] = static_cast<std::int64_t>(entry->file_size(error));
  }
  if (!error) return files;
  errno = error.value();
  return FileError("read", folder);
}

}  // namespace

absl::StatusOr<v1::TrainedModel> DescribeModel(const std::string& folder,
                                               const std::string& host) {
  ASSIGN_OR_RETURN(const auto files, FilesIn(folder));
  v1::TrainedModel model;
  model.set_host(host);
  model.set_folder(folder);
  std::string sums;
  for (const auto& [name, bytes] : files) {
    ASSIGN_OR_RETURN(const std::string sum,
                     Sha256OfFile(absl::StrCat(folder, "/", name)));
    absl::StrAppend(&sums, sum, "  ", name, "\n");
    model.set_bytes(model.bytes() + bytes);
  }
  const std::string path = absl::StrCat(folder, "/", kModelSums);
  if (!WriteFileAtomically(path, sums).ok()) {
    errno = EIO;
    return FileError("write", path);
  }
  model.set_bytes(model.bytes() + static_cast<std::int64_t>(sums.size()));
  Sha256Sum whole;
  whole.Add(sums);
  model.set_sums_sha256(whole.Finish());
  return model;
}

}  // namespace frostline::agent
