// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/slot.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/terminal_log.h"
#include "proto/wire_values.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/process/protocol.h"

namespace frostline::agent {
namespace {

// libgomp and MKL both read the first; MKL also has a name of its own.
constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS",
                                            "MKL_NUM_THREADS"};

// How often a waiting thread looks for work before it sleeps. With libgomp's
// own default, idle threads spin for milliseconds: on cores that had other work
// a training step then took nine times as long. With this value it took four
// times as long; on free cores it costs nothing that can be measured.
constexpr char kSpins[] = "GOMP_SPINCOUNT=2000";

constexpr char kOurTrainer[] = "frostline-trainer";

absl::Status TooManySlots(std::size_t slots, std::size_t gpus) {
  const std::size_t share = (slots + gpus - 1) / gpus;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("--slots is ", slots, ", but this node has ",
                                gpus, " GPUs to see"),
                   absl::StrCat("let them share: --slots-per-gpu ", share,
                                "; or use none: CUDA_VISIBLE_DEVICES="),
                   "--slots");
}

absl::Status NoGpus(const std::string& flag, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, "this node has no GPU to see", fix,
                   flag);
}

// The numbers up to `most` that divide it: "1, 2, 4".
std::string DivisorsOf(std::size_t most) {
  std::vector<std::size_t> divisors;
  for (std::size_t i = 1; i <= most; ++i) {
    if (most % i == 0) divisors.push_back(i);
  }
  return absl::StrJoin(divisors, ", ");
}

// Of slots with several GPUs each.
absl::StatusOr<std::size_t> CountWideSlots(const AgentOptions& options,
                                           std::size_t gpus) {
  constexpr char kWidthFlag[] = "--gpus-per-slot";
  const auto width = static_cast<std::size_t>(options.gpus_per_slot);
  const auto slots = static_cast<std::size_t>(options.slots);
  if (gpus == 0) return NoGpus(kWidthFlag, "leave --gpus-per-slot away");
  if (options.slot_per_gpu && gpus % width != 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("--gpus-per-slot ", width, " does not divide the ", gpus,
                     " GPUs that this node has to see"),
        absl::StrCat(
            "take one of ", DivisorsOf(gpus),
            gpus < width
                ? ""
                : absl::StrCat(", or leave some idle: --slots ", gpus / width)),
        kWidthFlag);
  }
  if (!options.slot_per_gpu && slots * width > gpus) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("--slots ", slots, " with --gpus-per-slot ",
                                  width, " needs ", slots * width,
                                  " GPUs, but this node has ", gpus, " to see"),
                     gpus >= width
                         ? absl::StrCat("give --slots ", gpus / width)
                         : absl::StrCat("give --gpus-per-slot ", gpus),
                     kWidthFlag);
  }
  return options.slot_per_gpu ? gpus / width : slots;
}

absl::StatusOr<std::size_t> CountSlots(const AgentOptions& options,
                                       std::size_t gpus) {
  if (options.gpus_per_slot > 1) return CountWideSlots(options, gpus);
  const auto per_gpu = static_cast<std::size_t>(options.slots_per_gpu);
  if (!options.slot_per_gpu) {
    const auto slots = static_cast<std::size_t>(options.slots);
    if (slots > 1 && gpus > 0 && slots > gpus * per_gpu) {
      return TooManySlots(slots, gpus);
    }
    return slots;
  }
  if (gpus == 0) return NoGpus("--slots", "give --slots a number");
  return std::min(gpus * per_gpu, std::size_t{kMaxSlots});
}

