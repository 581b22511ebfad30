// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/admin_verbs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/supply.h"
#include "server/search/sampler_choice.h"
#include "server/verbs/describe.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"

namespace frostline::server {
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

// Returns a file name of [a-z0-9._-], made from the time when none is given.
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

std::int64_t CountLive(const Ledger& ledger, WallMicros now) FROSTLINE_ON_LOOP {
  std::int64_t live = 0;
  for (const auto& [id, worker] : ledger.workers().all()) {
    if (!IsGone(worker, now, ledger.default_lease().ttl)) ++live;
  }
  return live;
}

}  // namespace

// What the loop saw at one moment.
struct AdminVerbs::Seen {
  std::int64_t studies = 0;
  std::int64_t open_leases = 0;
  std::int64_t waiting_workers = 0;
  std::int64_t live_workers = 0;
};

AdminVerbs::AdminVerbs(Calls& calls, Ledger& ledger,
                       const Dispatcher& dispatcher,
                       const storage::TrialStore& store, const Clock& clock,
                       AdminOptions options)
    : calls_(calls),
      ledger_(ledger),
      dispatcher_(dispatcher),
      store_(store),
      clock_(clock),
      options_(std::move(options)),
      started_(clock.Wall()) {}

void AdminVerbs::AddTo(VerbTable& table) {
  calls_.Add(table, "AdminService.Backup", CallerRole::kAdmin, this,
             &AdminVerbs::Backup);
  calls_.Add(table, "AdminService.GetInfo", CallerRole::kViewer, this,
             &AdminVerbs::GetInfo);
}

void AdminVerbs::ServePageAt(const std::string& url, bool allows_writes) {
  const MutexLock lock(&mutex_);
  page_ = url;
  page_writes_ = allows_writes;
}

