// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/log_verbs.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "server/wire/convert.h"

namespace frostline::server {

// Logs: who asks for one and who listens, then what the store has.

std::string LastBytes(const std::string& tail, std::int64_t most) {
  const auto limit = static_cast<std::size_t>(most);
  if (tail.size() <= limit) return tail;
  std::string last = tail.substr(tail.size() - limit);
  const std::size_t line = last.find('\n');
  const bool some_left = line != std::string::npos && line + 1 < last.size();
  return some_left ? last.substr(line + 1) : last;
}

std::string TextAfter(const std::string& tail, std::int64_t end,
                      std::optional<std::int64_t> after) {
  if (!after.has_value() || end <= 0) return tail;
  const std::int64_t fresh = std::max<std::int64_t>(end - *after, 0);
  const auto size = static_cast<std::int64_t>(tail.size());
  return tail.substr(static_cast<std::size_t>(size - std::min(fresh, size)));
}

std::string LogWishes::Add(const std::string& worker, v1::ListenReply wish) {
  std::string id = NextId();
  wishes_[worker].emplace(++last_, std::move(wish));
  return id;
}

std::string LogWishes::NextId() const {
  return absl::StrCat(life_, ".", last_ + 1);
}

void LogWishes::Drop(const std::string& worker, const std::string& id) {
  const auto found = wishes_.find(worker);
  if (found == wishes_.end()) return;
  found->second.erase(NumberOf(id));
  if (found->second.empty()) wishes_.erase(found);
}

bool LogWishes::HasMore(const std::string& worker,
                        const std::string& seen) const {
  const auto found = wishes_.find(worker);
  return found != wishes_.end() &&
         found->second.rbegin()->first > NumberOf(seen);
}

v1::ListenReply LogWishes::Since(const std::string& worker,
                                 const std::string& seen) const {
  v1::ListenReply reply;
  reply.set_seen(absl::StrCat(life_, ".", last_));
  const auto found = wishes_.find(worker);
  if (found == wishes_.end()) return reply;
  const auto& mine = found->second;
  for (auto next = mine.upper_bound(NumberOf(seen)); next != mine.end();
       ++next) {
    reply.MergeFrom(next->second);
  }
  return reply;
}

std::int64_t LogWishes::NumberOf(const std::string& seen) const {
  std::int64_t number = 0;
  const bool is_ours = absl::StartsWith(seen, life_ + ".") &&
                       absl::SimpleAtoi(seen.substr(life_.size() + 1), &number);
  return is_ours ? number : 0;
}

namespace {

absl::Status NoAttempts(const std::string& name, TrialState state) {
  const bool is_over = IsTerminal(state);
  return MakeError(ErrorId::kTrialNotFound,
                   absl::StrCat(name, is_over ? " ended without having run here"
                                              : " has not begun yet"),
                   is_over ? "there is no log of it" : "ask again when it runs",
                   "attempt");
}

absl::Status NoSuchAttempt(const v1::GetTrialLogRequest& request,
                           const storage::TrialRow& row) {
  if (row.attempt == 0) return NoAttempts(request.name(), row.state);
  return MakeError(ErrorId::kTrialNotFound,
                   absl::StrCat(request.name(), " has no attempt ",
                                request.attempt(), ", only ", row.attempt,
                                row.attempt == 1 ? "" : " of them, from 1"),
                   "ask for one it had, or for 0, the newest", "attempt");
}

}  // namespace

LogVerb::LogVerb(Calls& calls, Ledger& ledger, const storage::TrialStore& store,
                 const Credentials& credentials, const Clock& clock)
    : calls_(calls),
      ledger_(ledger),
      store_(store),
      credentials_(credentials),
      clock_(clock) {}

void LogVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "StudyService.GetTrialLog", CallerRole::kViewer, this,
             &LogVerb::GetTrialLog);
  calls_.Add(table, "WorkerService.Listen", CallerRole::kWorker, this,
             &LogVerb::Listen);
}