bool CanOpen(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

// In a container without a driver, /proc still shows the node's GPUs and a
// scheduler still names them. A trainer that is not ours may not need one.
absl::Status CheckDriver(const AgentOptions& options, std::size_t gpus,
                         const std::string& driver) {
  const bool is_ours = absl::StrContains(options.exec, kOurTrainer);
  if (gpus == 0 || !is_ours || CanOpen(driver)) {
    return absl::OkStatus();
  }
  absl::Status missing = MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("this node has ", gpus, " GPUs to see, but no driver (",
                   driver, "), so only the processor could train"),
      "run the image with NVIDIA's container toolkit, or install the driver; "
      "to train on the processor give --slots a number",
      "--slots");
  if (options.slot_per_gpu) return missing;
  Log(LogLevel::kWarning, "gpu_without_driver",
      {{"cause", std::string(missing.message())}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SlotEnvironment>> PlanSlots(
    const AgentOptions& options, const v1::Hardware& hardware,
    const LookUp& look_up, const std::string& driver) {
  const std::vector<std::string> gpus =
      GpuSlots(look_up("CUDA_VISIBLE_DEVICES"), hardware);
  RETURN_IF_ERROR(CheckDriver(options, gpus.size(), driver));
  const auto slots = CountSlots(options, gpus.size());
  if (!slots.ok()) return slots.status();
  std::vector<SlotEnvironment> plan(*slots);
  const auto width = static_cast<std::size_t>(options.gpus_per_slot);
  if (options.slot_per_gpu || width > 1 || (*slots > 1 && !gpus.empty())) {
    // If somebody chose the GPUs or their order, the numbers are as they want
    // them.
    const bool chosen = look_up("CUDA_VISIBLE_DEVICES") != nullptr ||
                        look_up("CUDA_DEVICE_ORDER") != nullptr;
    for (std::size_t i = 0; i < *slots; ++i) {
      std::vector<std::string> own;
      own.reserve(width);
      for (std::size_t k = 0; k < width; ++k) {
        own.push_back(gpus[(i * width + k) % gpus.size()]);
      }
      plan[i].push_back("CUDA_VISIBLE_DEVICES=" + absl::StrJoin(own, ","));
      // Our numbers are those of the bus, not CUDA's "fastest first".
      if (!chosen) plan[i].push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    }
  }
  // One process for each GPU is usual.
  const std::size_t processes = *slots * width;
  if (processes > 1 && look_up(kThreadVariables[0]) == nullptr) {
    const auto share = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::max(hardware.cpu_cores(), 1)) /
               processes);
    for (const char* variable : kThreadVariables) {
      if (look_up(variable) != nullptr) continue;
      for (SlotEnvironment& slot : plan) {
        slot.push_back(absl::StrCat(variable, "=", share));
      }
    }
  }
  if (look_up("GOMP_SPINCOUNT") == nullptr &&
      look_up("OMP_WAIT_POLICY") == nullptr) {
    for (SlotEnvironment& slot : plan) slot.emplace_back(kSpins);
  }
  return plan;
}

namespace {

constexpr Duration kExitGrace = std::chrono::seconds(2);
constexpr Duration kTrainerKillGrace = std::chrono::seconds(2);
constexpr Duration kLateLook = std::chrono::seconds(1);

}  // namespace

SlotTrainer::SlotTrainer(SlotContext& context, int slot,
                         SlotEnvironment environment, Wakeup& wakeup,
                         LogTail& log)
    : context_(context),
      slot_(slot),
      environment_(std::move(environment)),
      wakeup_(wakeup),
      log_(log) {}

absl::Status SlotTrainer::LivesOn() {
  return MakeError(ErrorId::kTrainerExited,
                   "the trainer before lives on after SIGKILL",
                   "see slot_held_up in the agent's log");
}

absl::Status SlotTrainer::Ensure() {
  // A trainer that ended after its finish is no failure.
  if (process_ != nullptr) {
    for (const std::string& line : process_->Wait(wakeup_, Duration()).lines) {
      log_.Append(line + "\n");
    }
    if (!process_->ended()) {
      const bool is_old = generation_ != context_.registry_generation();
      return is_old ? Renew() : absl::OkStatus();
    }
  }
  return Start();
}

absl::Status SlotTrainer::Renew() {
  Log(LogLevel::kInfo, "trainer_renewed",
      {{"slot", absl::StrCat(slot_)}, {"cause", "the registry changed"}});
  End();
  return IsHeldUp() ? LivesOn() : Start();
}

// The path is absolute, since a trainer works in another folder.
std::string SlotTrainer::PrefixFolder() const {
  const std::string& given = context_.options.prefix_dir;
  if (given.empty()) return context_.run_folder.path() + "/prefix";
  std::error_code error;
  const std::string folder = std::filesystem::absolute(given, error).string();
  return error ? given : folder;
}

absl::Status SlotTrainer::Start() {
  // This is read before the trainer starts: it may then read a newer registry,
  // never an older one.
  generation_ = context_.registry_generation();
  TrainerCommand command;
  command.command = context_.options.exec;
  command.environment = {"FROSTLINE_WORKER=" + context_.options.id,
                         absl::StrCat("FROSTLINE_SLOT=", slot_),
                         absl::StrCat("FROSTLINE_PROTOCOL=", kProtocolVersion)};
  if (!context_.options.registry.empty()) {
    command.environment.push_back("FROSTLINE_REGISTRY=" +
                                  context_.options.registry);
  }
  if (context_.options.prefix_dir != "off") {
    command.environment.push_back("FROSTLINE_PREFIX_DIR=" + PrefixFolder());
  }
  command.environment.push_back("FROSTLINE_WRITE_DIR=" +
                                context_.run_folder.path());
  if (context_.options.prefix_bytes > 0) {
    command.environment.push_back(
        absl::StrCat("FROSTLINE_PREFIX_BYTES=", context_.options.prefix_bytes));
  }
  command.environment.insert(command.environment.end(), environment_.begin(),
                             environment_.end());
  ASSIGN_OR_RETURN(process_, TrainerProcess::Start(command, log_));
  ++started_;
  return absl::OkStatus();
}

void SlotTrainer::Drop() {
  process_->Kill();
  if (!process_->unkillable()) process_.reset();
}

bool SlotTrainer::IsHeldUp() const {
  return process_ != nullptr && process_->unkillable();
}

bool SlotTrainer::AwaitLateEnd() {
  Log(LogLevel::kWarning, "slot_held_up",
      {{"slot", absl::StrCat(slot_)},
       {"process", absl::StrCat(process_->pid())},
       {"cause", "it lives on after SIGKILL"},
       {"fix", "see what holds it (its /proc/PID/stack)"}});
  context_.slot_held_up();
  const SteadyTime until =
      context_.clock.Steady() + context_.options.unkillable_patience;
  while (context_.stop.level() == StopLevel::kRun) {
    if (process_->EndedAtLast()) {
      process_.reset();
      Log(LogLevel::kInfo, "slot_freed", {{"slot", absl::StrCat(slot_)}});
      context_.slot_freed();
      return true;
    }
    if (context_.clock.Steady() >= until) {
      Log(LogLevel::kError, "slot_retired",
          {{"slot", absl::StrCat(slot_)},
           {"process", absl::StrCat(process_->pid())},
           {"cause", "it lives on after SIGKILL"},
           {"fix", "restart the node"}});
      return false;
    }
    wakeup_.WaitFor(kLateLook);
  }
  return true;
}

void SlotTrainer::AskToExit() {
  process_->Send(ExitLine());
  process_->CloseInput();
  const SteadyTime deadline = context_.clock.Steady() + kExitGrace;
  while (!process_->ended() && !process_->unkillable() &&
         context_.clock.Steady() < deadline) {
    const auto output =
        process_->Wait(wakeup_, deadline - context_.clock.Steady());
    if (output.overlong) break;
  }
}

void SlotTrainer::End() {
  if (process_ == nullptr) return;
  AskToExit();
  process_->Terminate(kTrainerKillGrace);
  if (!process_->unkillable()) process_.reset();
}

AttemptPhases::AttemptPhases(const v1::LeaseRef& lease, spans::SpanSink* sink,
                             const Clock& clock)
    : sink_(sink),
      clock_(clock),
      attempt_(proto::TraceOfAttempt(lease)),
      trial_(lease.trial()) {}

AttemptPhases::~AttemptPhases() { End(); }

void AttemptPhases::Begin(const std::string& name) {
  if (sink_ == nullptr) return;
  End();
  phase_.context = ChildOf(attempt_);
  phase_.parent = attempt_.span_id;
  phase_.name = name;
  phase_.begin = clock_.Wall();
  phase_.attributes = {{"frostline.trial", trial_}};
}

void AttemptPhases::End() {
  if (phase_.name.empty()) return;
  phase_.end = clock_.Wall();
  sink_->Take(std::exchange(phase_, {}));
}

namespace {

// How long the last deliveries may take once the agent has to end.
constexpr Duration kLastDelivery = std::chrono::seconds(5);
// After so many attempts whose hook failed, the trial begins anew.
constexpr std::int64_t kFetchAttempts = 3;
constexpr Duration kSlotSleep = std::chrono::hours(1);

}  // namespace

void Slot::RunTrial(const v1::Lease& lease) {
  v1::LeaseRef attempt;
  attempt.set_trial(lease.trial());
  attempt.set_attempt(lease.attempt());
  attempt.set_secret(lease.secret());
  const TraceContext trace = proto::TraceOfAttempt(attempt);
  const LogTraceScope traced(trace);
  Log(LogLevel::kInfo, "trial_started",
      {{"trial", lease.trial()},
       {"attempt", absl::StrCat(lease.attempt())},
       {"slot", absl::StrCat(number_)}});
  AttemptPhases phases(attempt, context_.spans, context_.clock);
  phases.Begin("prepare");
  ++context_.busy;
  log_.Clear();
  const TrialFolders::Use own(context_.run_folder.trials(), lease.trial());
  const Duration ttl = proto::DurationFromProto(lease.ttl());
  const auto held = std::make_shared<HeldLease>(
      lease, RenewalWatch(ttl, context_.options.orphan_limit, acquire_sent_),
      context_.clock, wakeup_, log_, number_);
  // A lease whose request waited for long has used up much of its first TTL.
  context_.keeper.Hold(held, context_.clock.Steady() - acquire_sent_ > ttl / 4);
  const auto outbox = OpenOutbox(held->proof());
  FROSTLINE_FAILPOINT(kAgentSpooling);
  TrialRun run(context_, lease, *held, *outbox, wakeup_, log_);
  RunOnTrainer(lease, run, phases);
  phases.Begin("deliver");
  AwaitDelivery(*outbox);
  context_.keeper.LetGo(held);
  log_.Follow(nullptr);
  Tidy(run, *outbox);
  context_.idle_since = context_.clock.Steady().count();
  --context_.busy;
  if (run.could_not_start()) {
    wakeup_.WaitFor(start_pause_.Next(rng_));
  } else {
    start_pause_.Reset();
  }
}

std::shared_ptr<Outbox> Slot::OpenOutbox(const v1::LeaseRef& lease) {
  auto file = SpoolFile::Create(context_.run_folder.SpoolPath(lease), lease);
  if (!file.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", lease.trial()},
         {"cause", std::string(file.status().message())}});
  }
  auto outbox = std::make_shared<Outbox>(
      lease, file.ok() ? *std::move(file) : nullptr, &wakeup_);
  context_.deliverer.Adopt(outbox);
  return outbox;
}

