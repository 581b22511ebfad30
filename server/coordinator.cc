// SPDX-License-Identifier: Apache-2.0
#include "server/coordinator.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "server/dispatch/dispatcher.h"
#include "server/importance/desk.h"
#include "server/ledger/attempt_spans.h"
#include "server/ledger/ledger.h"
#include "server/ledger/upkeep.h"
#include "server/overview/overview.h"
#include "server/search/proposer.h"
#include "server/search/stored_history.h"
#include "server/verbs/access_verbs.h"
#include "server/verbs/admin_verbs.h"
#include "server/verbs/calls.h"
#include "server/verbs/importance_verbs.h"
#include "server/verbs/lease_verbs.h"
#include "server/verbs/log_verbs.h"
#include "server/verbs/reading_verbs.h"
#include "server/verbs/study_verbs.h"
#include "server/verbs/table_verbs.h"
#include "server/verbs/told_verbs.h"
#include "server/verbs/trial_verbs.h"
#include "server/verbs/worker_verbs.h"

namespace frostline::server {
namespace {

// These threads read single rows, so that no long list holds up a call that
// only has to know whether it was answered before.
constexpr int kLookupThreads = 2;
// These threads read one study or trial, so that no list holds such reads up.
constexpr int kPointThreads = 2;
constexpr std::size_t kMostPointThreads = 4;
// Lists can wait, heartbeats cannot: when cores are short, a reader gets a
// tenth of the loop's time.
constexpr int kReaderNiceness = 10;
constexpr Duration kPoolsLooked = std::chrono::milliseconds(20);

}  // namespace

// What the layers of a coordinator tell each other. Each layer can name only
// what the layers before it have. What an earlier layer has to tell a later one
// goes through these hooks, which are called once all layers are there.
struct CoordinatorHooks {
  CommitLoop::Hooks loop;
  Ledger::Hooks ledger;
  std::function<void(Proposals)> proposed;
  decltype(StoredStudies::look) look_at;
  std::function<void(const ParkedAcquire&)> granted;
};

// The first layer: the state in memory, and the threads that change and read
// it.
class CoordinatorCore {
 public:
  CoordinatorCore(CoordinatorOptions options, storage::TrialStore& store,
                  const Clock& clock, CoordinatorHooks hooks)
      : options_(std::move(options)),
        store_(store),
        clock_(clock),
        hooks_(std::move(hooks)) {}

 protected:
  const CoordinatorOptions options_;
  storage::TrialStore& store_;
  const Clock& clock_;
  const CoordinatorHooks hooks_;
  Lanes lanes_;
  Credentials credentials_;
  CommitLoop loop_{store_, clock_, hooks_.loop};
  Proposer proposer_{hooks_.proposed,
                     {.look = hooks_.look_at, .store = &store_}};
  Ledger ledger_{store_,
                 clock_,
                 {.ttl = options_.lease_ttl,
                  .heartbeat_interval = options_.heartbeat_interval,
                  .retry = {}},
                 hooks_.ledger};
};

// The second layer: the audit, the spans, the notifications, and the upkeep.
class CoordinatorRecords : public CoordinatorCore {
 public:
  using CoordinatorCore::CoordinatorCore;

 protected:
  AuditLog audit_{options_.audit_folder, loop_, lanes_.readers, store_, clock_};
  AttemptSpans attempt_spans_{ledger_, options_.spans};
  Notifier notifier_{options_.notify, loop_, ledger_, clock_};
  Upkeep upkeep_{ledger_, loop_, lanes_.readers, store_, clock_};
};

// The third layer: what hands out trials, what computes importance, and how
// calls reach both.
class CoordinatorWork : public CoordinatorRecords {
 public:
  using CoordinatorRecords::CoordinatorRecords;

 protected:
  Dispatcher dispatcher_{ledger_, proposer_, upkeep_.disk(), clock_,
                         hooks_.granted};
  ImportanceDesk importance_{store_, clock_};
  Calls calls_{loop_, lanes_, ledger_, audit_, store_, clock_};
};

// The fourth layer: the verbs that need no other verbs.
class CoordinatorVerbs : public CoordinatorWork {
 public:
  using CoordinatorWork::CoordinatorWork;