absl::StatusOr<v1::BackupReply> AdminVerbs::MakeBackup(
    const std::string& label) const {
  ASSIGN_OR_RETURN(const std::string file, BackupFile(label, clock_.Wall()));
  std::error_code error;  // the store says what is wrong with the folder
  if (!options_.backup_folder.empty()) {
    std::filesystem::create_directories(options_.backup_folder, error);
  }
  ASSIGN_OR_RETURN(
      const storage::BackupReport report,
      store_.Backup(absl::StrCat(options_.backup_folder, "/", file)));
  v1::BackupReply made;
  made.set_file(file);
  made.set_bytes(report.bytes);
  made.set_studies(report.studies);
  made.set_trials(report.trials);
  return made;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void AdminVerbs::Backup(CallContext caller, v1::BackupRequest request,
                        Reply<v1::BackupReply> reply) {
  using Before = std::optional<v1::BackupReply>;
  const RequestMark mark{request.request_id(), "Backup", HashRequest(request)};
  auto shared = std::make_shared<Reply<v1::BackupReply>>(std::move(reply));
  CallContext asked = caller;
  asked.cancelled = nullptr;  // it is made, so it is remembered
  const auto remember = [this, mark, shared, asked](v1::BackupReply made) {
    calls_.Act<v1::BackupReply>(
        asked,
        [shared](absl::StatusOr<v1::BackupReply> answer) {
          (*shared)(std::move(answer));
        },
        [this, mark, made = std::move(made)](
            Change& change) -> absl::StatusOr<v1::BackupReply> {
          change.AssertOnLoop();
          backups_.erase(mark.request_id);
          RETURN_IF_ERROR(
              change.batch.Write([&](storage::Transaction& transaction) {
                change.AssertOnLoop();
                return ledger_.replies().Remember(
                    transaction, mark, made.SerializeAsString(), clock_.Wall());
              }));
          return made;
        });
  };
  const auto copy = [this, label = request.label(), mark, shared, remember] {
    absl::StatusOr<v1::BackupReply> made = MakeBackup(label);
    if (made.ok()) return remember(*std::move(made));
    calls_.Post(
        [this, id = mark.request_id](Batch& batch) {
          batch.AssertOnLoop();
          backups_.erase(id);
        },
        Urgency::kLease, [](const absl::Status&) {});
    (*shared)(made.status());
  };
  const Urgency urgency = caller.urgency;
  calls_.LookUpReply<Before>(
      mark.request_id, urgency,
      [this, shared, copy](absl::StatusOr<Before> before) {
        if (!before.ok()) return (*shared)(before.status());
        if (before->has_value()) return (*shared)(std::move(**before));
        calls_.readers().Post(copy);
      },
      [this, mark, caller = std::move(caller)](LookedUpReply stored,
                                               Reply<Before> answer) mutable {
        calls_.Act<Before>(
            std::move(caller), std::move(answer),
            [this, mark, stored = std::move(stored)](
                Change& change) -> absl::StatusOr<Before> {
              change.AssertOnLoop();
              return BackedUpBefore(mark, stored);
            },
            Calls::Again::kNever);  // it notes the request
      });
}

absl::StatusOr<std::optional<v1::BackupReply>> AdminVerbs::BackedUpBefore(
    const RequestMark& mark, const LookedUpReply& stored) {
  ASSIGN_OR_RETURN(const std::optional<std::string> before,
                   ledger_.replies().Find(mark, stored.row));
  if (before.has_value()) {
    v1::BackupReply again;
    again.ParseFromString(*before);
    return std::optional(std::move(again));
  }
  if (!backups_.insert(mark.request_id).second) {
    return MakeError(ErrorId::kStoreBusy, "this backup is being made",
                     "ask again with the same request id in a while");
  }
  return std::optional<v1::BackupReply>();
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void AdminVerbs::GetInfo(CallContext caller, v1::GetInfoRequest,
                         Reply<v1::ServerInfo> reply) {
  const auto see = [this](Change& change) {
    change.AssertOnLoop();
    return Seen{static_cast<std::int64_t>(ledger_.studies().size()),
                static_cast<std::int64_t>(ledger_.running().leases().size()),
                static_cast<std::int64_t>(dispatcher_.waiting_workers()),
                CountLive(ledger_, clock_.Wall())};
  };
  const auto render = [this](const Seen& seen, Reply<v1::ServerInfo> to) {
    v1::ServerInfo info;
    info.set_version(FROSTLINE_VERSION);
    *info.mutable_start_time() = proto::TimestampToProto(started_);
    info.set_store(store_.Describe());
    info.set_schema_version(options_.schema_version);
    info.mutable_libraries()->insert(options_.libraries.begin(),
                                     options_.libraries.end());
    for (std::string& hole : OpenHolesOf(options_.libraries, KnownHoles())) {
      info.add_known_holes(std::move(hole));
    }
    info.set_studies(seen.studies);
    info.set_open_leases(seen.open_leases);
    info.set_waiting_workers(seen.waiting_workers);
    info.set_live_workers(static_cast<std::int32_t>(seen.live_workers));
    info.set_resident_bytes(ResidentBytes());
    {
      const MutexLock lock(&mutex_);
      info.set_page(page_);
      info.set_page_writes(page_writes_);
    }
    v1::Limits& limits = *info.mutable_limits();
    limits.set_request_bytes(kMaxRequestBytes);
    limits.set_page_size(PageSize(std::numeric_limits<int>::max()));
    limits.mutable_deadline()->set_seconds(kLongestDeadlineSeconds);
    *limits.mutable_acquire_wait() =
        proto::DurationToProto(options_.longest_wait);
    limits.set_trials_per_study(proto::MostOf<v1::Budget>("trials"));
    limits.set_parameters(kMaxParameters);
    to(std::move(info));
  };
  calls_.Look<Seen>(calls_.readers(), std::move(caller), std::move(reply), see,
                    render);
}

namespace {

void Say(v1::ExplainStudyReply& reply, const char* code,
         const std::string& sentence, const std::string& fix) {
  auto* const reason = reply.add_reasons();
  reason->set_code(code);
  reason->set_sentence(sentence);
  reason->set_fix(fix);
}

// `progress` is what the trial's worker last said, if it runs.
void ExplainTrial(const storage::TrialRow& row, const std::string& progress,
                  v1::ExplainStudyReply& reply) {
  const std::string trial = absl::StrCat("trial ", row.number, " ");
  const std::string faults = absl::StrCat(
      row.trial_faults, row.trial_faults == 1 ? " fault" : " faults",
      " of the trial, ", row.infrastructure_faults, " of the infrastructure");
  switch (row.state) {
    case TrialState::kQueued:
      Say(reply, "QUEUED",
          absl::StrCat(trial, "waits for a worker; ", faults,
                       row.cause.empty() ? "" : "; last: " + row.cause),
          "see the study's reasons");
      return;
    case TrialState::kRunning:
      Say(reply, "RUNNING",
          absl::StrCat(trial, "runs on ", row.worker, ", attempt ", row.attempt,
                       ", ", progress),
          "");
      return;
    default:
      Say(reply, NameOf(row.state),
          absl::StrCat(trial, "has ended ", NameOf(row.state),
                       row.cause.empty() ? "" : ": " + row.cause),
          row.state == TrialState::kFailed ? "mend the cause, then retry it"
                                           : "");
  }
}

}  // namespace

// What the loop saw at one moment.
struct ExplainVerb::Seen {
  StudySupply study;
  std::shared_ptr<const CheckedStudy> checked;
  v1::TrialCounts counts;
  FleetSupply fleet;
  storage::DiskRoom disk;
  std::optional<storage::TrialRow> trial;
  std::string progress;  // of the trial
};

void ExplainVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.ExplainStudy", CallerRole::kViewer, this,
             &ExplainVerb::ExplainStudy);
}