void Slot::RunOnTrainer(const v1::Lease& lease, TrialRun& run,
                        AttemptPhases& phases) {
  const TrialFolders::Use source(context_.run_folder.trials(),
                                 TrialFolders::CheckpointTrial(lease));
  const auto folder = context_.run_folder.trials().Make(lease);
  if (!folder.ok()) return run.FailToStart(folder.status());
  log_.Follow(std::make_unique<LogFile>(TrialFolders::LogPath(*folder)));
  context_.run_folder.trials().models().Begin(lease, *folder);
  const auto checkpoint = FindCheckpoint(lease);
  if (!checkpoint.ok()) return run.FailToStart(checkpoint.status());
  while (true) {
    const int before = trainer_.started();
    const absl::Status started = trainer_.Ensure();
    if (!started.ok()) return run.FailToStart(started);
    const bool used = trainer_.started() == before;
    phases.Begin("train");
    const bool taken = run.Run(trainer_.process(), used, *folder, *checkpoint);
    if (run.outcome_kind() == v1::Outcome::FAILED) {
      phases.Fail(run.outcome_cause());
    }
    if (!run.trainer_is_ready()) trainer_.Drop();
    if (taken) return;
    // The trainer may have been one that takes a single trial and was about to
    // end.
    if (trainer_.IsHeldUp()) return run.FailToStart(SlotTrainer::LivesOn());
  }
}