absl::StatusOr<LogVerb::Parked> LogVerb::Find(
    const v1::GetTrialLogRequest& request, StoredRows& rows) const {
  ASSIGN_OR_RETURN(const NamedTrial named,
                   ledger_.FindTrial(request.name(), rows));
  const storage::TrialRow& row = named.trial.row;
  if (request.attempt() > row.attempt) {
    return NoSuchAttempt(request, row);
  }
  Parked parked;
  parked.trial = {row.study, row.number};
  parked.name = request.name();
  parked.attempt = request.attempt() == 0 ? row.attempt : request.attempt();
  if (request.has_after()) parked.after = request.after();
  parked.worker = row.worker;
  const bool runs =
      row.state == TrialState::kRunning && parked.attempt == row.attempt;
  parked.deadline =
      clock_.Steady() +
      (runs ? proto::DurationFromProto(request.wait()) : Duration::zero());
  return parked;
}

void LogVerb::GetTrialLog(CallContext caller, v1::GetTrialLogRequest request,
                          Reply<v1::GetTrialLogReply> reply) {
  const std::int64_t most =
      request.max_bytes() == 0
          ? proto::MostOf<v1::GetTrialLogRequest>("max_bytes")
          : std::int64_t{request.max_bytes()};
  Reply<v1::GetTrialLogReply> cut =
      [most, reply = std::move(reply)](
          absl::StatusOr<v1::GetTrialLogReply> log) mutable {
        if (log.ok()) log->set_tail(LastBytes(log->tail(), most));
        reply(std::move(log));
      };
  calls_.Wait(
      std::move(caller), std::move(cut),
      [this, request = std::move(request)](
          Change& change, Reply<v1::GetTrialLogReply>& to) -> absl::Status {
        change.AssertOnLoop();
        ASSIGN_OR_RETURN(Parked parked, Find(request, change.rows));
        parked.reply = std::exchange(to, nullptr);
        if (parked.deadline > clock_.Steady()) {
          Park(std::move(parked));
          return absl::OkStatus();
        }
        // The end may belong to this very group, so wait until it is on disk.
        change.batch.Then(
            [this, parked = std::move(parked)](const absl::Status&) mutable {
              AnswerStored(std::move(parked));
            });
        return absl::OkStatus();
      });
}

void LogVerb::Park(Parked parked) {
  const std::string worker = parked.worker;
  v1::ListenReply wishes;
  v1::LogWish& wish = *wishes.add_wishes();
  wish.set_trial(parked.name);
  wish.set_attempt(parked.attempt);
  if (parked.after.has_value()) wish.set_after(*parked.after);
  parked.wish = wishes_.Add(worker, std::move(wishes));
  waiting_.Enter(std::move(parked));
  TellListeners(worker);
}

void LogVerb::AddWish(const std::string& worker, v1::ListenReply wish) {
  wishes_.Add(worker, std::move(wish));
  TellListeners(worker);
}

void LogVerb::TellListeners(const std::string& worker) {
  for (Listener& listener :
       listeners_.Take(worker, [](const Listener&) { return true; })) {
    Tell(std::move(listener));
  }
}

void LogVerb::Listen(CallContext caller, v1::ListenRequest request,
                     Reply<v1::ListenReply> reply) {
  // Somebody only wants to read: calls that keep a lease go first.
  caller.urgency = Urgency::kRead;
  calls_.Wait(
      std::move(caller), std::move(reply),
      [this, request = std::move(request)](
          Change& change, Reply<v1::ListenReply>& to) -> absl::Status {
        change.AssertOnLoop();
        ASSIGN_OR_RETURN(const std::string id,
                         ParseWorkerName(request.worker()));
        RETURN_IF_ERROR(CheckWorker(change.caller.identity, id, credentials_,
                                    clock_.Wall()));
        ASSIGN_OR_RETURN(
            const WorkerEntry* worker,
            ledger_.workers().Require(request.worker(), request.boot_id()));
        Listener listener{
            worker->row.id, request.seen(),
            clock_.Steady() + proto::DurationFromProto(request.wait()),
            std::exchange(to, nullptr)};
        for (Listener& earlier : listeners_.Take(
                 listener.worker, [](const Listener&) { return true; })) {
          v1::ListenReply nothing;
          nothing.set_seen(earlier.seen);
          earlier.reply(std::move(nothing));
        }
        if (wishes_.HasMore(listener.worker, listener.seen)) {
          Tell(std::move(listener));
        } else {
          listeners_.Enter(std::move(listener));
        }
        return absl::OkStatus();
      });
}

