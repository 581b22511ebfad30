// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/agent.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/terminal_log.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "worker/agent/process/guardian.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {
namespace {

constexpr Duration kLeastInterval = std::chrono::milliseconds(10);
constexpr Duration kGoodbyeDeadline = std::chrono::seconds(1);
// The time between two looks at them.
constexpr Duration kLookAtGpus = std::chrono::seconds(1);
constexpr Duration kLookForOrphans = std::chrono::seconds(1);

LookAtStock LooksAt(const std::string& registry) {
  return [reader = std::make_shared<StockReader>(registry)](bool anew) {
    v1::Stock stock = reader->Read(anew);
    return StockLook{std::move(stock), reader->generation()};
  };
}

}  // namespace

Agent::Agent(AgentOptions options, const Clock& clock, tls::Access access,
             spans::SpanSink* spans)
    : options_(std::move(options)),
      clock_(clock),
      spans_(spans),
      boot_id_(RandomHexId()),
      hardware_(DetectHardware(options_.gpu_folder)),
      client_(options_.connect, std::move(access),
              [this](const absl::Status& status) { EndDenied(status); }) {
  stop_.Notify(&wakeup_);
  stop_.Notify(&registrar_wakeup_);
}

Agent::~Agent() { Shutdown(); }

// Ends the agent after a denied call: results stay in the spool, and no call is
// made again.
void Agent::EndDenied(const absl::Status& status) {
  if (stop_.level() != StopLevel::kRun) return;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  Log(LogLevel::kError, "denied",
      {{"id", ErrorCode(detail.id)},
       {"cause", std::string(status.message())},
       {"fix", detail.fix}});
  Stop(StopLevel::kRelease, kExitAuth, "the coordinator denied a call");
}

void Agent::Stop(StopLevel level, ExitCode exit_code, const std::string& why) {
  Log(LogLevel::kInfo, "stopping", {{"why", why}});
  SayOnTerminal(absl::StrCat("worker ", options_.id, " stops (", why,
                             ") and hands back what it holds"));
  stop_.Raise(level, exit_code, why);
}

absl::StatusOr<ExitCode> Agent::Run() {
  ASSIGN_OR_RETURN(plan_, PlanSlots(options_, hardware_, [](const char* name) {
                     return std::getenv(name);
                   }));
  options_.slots = static_cast<int>(plan_.size());
  if (!options_.registry.empty()) {
    stock_watch_ = std::make_unique<StockWatch>(
        options_.look_at_stock ? options_.look_at_stock
                               : LooksAt(options_.registry),
        options_.stock_interval, [this] { registrar_wakeup_.Ring(); });
  }
  ASSIGN_OR_RETURN(run_folder_, RunFolder::Open(options_.run_dir, options_.id));
  if (options_.has_joined) {
    certificates_ = std::make_unique<CertificateKeeper>(
        Identity(options_.run_dir, options_.id), client_, clock_);
    certificates_->Start();
  }
  deliverer_ = std::make_unique<Deliverer>(
      client_, run_folder_->RejectedFolder(),
      [this](const v1::Directive& directive) {
        if (keeper_ != nullptr) keeper_->Obey(directive);
      },
      [this](const v1::FinishRequest& finish, const v1::FinishReply& reply) {
        run_folder_->trials().models().Settle(finish, reply);
      });
  for (const RunFolder::Orphan& orphan : run_folder_->Adopt()) {
    AdoptOrphan(orphan);
  }
  const auto registered = RegisterFirst();
  // The agent was stopped before it began: nothing is lost.
  if (stop_.level() != StopLevel::kRun) return stop_.exit_code();
  if (!registered.ok()) return registered.status();
  RETURN_IF_ERROR(StartSlots(*registered));
  registrar_ = std::thread([this] { KeepRegistered(); });
  // Nothing that may block is done here, so that a stop is heard at once.
  while (stop_.level() == StopLevel::kRun) {
    wakeup_.WaitFor(kLookForOrphans);
    Orphans::Ours().Look();
  }
  client_.CancelAcquires();
  for (const auto& slot : slots_) slot->Join();
  Shutdown();
  SayGoodbye();
  return stop_.exit_code();
}