absl::Status Slot::FetchCheckpoint(const v1::Lease& lease) {
  const std::string& id = lease.resume_from().id();
  const std::string key = TrialFolders::CheckpointKey(lease.trial(), id);
  if (context_.options.checkpoint_hook.program.empty() || key.empty()) {
    return absl::OkStatus();
  }
  absl::Status fetched = context_.options.checkpoint_hook.Fetch(
      key, absl::StrCat(context_.run_folder.path(), "/trials/", key),
      [this] { return context_.stop.level() == StopLevel::kNow; });
  if (fetched.ok()) return fetched;
  Log(LogLevel::kWarning, "checkpoint_not_fetched",
      {{"trial", lease.trial()},
       {"checkpoint", id},
       {"cause", std::string(fetched.message())}});
  // A hook that never succeeds must not use up the trial's attempts.
  const bool is_own = TrialFolders::CheckpointTrial(lease) == lease.trial();
  const std::int64_t made_by = is_own ? ParseCheckpointId(id)->attempt : 0;
  return lease.attempt() - made_by <= kFetchAttempts ? fetched
                                                     : absl::OkStatus();
}

absl::StatusOr<std::string> Slot::FindCheckpoint(const v1::Lease& lease) {
  if (!lease.has_resume_from()) return "";
  const TrialFolders& folders = context_.run_folder.trials();
  auto path = folders.FindCheckpoint(lease);
  if (!path.ok()) {
    RETURN_IF_ERROR(FetchCheckpoint(lease));
    path = folders.FindCheckpoint(lease);
  }
  if (path.ok()) return *path;
  const std::string why(path.status().message());
  Log(LogLevel::kWarning, "not_resumed",
      {{"trial", lease.trial()},
       {"checkpoint", lease.resume_from().id()},
       {"cause", why}});
  log_.Append(absl::StrCat("frostline: begins anew, without the checkpoint ",
                           lease.resume_from().id(), ": ", why, "\n"));
  return "";
}