 protected:
  StudyVerbs study_verbs_{calls_, ledger_,        proposer_,
                          store_, upkeep_.disk(), options_.notify.destinations,
                          clock_};
  ReadingVerbs reading_verbs_{calls_, store_, ledger_.progress()};
  TableVerb table_verb_{calls_, store_};
  ExportVerb export_verb_{calls_, store_};
  ExplainVerb explain_verb_{calls_, ledger_, upkeep_.disk(), clock_};
  LogVerb log_verb_{calls_, ledger_, store_, credentials_, clock_};
  WatchVerb watch_verb_{calls_, ledger_, store_, clock_, options_.watch_alive};
  WorkerVerbs worker_verbs_{calls_, ledger_, dispatcher_, credentials_, clock_};
  ImportanceVerbs importance_verbs_{calls_, importance_};
  ToldVerbs told_verbs_{calls_, importance_, ledger_.default_lease(),
                        proposer_.stop_token()};
  AdminVerbs admin_verbs_{calls_,
                          ledger_,
                          dispatcher_,
                          store_,
                          clock_,
                          {options_.backup_folder, options_.longest_wait,
                           options_.libraries, options_.schema_version}};
  TokenVerbs token_verbs_{calls_, credentials_, options_.issuer, clock_};
  CertificateVerbs certificate_verbs_{calls_, credentials_, options_.issuer,
                                      clock_};
  AuditVerb audit_verb_{calls_, audit_};
  ScalerVerbs scaler_verbs_{calls_, ledger_, dispatcher_, upkeep_.disk(),
                            clock_};
};

// The last layer: the verbs that need other verbs, and what happens at each
// event.
class Coordinator::Rooms : private CoordinatorVerbs {
 public:
  Rooms(CoordinatorOptions options, storage::TrialStore& store,
        const Clock& clock);

  absl::Status Start();
  void Drain();
  const VerbTable& verbs() const { return table_; }
  Credentials& credentials() { return credentials_; }
  void ServePageAt(const std::string& url, bool allows_writes) {
    admin_verbs_.ServePageAt(url, allows_writes);
  }
  AuditLog& audit() { return audit_; }
  const Overview& overview() const { return overview_; }

 private:
  static CoordinatorHooks HooksTo(Rooms* rooms);
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  void NoteGranted(const ParkedAcquire& parked) FROSTLINE_ON_LOOP;
  void GrowPools() FROSTLINE_ON_LOOP;
  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP;
  void Reload() FROSTLINE_ON_LOOP;
  void NoteFatal(const absl::Status& status) const;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;
  absl::Status Load(Duration grace) FROSTLINE_ON_LOOP;
  std::optional<Opening> LookAt(storage::StudyKey study,
                                OpenedFor why) FROSTLINE_ON_LOOP;