void Agent::AdoptOrphan(const RunFolder::Orphan& orphan) {
  SpoolContent content;
  auto file = SpoolFile::Reopen(orphan.path, &content);
  if (!file.ok()) {
    Log(LogLevel::kError, "spool_unreadable",
        {{"path", orphan.path},
         {"cause", std::string(file.status().message())}});
    return;
  }
  Log(LogLevel::kInfo, "spool_adopted",
      {{"path", orphan.path}, {"reports", absl::StrCat(content.reports)}});
  const bool has_ended = content.ending.has_value();
  v1::LeftLog log = run_folder_->trials().LeftLogOf(content.lease);
  log.mutable_place()->set_host(hardware_.host());
  const auto outbox =
      std::make_shared<Outbox>(std::move(content), *std::move(file));
  if (orphan.own) {
    // If the attempt has not ended, the coordinator gives it back to us when we
    // register with a new boot id.
    outbox->Close();
    const MutexLock lock(&register_mutex_);
    const int most = proto::MaxItems<v1::RegisterRequest>("left_logs");
    if (!has_ended && std::cmp_less(left_logs_.size(), most)) {
      left_logs_.push_back(std::move(log));
    }
  } else {
    FinishLost(*outbox, std::move(log));
  }
  deliverer_->Adopt(outbox);
}

// Reports that the trainer died with its agent, since nobody else will.
void Agent::FinishLost(Outbox& outbox, v1::LeftLog log) {
  v1::FinishRequest lost;
  *lost.mutable_lease() = outbox.lease();
  *lost.mutable_outcome() = FailedOutcome(
      v1::FAILURE_CLASS_INFRASTRUCTURE,
      MakeError(ErrorId::kTrainerExited, "its agent ended without a word",
                "see the agent's log"));
  lost.mutable_outcome()->set_log_tail(std::move(*log.mutable_tail()));
  *lost.mutable_log_place() = std::move(*log.mutable_place());
  outbox.Add(lost);
}

absl::Status Agent::StartSlots(const v1::RegisterReply& registered) {
  FROSTLINE_FAILPOINT(kAgentRegistered);
  const std::string name = WorkerNameOf(options_.id);
  folder_cleaner_ =
      std::make_unique<FolderCleaner>(run_folder_->trials(), options_.keep);
  const auto takes = [&registered](const char* what) {
    const auto& all = registered.takes();
    return std::count(all.begin(), all.end(), what) > 0;
  };
  if (takes("load")) {
    gpu_watch_ = std::make_unique<GpuWatch>(
        OpensNvml(options_.nvml, std::getenv("CUDA_VISIBLE_DEVICES")),
        kLookAtGpus);
  }
  keeper_ = std::make_unique<LeaseKeeper>(
      client_, clock_, name, boot_id_,
      LeaseKeeper::Hooks{
          .heard = [this] { deliverer_->EndPause(); },
          .unknown = [this](SteadyTime sent) { RegisterAgain(sent); },
          .holds = [this] { listener_->Ring(); },
          .load = gpu_watch_ == nullptr
                      ? std::function<std::optional<v1::NodeLoad>()>()
                      : [this] { return gpu_watch_->Take(); },
          .tells_progress = takes("progress")});
  listener_ = std::make_unique<LogListener>(
      client_, clock_, *keeper_, run_folder_->path(), name, boot_id_);
  // NOLINTNEXTLINE(modernize-make-unique): an aggregate of references.
  context_ = std::unique_ptr<SlotContext>(new SlotContext{
      options_, clock_, client_, *run_folder_, *folder_cleaner_, *keeper_,
      *deliverer_, stop_, spans_, name, hardware_.host(), boot_id_,
      [this](SteadyTime sent) { RegisterAgain(sent); },
      [this](const v1::TrialSpec& spec) { return HasStock(spec); },
      [this](const std::vector<std::string>& precisions) {
        NotePrecisions(precisions);
      },
      [this] {
        return stock_watch_ == nullptr ? 0 : stock_watch_->last().generation;
      },
      [this] { CountIdleSlots(1); }, [this] { CountIdleSlots(-1); },
      [this] { NoteRetired(); }});
  context_->takes_evaluations = takes("evaluations");
  context_->takes_audit = takes("audit");
  context_->idle_since = clock_.Steady().count();
  const Duration interval =
      proto::DurationFromProto(registered.heartbeat_interval());
  if (interval < kLeastInterval) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the coordinator gives no heartbeat interval",
                     "use a coordinator of this version");
  }
  Log(LogLevel::kInfo, "registered",
      {{"worker", name},
       {"coordinator", options_.connect},
       {"slots", absl::StrCat(options_.slots)},
       {"serves", DescribeService(options_)},
       {"own_trials", absl::StrCat(registered.own_trials_size())}});
  SayOnTerminal(absl::StrCat("worker ", options_.id,
                             " is ready; log: ", LogFileOf(options_)));
  SayOnTerminal("it serves " + DescribeService(options_));
  keeper_->Start(interval);
  listener_->Start();
  deliverer_->Start();
  for (int i = 0; i < options_.slots; ++i) {
    slots_.push_back(std::make_unique<Slot>(
        *context_, i, plan_[static_cast<std::size_t>(i)]));
    slots_.back()->Start();
  }
  return absl::OkStatus();
}