void Slot::AwaitDelivery(const Outbox& outbox) {
  const SteadyTime start = context_.clock.Steady();
  while (!outbox.done()) {
    const bool leaving = context_.stop.level() >= StopLevel::kRelease;
    const Duration waited = context_.clock.Steady() - start;
    if (leaving && waited >= kLastDelivery) return;  // stays in the spool
    wakeup_.WaitFor(leaving ? kLastDelivery - waited : kSlotSleep);
  }
}

void Slot::Tidy(const TrialRun& run, const Outbox& outbox) {
  const v1::Outcome::Kind kind = run.outcome_kind();
  // So somebody who sees only this log learns why trials fail.
  const bool is_bad =
      kind == v1::Outcome::FAILED || kind == v1::Outcome::INFEASIBLE;
  if (is_bad) {
    Log(LogLevel::kWarning, "trial_failed",
        {{"trial", outbox.lease().trial()}, {"cause", run.outcome_cause()}});
  }
  Log(LogLevel::kInfo, "trial_ended",
      {{"trial", outbox.lease().trial()},
       {"kind", v1::Outcome::Kind_Name(kind)},
       {"verdict", v1::FinishReply::Verdict_Name(outbox.verdict())}});
  if (!outbox.done() || kind == v1::Outcome::KIND_UNSPECIFIED) return;
  const bool failed = kind == v1::Outcome::FAILED;
  const bool has_checkpoint = run.NewestCheckpoint() != nullptr;
  TrialFolders& folders = context_.run_folder.trials();
  const auto verdict = outbox.verdict();
  const bool ended = verdict == v1::FinishReply::ACCEPTED ||
                     verdict == v1::FinishReply::CANCELLED;
  if (ended) folders.MarkEnded(outbox.lease(), failed, has_checkpoint);
  FROSTLINE_FAILPOINT(kAgentEndMarked);
  // A superseded trial runs again: its checkpoint and its log are of use.
  const bool superseded = verdict == v1::FinishReply::SUPERSEDED;
  if ((ended || superseded) &&
      !KeepsEnded(context_.options.keep.policy, failed, run.LeavesWork())) {
    folders.RemoveAttempts(outbox.lease());
  }
}

