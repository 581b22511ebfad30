// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/agent.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_time.h"
#include "worker/agent/orphans.h"
#include "worker/agent/outcome.h"

namespace frostline::agent {
namespace {

constexpr Duration kLeastInterval = std::chrono::milliseconds(10);
constexpr Duration kGoodbyeDeadline = std::chrono::seconds(1);
// Their tails fit into one request.
constexpr std::size_t kMostLeftLogs = 8;
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

// Whoever is not taken for who it has to be says so and ends: results stay in
// the spool, and no call is made again.
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
  courier_ = std::make_unique<Courier>(
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
  // Told to go before it began: nothing is lost.
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
    // Registering with a new boot id gives an unended attempt back to us.
    outbox->Close();
    const MutexLock lock(&register_mutex_);
    if (!has_ended && left_logs_.size() < kMostLeftLogs) {
      left_logs_.push_back(std::move(log));
    }
  } else {
    FinishLost(*outbox, std::move(log));
  }
  courier_->Adopt(outbox);
}

// Nobody else will say that its trainer died with its agent.
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
  janitor_ = std::make_unique<Janitor>(run_folder_->trials(), options_.keep);
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
          .heard = [this] { courier_->EndPause(); },
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
      options_, clock_, client_, *run_folder_, *janitor_, *keeper_, *courier_,
      stop_, spans_, name, hardware_.host(), boot_id_,
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
       {"own_trials", absl::StrCat(registered.own_trials_size())}});
  keeper_->Start(interval);
  listener_->Start();
  courier_->Start();
  for (int i = 0; i < options_.slots; ++i) {
    slots_.push_back(std::make_unique<Slot>(
        *context_, i, plan_[static_cast<std::size_t>(i)]));
    slots_.back()->Start();
  }
  return absl::OkStatus();
}

// Without it the worker would be listed until its silence is long enough. By
// then no thread of ours calls any more, and the client's calls are over.
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
  if (courier_ != nullptr) courier_->Stop();
}

}  // namespace frostline::agent
