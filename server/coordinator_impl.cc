// SPDX-License-Identifier: Apache-2.0
#include "server/coordinator_impl.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/log.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace frostline {
namespace {

// Failures in a row after which a worker is taken out of service. More than one
// bad trial can cause (3 attempts), so that a bad point does not cost workers.
constexpr int kQuarantineAfter = 8;
// Bounds memory, and the time a call can wait before it is looked at.
constexpr std::size_t kMostWaitingCalls = 50'000;

}  // namespace

absl::Status DrainingError() {
  return MakeError(ErrorId::kCoordinatorDraining,
                   "the coordinator is shutting down",
                   "try again when it is back");
}

void Coordinator::Impl::PostCall(
    CommitLoop::Work work,
    absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (loop_.Backlog() >= kMostWaitingCalls) {
    return refuse(MakeError(ErrorId::kOverloaded,
                            absl::StrCat(kMostWaitingCalls, " calls wait"),
                            "try again in a second, with fewer at a time"));
  }
  if (!loop_.Post(std::move(work))) refuse(DrainingError());
}

std::uint64_t HashRequest(const google::protobuf::Message& request) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps in one order
    request.SerializeToCodedStream(&coded);
  }
  return Fnv1a(bytes);
}

Coordinator::Impl::Impl(CoordinatorOptions options, TrialStore& store,
                        const Clock& clock)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      started_(clock.Wall()),
      seeds_(std::strtoull(RandomHexId().substr(0, 16).c_str(), nullptr, 16)),
      loop_(store, clock,
            {.turn = [this](Batch& batch) { Turn(batch); },
             .next_due = [this] { return NextDue(); },
             .committed = [this] { Committed(); },
             .reload = [this] { Reload(); },
             .fatal =
                 [this](const absl::Status& status) {
                   Log(LogLevel::kError, "store_failed",
                       {{"error", std::string(status.message())}});
                   if (options_.on_fatal) options_.on_fatal(status);
                 }}),
      proposer_([this](Proposals proposals) {
        (void)loop_.Post(
            [this, proposals = std::move(proposals)](Batch& batch) {
              TakeProposals(batch, proposals);
            });
      }),
      importance_(store, clock) {}

absl::Status Coordinator::Impl::Start() {
  // From here on no other coordinator can write, so what is loaded stays true.
  ASSIGN_OR_RETURN(const Epoch epoch, store_.TakeLead());
  RETURN_IF_ERROR(Load(options_.restart_grace));
  proposer_.Start();
  readers_.Start(options_.reader_threads);
  importance_.Start(options_.importance_threads);
  loop_.Start(epoch);
  return absl::OkStatus();
}

void Coordinator::Impl::Drain() {
  FROSTLINE_FAILPOINT(kDrainBefore);
  Submit<bool>([](const absl::StatusOr<bool>&) {},
               [this](Batch& batch) -> absl::StatusOr<bool> {
                 draining_ = true;
                 AnswerDue(batch);
                 return true;
               });
  // Judgements the proposer still owes are promises to callers; what it posts
  // to the loop after that is dropped.
  loop_.Stop();
  FROSTLINE_FAILPOINT(kDrainAfter);
  proposer_.Stop();
  readers_.Stop();
  importance_.Stop();
}

void Coordinator::Impl::Committed() {
  for (const StudyKey key : changed_) {
    const auto found = studies_.find(key);
    if (found != studies_.end()) found->second.Committed();
  }
  WakeWatchers();
  changed_.clear();
  fresh_replies_.clear();
  fresh_attempts_.clear();
}

void Coordinator::Impl::Reload() {
  Log(LogLevel::kWarning, "reload", {{"why", "the store refused a group"}});
  const absl::Status status = Load(Duration::zero());
  if (!status.ok() && options_.on_fatal) options_.on_fatal(status);
}

absl::StatusOr<StudyBook*> Coordinator::Impl::FindStudy(
    const std::string& name) {
  ASSIGN_OR_RETURN(const std::string id, ParseStudyName(name));
  const auto key = key_of_study_.find(id);
  if (key == key_of_study_.end()) {
    return MakeError(ErrorId::kStudyNotFound,
                     absl::StrCat("there is no study ", id),
                     "see the list with `frostline study list`", "name");
  }
  return &studies_.at(key->second);
}

StudyHandle Coordinator::Impl::HandleOf(const StudyBook& book) {
  return {.key = book.row().key,
          .id = book.row().id,
          .revision = book.revision(),
          .state = book.row().state,
          .running = book.row().state == StudyState::kActive ||
                     book.row().state == StudyState::kPaused,
          .budget_left =
              book.checked().settings.budget().trials() - book.BudgetTaken(),
          .checked = book.shared_checked()};
}

absl::Status Coordinator::Impl::Persist(
    Batch& batch, StudyBook& book, Transition transition,
    absl::FunctionRef<absl::Status(Transaction&)> more) {
  if (transition.row.has_value()) {
    transition.row->revision = book.revision() + 1;
    if (IsTerminal(transition.row->state)) {
      transition.row->ended_revision = transition.row->revision;
    }
  }
  RETURN_IF_ERROR(batch.Write([&](Transaction& transaction) -> absl::Status {
    if (transition.row.has_value()) {
      RETURN_IF_ERROR(
          transaction.UpdateTrial(*transition.row, transition.guard));
    }
    for (const AttemptRow& attempt : transition.attempts) {
      RETURN_IF_ERROR(transaction.PutAttempt(attempt));
    }
    return more(transaction);
  }));
  for (const AttemptRow& attempt : transition.attempts) {
    fresh_attempts_[{attempt.study, attempt.number, attempt.attempt}] = attempt;
  }
  if (!transition.row.has_value()) return absl::OkStatus();
  // A late result may end the trial under another worker's hands.
  if (const OpenTrial* const before = book.Find(transition.row->number)) {
    workers_.Lets(before->row.worker,
                  {transition.row->study, transition.row->number});
  }
  std::optional<AttemptRow> newest;
  for (AttemptRow& attempt : transition.attempts) {
    if (attempt.attempt == transition.row->attempt) newest = std::move(attempt);
  }
  book.Absorb(*transition.row, newest);
  AfterChange(batch, book, *transition.row);
  return absl::OkStatus();
}