// Hands back a trial that was granted when the agent was about to end. The
// release is spooled, like everything that must be told.
void Slot::HandBack(const v1::Lease& lease) {
  v1::ReleaseRequest request;
  request.mutable_lease()->set_trial(lease.trial());
  request.mutable_lease()->set_attempt(lease.attempt());
  request.mutable_lease()->set_secret(lease.secret());
  request.set_reason(v1::ReleaseRequest::UNRUN);
  request.set_detail(context_.stop.why());
  const auto outbox = OpenOutbox(request.lease());
  outbox->Add(request);
  context_.deliverer.Ring();
  AwaitDelivery(*outbox);
}

// A slot between two trials.

namespace {

constexpr Duration kLongestAcquireWait = std::chrono::seconds(30);
constexpr Duration kShortestWait = std::chrono::seconds(1);
// How long the agent asks, at its end, what a cancelled call was granted.
constexpr Duration kLastQuestion = std::chrono::seconds(2);
constexpr Duration kFirstAcquirePause = std::chrono::milliseconds(200);
constexpr Duration kLongestAcquirePause = std::chrono::seconds(10);
constexpr Duration kFirstStartPause = std::chrono::seconds(1);
constexpr Duration kLongestStartPause = std::chrono::seconds(60);

}  // namespace

Slot::Slot(SlotContext& context, int number, SlotEnvironment environment)
    : context_(context),
      number_(number),
      rng_(std::hash<std::string>()(context.boot_id),
           static_cast<std::uint64_t>(number)),
      pause_(kFirstAcquirePause, kLongestAcquirePause),
      start_pause_(kFirstStartPause, kLongestStartPause),
      trainer_(context, number, std::move(environment), wakeup_, log_) {
  context_.stop.Notify(&wakeup_);
}

Slot::~Slot() {
  Join();
  context_.stop.Forget(&wakeup_);
}

void Slot::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Slot::Join() {
  if (thread_.joinable()) thread_.join();
}

void Slot::Loop() {
  while (!retired_) {
    const auto lease = NextLease();
    if (!lease.has_value()) break;
    FROSTLINE_FAILPOINT(kAgentAcquired);
    RunTrial(*lease);
    if (context_.options.fresh_process) trainer_.End();
    if (trainer_.IsHeldUp()) retired_ = !trainer_.AwaitLateEnd();
    context_.folder_cleaner.Ring();
  }
  if (retired_) context_.slot_retired();
  trainer_.End();
}

std::optional<v1::Lease> Slot::NextLease() {
  v1::AcquireRequest request;
  request.set_worker(context_.worker_name);
  request.set_boot_id(context_.boot_id);
  request.set_max_leases(1);
  if (!context_.options.study.empty()) {
    request.set_study(StudyNameOf(context_.options.study));
  }
  bool keep_id = false;
  bool given_up = false;
  while (context_.stop.level() == StopLevel::kRun && !EndIfIdle()) {
    // A repeated id must come with an equal request.
    if (!keep_id) {
      request.set_request_id(NewRequestId(context_.clock));
      *request.mutable_wait() = proto::DurationToProto(LongestWait());
    }
    auto lease = Ask(request, &keep_id);
    given_up = keep_id;
    if (!lease.has_value()) continue;
    if (context_.stop.level() == StopLevel::kRun) return lease;
    HandBack(*lease);
  }
  if (given_up) TakeBack(std::move(request));
  return std::nullopt;
}