void LogVerb::Tell(Listener listener) {
  listener.reply(wishes_.Since(listener.worker, listener.seen));
}

void LogVerb::Take(Batch& batch, TrialKey trial,
                   const v1::LeaseProgress& progress) {
  const std::int64_t attempt = progress.lease().attempt();
  const auto is_answer = [&progress, attempt](const Parked& waiting) {
    const bool has_new = !waiting.after.has_value() ||
                         !progress.has_log_end() ||
                         progress.log_end() > *waiting.after;
    return waiting.attempt == attempt && has_new;
  };
  for (Parked& parked : waiting_.Take(trial, is_answer)) {
    wishes_.Drop(parked.worker, parked.wish);
    v1::GetTrialLogReply log;
    log.set_attempt(attempt);
    log.set_live(true);
    log.set_state(v1::ATTEMPT_STATE_RUNNING);
    log.set_worker(WorkerNameOf(parked.worker));
    *log.mutable_place() = PlaceOf(parked.worker, parked.name, attempt);
    log.mutable_place()->set_kept(true);
    log.mutable_place()->set_end(progress.log_end());
    log.set_tail(
        TextAfter(progress.log_tail(), progress.log_end(), parked.after));
    batch.Then([reply = std::move(parked.reply), log = std::move(log)](
                   const absl::Status&) mutable { reply(std::move(log)); });
  }
}

void LogVerb::NoteRunOver(TrialKey trial) {
  run_over_.splice(run_over_.end(),
                   waiting_.Take(trial, [](const Parked&) { return true; }));
}

void LogVerb::Committed() {
  for (Parked& parked : std::exchange(run_over_, {})) {
    wishes_.Drop(parked.worker, parked.wish);
    AnswerStored(std::move(parked));
  }
}

void LogVerb::Undo() {
  // The trial runs on, and its worker has been told.
  for (Parked& parked : std::exchange(run_over_, {})) {
    waiting_.Enter(std::move(parked));
  }
}

void LogVerb::Turn(bool all) {
  for (Parked& parked :
       all ? waiting_.TakeAll() : waiting_.TakeDue(clock_.Steady())) {
    wishes_.Drop(parked.worker, parked.wish);
    AnswerStored(std::move(parked));
  }
  for (Listener& listener :
       all ? listeners_.TakeAll() : listeners_.TakeDue(clock_.Steady())) {
    Tell(std::move(listener));
  }
}

std::optional<SteadyTime> LogVerb::NextDue() const {
  const auto log = waiting_.NextDue();
  const auto listener = listeners_.NextDue();
  if (!log.has_value() || !listener.has_value()) {
    return log.has_value() ? log : listener;
  }
  return std::min(*log, *listener);
}

// Logs of attempts that do not run: what was kept with them.

namespace {

v1::LogPlace PlaceFrom(const storage::LogRow& row) {
  v1::LogPlace place;
  place.ParseFromString(row.place);
  return place;
}

// Says whether attempts of one trial lie beside each other, since they ran in
// one folder.
bool AreNeighbours(const v1::LogPlace& first, const v1::LogPlace& second) {
  using Path = std::filesystem::path;
  return first.host() == second.host() &&
         Path(first.path()).parent_path() == Path(second.path()).parent_path();
}

}  // namespace

void LogVerb::AnswerStored(Parked parked) {
  auto shared = std::make_shared<Parked>(std::move(parked));
  calls_.points().Post([this, shared] {
    absl::StatusOr<v1::GetTrialLogReply> log = ReadStored(*shared);
    const bool is_whole =
        !log.ok() || log->worker().empty() || !log->place().path().empty();
    if (is_whole) return shared->reply(std::move(log));
    // The worker died with its attempt, or is of an earlier version.
    auto answer = std::make_shared<v1::GetTrialLogReply>(*std::move(log));
    calls_.Post(
        [this, shared, answer](Batch& batch) {
          batch.AssertOnLoop();
          const auto worker = ParseWorkerName(answer->worker());
          // What is known of the place stays.
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
  // The last attempt's worker also removes the logs of attempts before it.
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
        v1::ListenReply wishes;
        *wishes.add_predictions() = std::move(wish);
        logs_.AddWish(worker, std::move(wishes));
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