// Tells the coordinator that the worker ends; else it would be listed until it
// has been silent for long enough. By now no thread of ours makes calls.
void Agent::SayGoodbye() {
  v1::HeartbeatRequest last;
  last.set_worker(WorkerNameOf(options_.id));
  last.set_boot_id(boot_id_);
  last.set_leaving(true);
  RpcClient client(options_.connect, client_.access());
  const auto reply = client.Heartbeat(last, kGoodbyeDeadline);
  Log(LogLevel::kDebug, "goodbye",
      {{"status", reply.ok() ? "ok" : std::string(reply.status().message())}});
}

void Agent::Shutdown() {
  stop_.Raise(StopLevel::kNow, stop_.exit_code(), "shutdown");
  client_.CancelAll();
  for (const auto& slot : slots_) slot->Join();
  if (registrar_.joinable()) registrar_.join();
  stock_watch_.reset();
  if (certificates_ != nullptr) certificates_->Stop();
  if (listener_ != nullptr) listener_->Stop();
  if (keeper_ != nullptr) keeper_->Stop();
  gpu_watch_.reset();
  if (deliverer_ != nullptr) deliverer_->Stop();
}

// The registration, at first and after changes.

namespace {

constexpr Duration kFirstRegisterPause = std::chrono::milliseconds(200);
constexpr Duration kLongestRegisterPause = std::chrono::seconds(5);
constexpr Duration kFirstMinutes = std::chrono::minutes(2);
constexpr Duration kPauseAtFirst = std::chrono::seconds(1);
// After so many failed deliveries the agent registers all the same.
constexpr int kMostUndelivered = 20;
// If a second agent has the same id, each of them makes the other one register
// again. More than kMostConflicts times in this window are taken for that.
constexpr Duration kConflictWindow = std::chrono::seconds(60);
constexpr int kMostConflicts = 3;
// How long somebody waits for a look at the registry.
constexpr Duration kLookPatience = std::chrono::seconds(10);
constexpr Duration kLookPause = std::chrono::milliseconds(100);

}  // namespace

v1::RegisterRequest Agent::Registration() {
  v1::RegisterRequest request;
  request.set_request_id(NewRequestId(clock_));
  request.set_worker_id(options_.id);
  v1::Worker* const worker = request.mutable_worker();
  worker->set_boot_id(boot_id_);
  worker->set_slots(std::max(1, options_.slots - held_up_));
  worker->set_version(FROSTLINE_VERSION);
  *worker->mutable_hardware() = hardware_;
  if (run_folder_ != nullptr) worker->set_run_folder(run_folder_->path());
  for (const auto& [key, value] : options_.labels) {
    (*worker->mutable_labels())[key] = value;
  }
  // A trainer of somebody's own has no stock: studies name it instead.
  const bool says_stock =
      !options_.registry.empty() || options_.serves_who_names_it;
  if (says_stock) *worker->mutable_stock() = stock_;
  for (const std::string& each :
       precisions_.value_or(std::set<std::string>())) {
    worker->add_precisions(each);
  }
  return request;
}

// Tells each cause once: the agent asks several times a second.
void Agent::TellWaiting(const absl::Status& before, const absl::Status& now) {
  if (before == now) return;
  Log(LogLevel::kWarning, "not_registered",
      {{"cause", std::string(now.message())}});
  SayOnTerminal(
      absl::StrCat("waiting for the coordinator at ", options_.connect));
}

// Delivers late results first: once the agent has registered, the coordinator
// counts attempts of an earlier process as lost.
absl::StatusOr<v1::RegisterReply> Agent::RegisterFirst() {
  while (stock_watch_ != nullptr && stop_.level() == StopLevel::kRun &&
         !AwaitLook(/*number=*/1)) {
  }
  v1::RegisterRequest request;
  {
    const MutexLock lock(&register_mutex_);
    if (stock_watch_ != nullptr) stock_ = stock_watch_->last().stock;
    request = Registration();
    for (v1::LeftLog& log : left_logs_) {
      *request.add_left_logs() = std::move(log);
    }
    left_logs_.clear();
    is_registered_ = true;
  }
  Backoff backoff(kFirstRegisterPause, kLongestRegisterPause);
  Rng rng(std::hash<std::string>()(boot_id_));
  const SteadyTime start = clock_.Steady();
  absl::Status last;
  for (int undelivered = 0; stop_.level() == StopLevel::kRun;) {
    const bool delivered =
        deliverer_->DeliverOnce() || undelivered >= kMostUndelivered;
    if (delivered) {
      FROSTLINE_FAILPOINT(kAgentReplayed);
      auto reply = client_.Register(request);
      if (reply.ok() || !WorthRetrying(reply.status())) return reply;
      TellWaiting(last, reply.status());
      last = reply.status();
    } else {
      ++undelivered;
    }
    const bool limited = options_.idle_timeout > Duration::zero();
    if (limited && clock_.Steady() - start >= options_.idle_timeout) break;
    // Both are often started at once, and a person then looks on.
    const bool is_new = clock_.Steady() - start < kFirstMinutes;
    const Duration pause = backoff.Next(rng);
    wakeup_.WaitFor(is_new ? std::min(pause, kPauseAtFirst) : pause);
  }
  if (!last.ok()) return last;
  return MakeError(
      ErrorId::kCoordinatorAway,
      options_.connect + " did not take what is in the spool",
      "start it with `frostline serve --data frost`, or check --connect");
}

