// SPDX-License-Identifier: Apache-2.0
//
// Logs of attempts that do not run: what was kept with them.
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/verbs/log_text.h"
#include "server/verbs/log_verb.h"

namespace frostline::server {
namespace {

v1::LogPlace PlaceFrom(const storage::LogRow& row) {
  v1::LogPlace place;
  place.ParseFromString(row.place);
  return place;
}

// Attempts of one trial lie beside each other where they ran in one folder.
bool AreNeighbours(const v1::LogPlace& first, const v1::LogPlace& second) {
  using Path = std::filesystem::path;
  return first.host() == second.host() &&
         Path(first.path()).parent_path() == Path(second.path()).parent_path();
}

}  // namespace

void LogVerb::AnswerStored(Parked parked) {
  auto shared = std::make_shared<Parked>(std::move(parked));
  points_.Post([this, shared] {
    absl::StatusOr<v1::GetTrialLogReply> log = ReadStored(*shared);
    const bool is_whole =
        !log.ok() || log->worker().empty() || !log->place().path().empty();
    if (is_whole) return shared->reply(std::move(log));
    // Its worker died with it, or is of an earlier version.
    auto answer = std::make_shared<v1::GetTrialLogReply>(*std::move(log));
    calls_.Post(
        [this, shared, answer](Batch& batch) {
          batch.AssertOnLoop();
          const auto worker = ParseWorkerName(answer->worker());
          // What is known of it stays.
          answer->mutable_place()->MergeFrom(
              PlaceOf(worker.value_or(""), shared->name, answer->attempt()));
          shared->reply(std::move(*answer));
        },
        Urgency::kRead,
        [shared, answer](const absl::Status&) {
          shared->reply(std::move(*answer));
        });
  });
}

absl::StatusOr<v1::GetTrialLogReply> LogVerb::ReadStored(
    const Parked& parked) const {
  v1::GetTrialLogReply reply;
  reply.set_attempt(parked.attempt);
  if (parked.attempt == 0) return reply;
  ASSIGN_OR_RETURN(
      const std::vector<storage::AttemptRow> attempts,
      store_.ListAttempts(parked.trial.study, parked.trial.number));
  for (const storage::AttemptRow& attempt : attempts) {
    if (attempt.attempt != parked.attempt) continue;
    reply.set_state(static_cast<v1::AttemptState>(attempt.state));
    reply.set_worker(WorkerNameOf(attempt.worker));
  }
  ASSIGN_OR_RETURN(const storage::LogRow row,
                   ReadLog(parked.trial, parked.attempt));
  v1::LogPlace& place = *reply.mutable_place() = PlaceFrom(row);
  reply.set_tail(TextAfter(row.tail, place.end(), parked.after));
  const std::int64_t newest = attempts.empty() ? 0 : attempts.back().attempt;
  if (newest <= parked.attempt || !place.kept()) return reply;
  // The last attempt's worker clears away those before it too.
  ASSIGN_OR_RETURN(const storage::LogRow last, ReadLog(parked.trial, newest));
  const v1::LogPlace end = PlaceFrom(last);
  if (end.has_kept() && AreNeighbours(place, end)) place.set_kept(end.kept());
  return reply;
}

absl::StatusOr<storage::LogRow> LogVerb::ReadLog(TrialKey trial,
                                                 std::int64_t attempt) const {
  ASSIGN_OR_RETURN(std::optional<storage::LogRow> row,
                   store_.FindLog(trial.study, trial.number, attempt));
  return std::move(row).value_or(storage::LogRow());
}

v1::LogPlace LogVerb::PlaceOf(const std::string& worker,
                              const std::string& trial,
                              std::int64_t attempt) const {
  v1::LogPlace place;
  const auto found = ledger_.workers().all().find(worker);
  const absl::StatusOr<TrialName> name = ParseTrialName(trial);
  if (found == ledger_.workers().all().end() || !name.ok()) return place;
  const v1::Worker& info = found->second.info;
  place.set_host(info.hardware().host());
  if (info.run_folder().empty()) return place;
  place.set_path(absl::StrCat(info.run_folder(), "/trials/", name->study_id,
                              "/", name->number, "/", attempt, ".log"));
  return place;
}

}  // namespace frostline::server