void Slot::TakeBack(v1::AcquireRequest request) {
  // The same id gets the same answer. With a wait the call would be held back
  // again.
  *request.mutable_wait() = proto::DurationToProto(Duration::zero());
  const SteadyTime until = context_.clock.Steady() + kLastQuestion;
  Backoff backoff(kFirstAcquirePause, kFirstAcquirePause);
  while (true) {
    const auto reply = context_.client.AcquireNow(request);
    if (reply.ok()) {
      for (const v1::Lease& lease : reply->leases()) HandBack(lease);
      return;
    }
    const bool hurries = context_.stop.level() == StopLevel::kNow;
    if (hurries || !WorthRetrying(reply.status()) ||
        context_.clock.Steady() >= until) {
      return;
    }
    wakeup_.WaitFor(backoff.Next(rng_));
  }
}

std::optional<v1::Lease> Slot::Ask(const v1::AcquireRequest& request,
                                   bool* keep_id) {
  const SteadyTime sent = context_.clock.Steady();
  acquire_sent_ = sent;
  const auto reply = context_.client.Acquire(request);
  if (!reply.ok()) {
    ConsiderError(reply.status(), sent, keep_id);
    return std::nullopt;
  }
  *keep_id = false;
  const bool parked = context_.clock.Steady() - sent >= kShortestWait;
  // A call that was held back has waited already; only after quick answers the
  // pauses grow.
  if (parked || reply->leases_size() > 0) pause_.Reset();
  if (reply->leases_size() > 0) return reply->leases(0);
  ConsiderNone(*reply);
  return std::nullopt;
}

void Slot::ConsiderNone(const v1::AcquireReply& reply) {
  if (reply.none_reason() != last_reason_) {
    last_reason_ = reply.none_reason();
    const bool quarantined = last_reason_ == v1::QUARANTINED;
    Log(quarantined ? LogLevel::kWarning : LogLevel::kInfo, "no_trial",
        {{"reason", v1::NoneReason_Name(last_reason_)},
         {"detail", reply.none_detail()},
         {"slot", absl::StrCat(number_)}});
    const bool is_barred = quarantined || last_reason_ == v1::NOT_IN_STOCK ||
                           last_reason_ == v1::NO_MATCHING_LABELS;
    if (is_barred && number_ == 0) {
      SayOnTerminal(
          absl::StrCat("no trial for this worker: ", reply.none_detail()));
    }
  }
  if (reply.none_reason() == v1::STUDY_ENDED &&
      context_.options.exit_when_done) {
    context_.stop.Raise(StopLevel::kDone, kExitOk, "the study has ended");
    return;
  }
  wakeup_.WaitFor(std::max(proto::DurationFromProto(reply.retry_after()),
                           pause_.Next(rng_)));
}

void Slot::ConsiderError(const absl::Status& status, SteadyTime sent,
                         bool* keep_id) {
  // The reply may have been lost after a grant: then the same id gets it again.
  *keep_id = WorthRetrying(status);
  if (context_.stop.level() != StopLevel::kRun) return;
  if (HasErrorId(status, ErrorId::kWorkerUnknown)) {
    context_.register_again(sent);
  }
  if (HasErrorId(status, ErrorId::kStudyNotFound) &&
      context_.options.exit_when_done) {
    Log(LogLevel::kError, "study_not_found",
        {{"study", context_.options.study}});
    context_.stop.Raise(StopLevel::kDone, kExitNotFound, "no such study");
    return;
  }
  Log(LogLevel::kWarning, "no_answer",
      {{"cause", std::string(status.message())},
       {"slot", absl::StrCat(number_)}});
  wakeup_.WaitFor(pause_.Next(rng_));
}

Duration Slot::LongestWait() const {
  if (context_.options.idle_timeout == Duration::zero())
    return kLongestAcquireWait;
  return std::clamp(context_.options.idle_timeout, kShortestWait,
                    kLongestAcquireWait);
}

bool Slot::EndIfIdle() {
  const Duration limit = context_.options.idle_timeout;
  if (limit == Duration::zero() || context_.busy > 0) return false;
  const Duration idle =
      context_.clock.Steady() - SteadyTime(context_.idle_since);
  if (idle < limit) return false;
  context_.stop.Raise(StopLevel::kDone, kExitOk, "no trial for long enough");
  return true;
}

}  // namespace frostline::agent