void Agent::RegisterAgain(SteadyTime refused_call) {
  const MutexLock lock(&register_mutex_);
  const SteadyTime now = clock_.Steady();
  // All slots are refused at once; another one has registered since.
  if (refused_call < registered_again_) return;
  if (now - conflict_window_ > kConflictWindow) {
    conflict_window_ = now;
    conflicts_ = 0;
  }
  if (++conflicts_ > kMostConflicts) {
    Log(LogLevel::kError, "id_taken",
        {{"id", options_.id}, {"fix", "give each agent its own --id"}});
    stop_.Raise(StopLevel::kRelease, kExitConflict, "the id is taken");
    return;
  }
  const absl::Status status = Register();
  Log(LogLevel::kWarning, "registered_again",
      {{"status", status.ok() ? "ok" : std::string(status.message())}});
  // A coordinator of another version may refuse the registration.
  if (absl::IsInvalidArgument(status)) {
    stop_.Raise(StopLevel::kRelease, ExitCodeOf(status),
                "the coordinator does not take this worker");
  }
}

absl::Status Agent::Register() {
  const auto reply = client_.Register(Registration());
  is_registered_ = reply.ok();
  if (reply.ok()) registered_again_ = clock_.Steady();
  return reply.status();
}

void Agent::CountIdleSlots(int more) {
  const MutexLock lock(&register_mutex_);
  is_registered_ = false;
  held_up_ += more;
  registrar_wakeup_.Ring();
}

void Agent::NoteRetired() {
  const MutexLock lock(&register_mutex_);
  if (++retired_ < options_.slots) return;
  Log(LogLevel::kError, "no_slot_left",
      {{"fix", "restart the node: what its trainers left cannot be killed"}});
  stop_.Raise(StopLevel::kDone, kExitFailure, "no slot is left");
}

bool Agent::AwaitLook(std::int64_t number) {
  const SteadyTime until = clock_.Steady() + kLookPatience;
  while (clock_.Steady() < until && stop_.level() < StopLevel::kRelease) {
    if (stock_watch_->Await(number, kLookPause)) return true;
  }
  Log(LogLevel::kWarning, "registry_hangs", {{"registry", options_.registry}});
  return false;
}

// Registers again if something has changed. This does not count as a conflict.
// If the coordinator is away it is told after the next look.
void Agent::TellChanges() {
  const MutexLock lock(&register_mutex_);
  v1::Stock stock;
  if (stock_watch_ != nullptr) stock = stock_watch_->last().stock;
  const bool same = stock.SerializeAsString() == stock_.SerializeAsString();
  if (same && is_registered_) return;
  stock_ = std::move(stock);
  is_registered_ = false;
  const absl::Status status = Register();
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning,
      "registration_changed",
      {{"slots", absl::StrCat(options_.slots - held_up_)},
       {"models", absl::StrCat(stock_.models_size())},
       {"data_sets", absl::StrCat(stock_.data_sets_size())},
       {"status", status.ok() ? "ok" : std::string(status.message())}});
}

// Looks at the registry again. If the disk does not answer, the last look
// counts.
bool Agent::HasStock(const v1::TrialSpec& spec) {
  if (stock_watch_ == nullptr) return true;
  AwaitLook(stock_watch_->Ask());
  TellChanges();
  return HasStockFor(stock_watch_->last().stock, spec);
}

// GPUs of a node may differ: the worker has a precision only if all of them
// have it.
void Agent::NotePrecisions(const std::vector<std::string>& precisions) {
  if (precisions.empty()) return;
  const MutexLock lock(&register_mutex_);
  const std::set<std::string> offered(precisions.begin(), precisions.end());
  const std::set<std::string> known = precisions_.value_or(offered);
  std::set<std::string> both;
  std::set_intersection(offered.begin(), offered.end(), known.begin(),
                        known.end(), std::inserter(both, both.end()));
  if (precisions_ == both) return;
  precisions_ = std::move(both);
  is_registered_ = false;
  registrar_wakeup_.Ring();
}

void Agent::KeepRegistered() {
  while (stop_.level() == StopLevel::kRun) {
    registrar_wakeup_.WaitFor(options_.stock_interval);
    if (stop_.level() == StopLevel::kRun) TellChanges();
  }
}

}  // namespace frostline::agent