void ExplainVerb::ExplainStudy(CallContext caller,
                               v1::ExplainStudyRequest request,
                               Reply<v1::ExplainStudyReply> reply) {
  calls_.Look<Seen>(
      calls_.readers(), std::move(caller), std::move(reply),
      [this, request = std::move(request)](Change& change) {
        change.AssertOnLoop();
        return See(change, request);
      },
      [](const Seen& seen, Reply<v1::ExplainStudyReply> to) {
        v1::ExplainStudyReply explained;
        if (seen.trial.has_value()) {
          ExplainTrial(*seen.trial, seen.progress, explained);
        }
        const FleetSupply& fleet = seen.fleet;
        explained.set_live_workers(static_cast<std::int32_t>(fleet.live));
        explained.set_matching_workers(
            static_cast<std::int32_t>(fleet.matching));
        explained.set_free_slots(static_cast<std::int32_t>(fleet.free_slots));
        if (IsOpen(seen.study.state)) {
          explained.set_useful_parallelism(
              UsefulParallelismOf(*seen.checked, seen.counts));
        }
        for (const IdleReason& reason : WhyIdle(seen.study, fleet, seen.disk)) {
          Say(explained, reason.code.c_str(), reason.sentence, reason.fix);
        }
        to(std::move(explained));
      });
}

absl::StatusOr<ExplainVerb::Seen> ExplainVerb::See(
    Change& change, const v1::ExplainStudyRequest& request) const {
  ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(request.name()));
  Seen seen;
  if (request.has_trial_number()) {
    ASSIGN_OR_RETURN(
        const NamedTrial named,
        ledger_.FindTrial(TrialNameOf(book->row().id, request.trial_number()),
                          change.rows));
    seen.trial = named.trial.row;
    seen.progress = ProgressOf(named.trial.row);
  }
  TeachingLimit teaching_limit;
  seen.study = SupplyOf(*book, teaching_limit, clock_.Wall());
  seen.checked = book->shared_checked();
  seen.counts = book->Counts();
  seen.fleet = CountFleet(ledger_, *book, clock_);
  seen.disk = disk_;
  return seen;
}

std::string ExplainVerb::ProgressOf(const storage::TrialRow& row) const {
  const auto said = ledger_.running().ProgressOf({row.study, row.number});
  if (!said.has_value()) return absl::StrCat("last step ", row.last_step);
  const std::string of =
      said->total_steps > 0 ? absl::StrCat(" of ", said->total_steps) : "";
  const auto ago = std::chrono::duration_cast<std::chrono::seconds>(
      clock_.Steady() - said->stepped);
  return absl::StrCat("step ", said->step, of, ", ", ago.count(), " s ago");
}

}  // namespace frostline::server