  TrialVerbs trial_verbs_{calls_, ledger_, proposer_, study_verbs_, clock_};
  PredictionsVerb predictions_verb_{calls_, ledger_, log_verb_, credentials_,
                                    clock_};
  LeaseVerbs lease_verbs_{calls_,    ledger_,      dispatcher_,
                          proposer_, log_verb_,    store_,
                          clock_,    credentials_, options_.longest_wait};
  const Overview overview_{{.loop = loop_,
                            .ledger = ledger_,
                            .upkeep = upkeep_,
                            .dispatcher = dispatcher_,
                            .audit = audit_,
                            .proposer = proposer_,
                            .importance = importance_,
                            .notifier = notifier_,
                            .clock = clock_}};
  VerbTable table_;
  bool draining_ ABSL_GUARDED_BY(kLoopThread) = false;
  SteadyTime next_growth_ ABSL_GUARDED_BY(kLoopThread){};
};

Coordinator::Rooms::Rooms(CoordinatorOptions options,
                          storage::TrialStore& store, const Clock& clock)
    : CoordinatorVerbs(std::move(options), store, clock, HooksTo(this)) {
  const auto add = [this](auto&... verbs) { (verbs.AddTo(table_), ...); };
  add(study_verbs_, trial_verbs_, reading_verbs_, table_verb_, export_verb_,
      explain_verb_, log_verb_, predictions_verb_, watch_verb_, worker_verbs_,
      lease_verbs_, importance_verbs_, told_verbs_, admin_verbs_, token_verbs_,
      certificate_verbs_, audit_verb_, scaler_verbs_);
}

CoordinatorHooks Coordinator::Rooms::HooksTo(Rooms* rooms) {
  CoordinatorHooks hooks;
  hooks.loop = {
      .turn =
          [rooms](Batch& batch) {
            batch.AssertOnLoop();
            rooms->Turn(batch);
          },
      .next_due = [rooms]() FROSTLINE_ON_LOOP { return rooms->NextDue(); },
      .committed = [rooms]() FROSTLINE_ON_LOOP { rooms->Committed(); },
      .undo = [rooms]() FROSTLINE_ON_LOOP { rooms->Undo(); },
      .reload = [rooms]() FROSTLINE_ON_LOOP { rooms->Reload(); },
      .fatal = [rooms](const absl::Status& why) { rooms->NoteFatal(why); }};
  hooks.ledger = {
      .trial_ended =
          [rooms](const storage::TrialRow& row) FROSTLINE_ON_LOOP {
            TellEnded(row, rooms->ledger_.Find(row.study)->checked(),
                      rooms->proposer_);
          },
      .run_over =
          [rooms](TrialKey trial) FROSTLINE_ON_LOOP {
            rooms->dispatcher_.NoteEnded(trial);
            rooms->log_verb_.NoteRunOver(trial);
          },
      .attempt_ended =
          [rooms](const storage::TrialRow& trial,
                  const storage::AttemptRow& attempt) FROSTLINE_ON_LOOP {
            rooms->attempt_spans_.NoteEnded(trial, attempt);
          },
      .study_ended =
          [rooms](const StudyBook& book)
              FROSTLINE_ON_LOOP { rooms->notifier_.NoteEnded(book); },
      .worker_gone =
          [rooms](const std::string& worker)
              FROSTLINE_ON_LOOP { rooms->dispatcher_.NoteGone(worker); },
      .worker_undone =
          [rooms](const WorkerEntry& worker)
              FROSTLINE_ON_LOOP { rooms->dispatcher_.NoteRegistered(worker); }};
  hooks.proposed = [rooms](Proposals proposals) {
    (void)rooms->loop_.Post(
        [rooms, proposals = std::move(proposals)](Batch& batch) {
          batch.AssertOnLoop();
          rooms->dispatcher_.TakeProposals(batch, proposals);
        });
  };
  hooks.look_at = [rooms](storage::StudyKey study, OpenedFor why)
                      FROSTLINE_ON_LOOP { return rooms->LookAt(study, why); };
  hooks.granted = [rooms](const ParkedAcquire& parked)
                      FROSTLINE_ON_LOOP { rooms->NoteGranted(parked); };
  return hooks;
}

void Coordinator::Rooms::NoteFatal(const absl::Status& status) const {
  Log(LogLevel::kError, "store_failed",
      {{"error", std::string(status.message())}});
  if (options_.on_fatal) options_.on_fatal(status);
}

absl::Status Coordinator::Rooms::Start() {
  // From here on no other coordinator can write, so what is loaded stays true.
  ASSIGN_OR_RETURN(const storage::Epoch epoch, store_.TakeLead());
  {
    // No loop runs yet: until it does, this thread counts as the loop's.
    const AsLoopThread until_it_runs;
    ledger_.NoteStarts(store_.NoteStart(clock_.Wall()));
    RETURN_IF_ERROR(Load(options_.restart_grace));
    RETURN_IF_ERROR(notifier_.Load(store_));
  }
  proposer_.Start();
  lanes_.lookups.Start(kLookupThreads);
  lanes_.points.Start(kPointThreads);
  const unsigned cores = std::thread::hardware_concurrency();
  lanes_.readers.Start(
      std::max(options_.reader_threads, static_cast<int>(cores / 2)),
      kReaderNiceness);
  importance_.Start(options_.importance_threads);
  notifier_.Start();
  loop_.Start(epoch);
  return absl::OkStatus();
}

void Coordinator::Rooms::Drain() {
  FROSTLINE_FAILPOINT(kDrainBefore);
  // Calls that come in the same group or later are answered in its turn.
  (void)loop_.Post(
      [this](Batch& batch) {
        batch.AssertOnLoop();
        draining_ = true;
      },
      Urgency::kLease);
  // What it has told is forgotten by the loop.
  notifier_.Stop();
  // The proposer still owes judgements, which are promises to callers. What it
  // posts to the loop after that is dropped.
  loop_.Stop();
  if (options_.on_last_commit) options_.on_last_commit();
  FROSTLINE_FAILPOINT(kDrainAfter);
  importance_.BeginStop();
  proposer_.Stop();
  lanes_.lookups.Stop();
  lanes_.points.Stop();
  lanes_.readers.Stop();
  importance_.Stop();
}

void Coordinator::Rooms::Turn(Batch& batch) {
  GrowPools();
  // The revocations are on disk here; an idle loop turns every 50 ms.
  if (credentials_.TakeSomeRevoked()) calls_.EndRevoked();
  upkeep_.Turn(batch);
  if (draining_) {
    dispatcher_.Drain(batch);
    watch_verb_.Drain(batch);
    scaler_verbs_.Drain(batch);
  } else {
    dispatcher_.Turn(batch);
    watch_verb_.Turn(batch);
  }
  log_verb_.Turn(/*all=*/draining_);
  predictions_verb_.Turn(/*all=*/draining_);
  ledger_.WriteDownRenewed(batch);
  token_verbs_.WriteDownUsed(batch, /*all=*/draining_);
  certificate_verbs_.WriteDownUsed(batch, /*all=*/draining_);
  ledger_.WriteSummaries(batch);
  notifier_.Turn(batch);
  audit_.Turn(batch);  // the last: it has what the group came to
}

void Coordinator::Rooms::NoteGranted(const ParkedAcquire& parked) {
  CallContext caller = parked.caller;
  for (const v1::Lease& lease : parked.granted.leases()) {
    caller.resource = lease.trial();
    audit_.Note(caller, absl::OkStatus());
  }
}

// Adds a thread to a pool whose threads are all at long work.
void Coordinator::Rooms::GrowPools() {
  const SteadyTime now = clock_.Steady();
  if (now < next_growth_) return;
  next_growth_ = now + kPoolsLooked;
  lanes_.points.AddThreadIfStuck(kMostPointThreads);
  lanes_.readers.AddThreadIfStuck(options_.most_reader_threads);
  // Reports may wait for a history whose reading waits behind slow samplers.
  proposer_.AddThreadIfStuck();
}

std::optional<SteadyTime> Coordinator::Rooms::NextDue() const {
  std::optional<SteadyTime> next = ledger_.running().leases().NextDue();
  for (const auto& due : {dispatcher_.NextDue(), watch_verb_.NextDue(),
                          log_verb_.NextDue(), predictions_verb_.NextDue(),
                          audit_.NextDue(), scaler_verbs_.NextDue()}) {
    if (due.has_value()) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

void Coordinator::Rooms::Committed() {
  credentials_.Committed();
  audit_.Committed();
  watch_verb_.Committed();
  log_verb_.Committed();
  scaler_verbs_.Committed();
  for (const storage::StudyKey study : ledger_.changed()) {
    const StudyBook* const book = ledger_.Find(study);
    const bool is_over =
        book == nullptr || (!IsOpen(book->row().state) && book->open().empty());
    if (is_over) proposer_.Close(study);
  }
  proposer_.Committed();
  attempt_spans_.Committed();
  notifier_.Committed();
  ledger_.Committed();
}

void Coordinator::Rooms::Reload() {
  Log(LogLevel::kWarning, "reload", {{"why", "the store refused a group"}});
  log_verb_.Undo();
  attempt_spans_.Undo();
  notifier_.Undo();
  const absl::Status status = Load(Duration::zero());
  if (!status.ok() && options_.on_fatal) options_.on_fatal(status);
}

void Coordinator::Rooms::Undo() {
  const std::set<storage::StudyKey> studies = ledger_.Touched();
  Log(LogLevel::kWarning, "group_undone",
      {{"studies", absl::StrCat(studies.size())}});
  credentials_.Undo();
  audit_.Undo();
  attempt_spans_.Undo();
  notifier_.Undo();
  proposer_.Reset(dispatcher_.BeginEpochOf(studies), studies);
  log_verb_.Undo();
  const absl::Status status = ledger_.Undo();
  if (!status.ok() && options_.on_fatal) options_.on_fatal(status);
}

// Searches are opened later, when somebody asks for them.
absl::Status Coordinator::Rooms::Load(Duration grace) {
  proposer_.Reset(dispatcher_.BeginEpoch());
  RETURN_IF_ERROR(credentials_.Load(store_));
  RETURN_IF_ERROR(audit_.Load());
  return ledger_.Load(grace);
}

std::optional<Opening> Coordinator::Rooms::LookAt(storage::StudyKey study,
                                                  OpenedFor why) {
  const StudyBook* const book = ledger_.Find(study);
  if (book == nullptr) return std::nullopt;
  const bool prunes = book->checked().pruner.name != "none";
  if (why == OpenedFor::kJudgement && !prunes) return std::nullopt;
  Opening opening{.row = book->row(),
                  .checked = book->shared_checked(),
                  .next_number = book->next_number(),
                  .fresh = {}};
  for (const auto* trials : {&book->just_ended(), &book->open()}) {
    for (const auto& [number, trial] : *trials) {
      opening.fresh.push_back(trial.row);
    }
  }
  return opening;
}

Coordinator::Coordinator(CoordinatorOptions options, storage::TrialStore& store,
                         const Clock& clock)
    : rooms_(std::make_unique<Rooms>(std::move(options), store, clock)) {}

Coordinator::~Coordinator() { Drain(); }

absl::Status Coordinator::Start() { return rooms_->Start(); }
void Coordinator::Drain() { rooms_->Drain(); }
const VerbTable& Coordinator::verbs() const { return rooms_->verbs(); }
Credentials& Coordinator::credentials() { return rooms_->credentials(); }
void Coordinator::ServePageAt(const std::string& url, bool allows_writes) {
  rooms_->ServePageAt(url, allows_writes);
}
AuditLog& Coordinator::audit() { return rooms_->audit(); }
void Coordinator::Measure(MetricsPage& page) const {
  rooms_->overview().Measure(page);
}

}  // namespace frostline::server