void Coordinator::Impl::AfterChange(Batch& batch, StudyBook& book,
                                    const TrialRow& row) {
  const TrialKey trial{row.study, row.number};
  changed_.insert(row.study);
  if (row.state == TrialState::kRunning) {
    workers_.Holds(row.worker, trial);
    return;
  }
  leases_.Remove(trial);
  progress_.erase(trial);
  workers_.Lets(row.worker, trial);
  prune_wanted_.erase(trial);
  if (row.state == TrialState::kQueued &&
      book.row().state == StudyState::kStopped) {
    // It was let finish and did not: nobody will lease it again.
    auto cancel =
        Cancel(*book.Find(row.number), "study stopped", clock_.Wall());
    if (cancel.ok()) {
      (void)Persist(batch, book, *std::move(cancel), NothingMore);
    }
    return;
  }
  if (!IsTerminal(row.state)) return;
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  proposer_.Ended(row.study, row.number, row.state, row.values,
                  usage.train_seconds());
  CompleteIfDone(batch, book);
}

void Coordinator::Impl::CompleteIfDone(Batch& batch, StudyBook& book) {
  const std::string reason = book.ReasonToComplete(clock_.Wall());
  if (reason.empty()) return;
  // A failure is the store's own, and the group's: everybody in it is told.
  (void)PersistStudy(batch, book, StudyState::kCompleted, reason);
}

absl::Status Coordinator::Impl::PersistStudy(Batch& batch, StudyBook& book,
                                             StudyState state,
                                             const std::string& reason) {
  StudyRow row = book.row();
  row.state = state;
  row.state_reason = reason;
  const bool over =
      state != StudyState::kActive && state != StudyState::kPaused;
  some_study_ended_ = some_study_ended_ || over;
  return PersistRow(batch, book, std::move(row));
}

absl::Status Coordinator::Impl::PersistRow(Batch& batch, StudyBook& book,
                                           StudyRow row) {
  const std::int64_t expected_etag = book.row().etag;
  row.updated = clock_.Wall();
  row.etag = expected_etag + 1;
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(batch.Write([&](Transaction& transaction) {
    return transaction.UpdateStudy(row, expected_etag);
  }));
  book.AbsorbStudy(row);
  changed_.insert(row.key);
  return absl::OkStatus();
}

absl::Status Coordinator::Impl::InsertTrial(Batch& batch, StudyBook& book,
                                            TrialRow row) {
  row.study = book.row().key;
  row.created = clock_.Wall();
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(batch.Write([&row](Transaction& transaction) {
    return transaction.InsertTrial(row);
  }));
  book.Absorb(row, std::nullopt);
  changed_.insert(row.study);
  return absl::OkStatus();
}

void Coordinator::Impl::JudgeWorker(Batch& batch, const std::string& worker,
                                    bool failed) {
  WorkerEntry* const entry = workers_.Find(worker);
  if (entry == nullptr) return;
  const int failures = failed ? entry->row.failures_in_a_row + 1 : 0;
  if (failures == entry->row.failures_in_a_row) return;
  WorkerRow row = entry->row;
  row.failures_in_a_row = failures;
  if (failures >= kQuarantineAfter && row.state == WorkerState::kActive) {
    row.state = WorkerState::kQuarantined;
    Log(LogLevel::kWarning, "worker_quarantined",
        {{"worker", worker}, {"failures", absl::StrCat(failures)}});
  }
  const absl::Status written = batch.Write(
      [&row](Transaction& transaction) { return transaction.PutWorker(row); });
  if (written.ok()) entry->row = row;
}

absl::StatusOr<std::optional<std::string>> Coordinator::Impl::FindReply(
    const std::string& request_id, const char* method, std::uint64_t hash) {
  std::optional<ReplyRow> row;
  const auto fresh = fresh_replies_.find(request_id);
  if (fresh != fresh_replies_.end()) {
    row = fresh->second;
  } else {
    ASSIGN_OR_RETURN(row, store_.FindReply(request_id));
  }
  if (!row.has_value()) return std::optional<std::string>();
  if (row->method != method || row->request_hash != hash) {
    return MakeError(ErrorId::kRequestIdReused,
                     absl::StrCat("request id ", request_id,
                                  " was used for another ", row->method),
                     "draw a new request id for every new request",
                     "request_id");
  }
  return std::optional<std::string>(std::move(row->reply));
}

absl::Status Coordinator::Impl::Remember(Transaction& transaction,
                                         const std::string& request_id,
                                         const char* method, std::uint64_t hash,
                                         const std::string& reply) {
  ReplyRow row{.request_id = request_id,
               .method = method,
               .request_hash = hash,
               .reply = reply,
               .created = clock_.Wall()};
  RETURN_IF_ERROR(transaction.RememberReply(row));
  fresh_replies_[request_id] = std::move(row);
  return absl::OkStatus();
}

}  // namespace frostline
