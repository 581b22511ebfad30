// SPDX-License-Identifier: Apache-2.0
//
// The verbs of operators: what this coordinator is, and backups.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"
#include "server/wire/limits.h"

namespace frostline {
namespace {

constexpr std::size_t kLongestLabel = 100;

std::int64_t ResidentBytes() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * 4096L;
}

// A file name of [a-z0-9._-], made from the time when none is given.
absl::StatusOr<std::string> BackupFile(const std::string& label,
                                       WallMicros now) {
  if (label.empty()) {
    return absl::FormatTime("frostline-%Y%m%dT%H%M%SZ.sqlite",
                            absl::FromUnixMicros(now), absl::UTCTimeZone());
  }
  const bool good = label.size() <= kLongestLabel && label[0] != '.' &&
                    std::all_of(label.begin(), label.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             c == '.' || c == '_' || c == '-';
                    });
  if (good) return label;
  return MakeError(ErrorId::kNameInvalid, "the label is no file name",
                   "give 1 to 100 of a-z, 0-9, '.', '_', '-', not first a '.'",
                   "label");
}

}  // namespace

absl::Status Coordinator::Impl::MayBegin(
    const v1::CreateStudyRequest& request) const {
  const bool is_there = key_of_study_.contains(request.study_id());
  if (room_.room == Room::kAmple || is_there) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFull,
                   absl::StrCat("the coordinator's disk has ",
                                room_.free_bytes >> 20, " MiB left"),
                   "make room on it; studies that are there go on meanwhile");
}

// The copy takes long, so it is made on a reader's thread; the loop remembers
// the request before and after.
void Coordinator::Impl::StartBackup(v1::BackupRequest request,
                                    Reply<v1::BackupReply> reply) {
  const std::uint64_t hash = HashRequest(request);
  auto shared = std::make_shared<Reply<v1::BackupReply>>(std::move(reply));
  const auto done = [this, shared, hash,
                     id = request.request_id()](v1::BackupReply made) {
    Submit<v1::BackupReply>(
        [shared](absl::StatusOr<v1::BackupReply> answer) {
          (*shared)(std::move(answer));
        },
        [this, hash, id,
         made](Batch& batch) -> absl::StatusOr<v1::BackupReply> {
          backups_.erase(id);
          RETURN_IF_ERROR(batch.Write([&](Transaction& transaction) {
            return Remember(transaction, id, "Backup", hash,
                            made.SerializeAsString());
          }));
          return made;
        });
  };
  const auto failed = [this, shared,
                       id = request.request_id()](const absl::Status& status) {
    (void)loop_.Post([this, id](Batch&) { backups_.erase(id); });
    (*shared)(status);
  };
  const auto copy = [this, request, done, failed] {
    const auto file = BackupFile(request.label(), clock_.Wall());
    if (!file.ok()) return failed(file.status());
    std::error_code error;  // the store says what is wrong with the folder
    if (!options_.backup_folder.empty()) {
      std::filesystem::create_directories(options_.backup_folder, error);
    }
    const auto report =
        store_.Backup(absl::StrCat(options_.backup_folder, "/", *file));
    if (!report.ok()) return failed(report.status());
    v1::BackupReply made;
    made.set_file(*file);
    made.set_bytes(report->bytes);
    made.set_studies(report->studies);
    made.set_trials(report->trials);
    done(std::move(made));
  };
  Submit<std::optional<v1::BackupReply>>(
      [this, shared,
       copy](absl::StatusOr<std::optional<v1::BackupReply>> before) {
        if (!before.ok()) return (*shared)(before.status());
        if (before->has_value()) return (*shared)(std::move(**before));
        readers_.Post(copy);
      },
      [this, request,
       hash](Batch&) -> absl::StatusOr<std::optional<v1::BackupReply>> {
        ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                         FindReply(request.request_id(), "Backup", hash));
        if (stored.has_value()) {
          v1::BackupReply again;
          again.ParseFromString(*stored);
          return std::optional(std::move(again));
        }
        if (!backups_.insert(request.request_id()).second) {
          return MakeError(ErrorId::kStoreBusy, "this backup is being made",
                           "ask again with the same request id in a while");
        }
        return std::optional<v1::BackupReply>();
      });
}

v1::ServerInfo Coordinator::Impl::Info() const {
  v1::ServerInfo info;
  info.set_version(FROSTLINE_VERSION);
  *info.mutable_start_time() = TimestampToProto(started_);
  info.set_store(store_.Describe());
  info.set_studies(static_cast<std::int64_t>(studies_.size()));
  info.set_open_leases(static_cast<std::int64_t>(leases_.size()));
  info.set_waiting_workers(static_cast<std::int64_t>(parked_.size()));
  for (const auto& [id, entry] : workers_.all()) {
    const bool live = Describe(entry).state() != v1::WORKER_STATE_GONE;
    info.set_live_workers(info.live_workers() + (live ? 1 : 0));
  }
  info.set_resident_bytes(ResidentBytes());
  v1::Limits& limits = *info.mutable_limits();
  limits.set_request_bytes(kMaxRequestBytes);
  limits.set_page_size(kMaxPageSize);
  limits.mutable_deadline()->set_seconds(kLongestDeadlineSeconds);
  *limits.mutable_acquire_wait() = DurationToProto(options_.longest_wait);
  limits.set_trials_per_study(kMaxTrialsPerStudy);
  limits.set_parameters(kMaxParameters);
  return info;
}

}  // namespace frostline
