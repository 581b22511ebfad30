// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/predictions_verb.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "server/wire/example_outcomes.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr Duration kUsualWait = std::chrono::seconds(15);
constexpr std::int32_t kUsualPiece = 256 * 1024;

absl::Status Missing(const std::string& cause, const std::string& field) {
  return MakeError(ErrorId::kPredictionsMissing, cause,
                   "run it in a study with training.predictions: [validation]",
                   field);
}

absl::Status Away(const std::string& trial, const std::string& worker,
                  const std::string& why) {
  return MakeError(ErrorId::kPredictionsAway,
                   absl::StrCat("the predictions of ", trial, " lie with ",
                                WorkerNameOf(worker), ", which ", why),
                   "start that worker with its id and --run-dir, then ask "
                   "again; `frostline worker list` shows who is there");
}

// Returns the set under the name that the study's trials write. The error is
// PREDICTIONS_MISSING.
absl::StatusOr<std::string> WrittenSet(
    const v1::ReadPredictionsRequest& request, const v1::Training& training) {
  std::string wanted = CanonicalSet(request.set(), training);
  std::vector<std::string> written;
  for (const std::string& set : training.predictions()) {
    written.push_back(CanonicalSet(set, training));
  }
  if (std::find(written.begin(), written.end(), wanted) != written.end()) {
    return wanted;
  }
  return Missing(
      written.empty()
          ? "the study of " + request.name() + " asks for no predictions"
          : absl::StrCat(request.name(), " wrote predictions of ",
                         absl::StrJoin(written, ", "), ", and none of ",
                         wanted),
      "set");
}

}  // namespace

PredictionsVerb::PredictionsVerb(Calls& calls, Ledger& ledger, LogVerb& logs,
                                 const Credentials& credentials,
                                 const Clock& clock)
    : calls_(calls),
      ledger_(ledger),
      logs_(logs),
      credentials_(credentials),
      clock_(clock) {}

void PredictionsVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.ReadPredictions", CallerRole::kResearcher,
             this, &PredictionsVerb::ReadPredictions);
  calls_.Add(table, "WorkerService.SendPredictions", CallerRole::kWorker, this,
             &PredictionsVerb::SendPredictions);
}

absl::StatusOr<v1::PredictionsWish> PredictionsVerb::WishOf(
    const v1::ReadPredictionsRequest& request, StoredRows& rows,
    std::string& worker) const {
  ASSIGN_OR_RETURN(const NamedTrial named,
                   ledger_.FindTrial(request.name(), rows));
  const storage::TrialRow& row = named.trial.row;
  if (row.state != TrialState::kSucceeded || row.worker.empty()) {
    return Missing(
        request.name() + (row.worker.empty() ? " never ran on a worker"
                                             : " has not succeeded"),
        "name");
  }
  v1::PredictionsWish wish;
  ASSIGN_OR_RETURN(*wish.mutable_set(),
                   WrittenSet(request, named.book->checked().spec.training()));
  worker = row.worker;
  if (ledger_.workers().Find(worker) == nullptr) {
    return Away(request.name(), worker, "is not registered");
  }
  wish.set_trial(request.name());
  wish.set_attempt(row.attempt);
  wish.set_task(request.task());
  wish.set_offset(request.offset());
  wish.set_max_bytes(request.max_bytes() == 0 ? kUsualPiece
                                              : request.max_bytes());
  *wish.mutable_examples() = request.examples();
  return wish;
}

void PredictionsVerb::ReadPredictions(CallContext caller,
                                      v1::ReadPredictionsRequest request,
                                      Reply<v1::ReadPredictionsReply> reply) {
  caller.urgency = Urgency::kRead;
  calls_.Wait(
      std::move(caller), std::move(reply),
      [this, request = std::move(request)](
          Change& change, Reply<v1::ReadPredictionsReply>& to) -> absl::Status {
        change.AssertOnLoop();
        Parked parked;
        ASSIGN_OR_RETURN(v1::PredictionsWish wish,
                         WishOf(request, change.rows, parked.worker));
        parked.trial = request.name();
        parked.deadline =
            clock_.Steady() + (request.has_wait()
                                   ? proto::DurationFromProto(request.wait())
                                   : kUsualWait);
        parked.reply = std::exchange(to, nullptr);
        parked.wish = logs_.NextWishId();
        wish.set_id(parked.wish);
        const std::string worker = parked.worker;
        waiting_.Enter(std::move(parked));
        v1::ListenReply told;
        *told.add_predictions() = std::move(wish);
        logs_.Wish(worker, std::move(told));
        return absl::OkStatus();
      });
}

absl::StatusOr<v1::SendPredictionsReply> PredictionsVerb::SendPredictions(
    Change& change, const v1::SendPredictionsRequest& request) {
  change.AssertOnLoop();
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(request.worker()));
  RETURN_IF_ERROR(
      CheckWorker(change.caller.identity, id, credentials_, clock_.Wall()));
  RETURN_IF_ERROR(
      ledger_.workers().Require(request.worker(), request.boot_id()).status());
  for (Parked& parked : waiting_.Take(
           request.wish(),
           [&id](const Parked& waiting) { return waiting.worker == id; })) {
    logs_.DropWish(parked.worker, parked.wish);
    if (!request.gone().empty()) {
      parked.reply(MakeError(
          ErrorId::kPredictionsGone,
          absl::StrCat(request.worker(), " has the predictions of ",
                       parked.trial, " no more: ", request.gone()),
          "run the trial again where --keep and --keep-bytes let it stay"));
      continue;
    }
    v1::ReadPredictionsReply answer;
    answer.set_piece(request.piece());
    answer.set_size(request.size());
    *answer.mutable_examples() = request.examples();
    answer.set_worker(request.worker());
    answer.set_path(request.path());
    parked.reply(std::move(answer));
  }
  return v1::SendPredictionsReply();
}

void PredictionsVerb::Turn(bool all) {
  for (Parked& parked :
       all ? waiting_.TakeAll() : waiting_.TakeDue(clock_.Steady())) {
    logs_.DropWish(parked.worker, parked.wish);
    parked.reply(Away(parked.trial, parked.worker,
                      "did not send them in the time that was given"));
  }
}

std::optional<SteadyTime> PredictionsVerb::NextDue() const {
  return waiting_.NextDue();
}

}  // namespace frostline::server
