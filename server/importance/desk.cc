// SPDX-License-Identifier: Apache-2.0
#include "server/importance/desk.h"

#include <malloc.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "importance/ranking/stability.h"
#include "server/importance/serve.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

// How often callers are looked at while something is computed.
constexpr std::chrono::milliseconds kLook(50);

}  // namespace

ImportanceDesk::ImportanceDesk(const storage::TrialStore& store,
                               const Clock& clock)
    : store_(store),
      clock_(clock),
      studies_(kMaxKnownTrialBytes),
      answers_(kMaxAnswerBytes, kMaxAwaitedAnswers) {}

void ImportanceDesk::Start(int threads) {
  threads_.Start(threads);
  lookout_ = std::thread([this] { LookOut(); });
}

void ImportanceDesk::BeginStop() {
  answers_.StopAll(MakeError(ErrorId::kCoordinatorDraining,
                             "the coordinator is shutting down",
                             "try again when it is back"));
}

void ImportanceDesk::Stop() {
  BeginStop();
  threads_.Stop();
  {
    const MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  changed_.SignalAll();
  if (lookout_.joinable()) lookout_.join();
}

void ImportanceDesk::Compute(const std::string& key, Computation computation) {
  threads_.Post([this, key, computation = std::move(computation)] {
    const auto count = [this](int more) {
      {
        const MutexLock lock(&mutex_);
        computing_ += more;
      }
      changed_.SignalAll();
    };
    count(1);
    for (auto stop = answers_.Begin(key); stop.has_value();
         stop = answers_.Begin(key)) {
      const SteadyTime begun = clock_.Steady();
      const absl::StatusOr<AnswerPtr> answer = computation(*stop);
      seconds_.Observe(clock_.Steady() - begun);
      if (answers_.Resolve(key, answer)) break;
    }
    count(-1);
  });
}

void ImportanceDesk::LookOut() {
  const MutexLock lock(&mutex_);
  while (!is_ending_) {
    if (computing_ == 0) {
      // What computations took of the process goes back to the system.
      if (std::exchange(has_computed_, false)) malloc_trim(0);
      changed_.Wait(&mutex_);
      continue;
    }
    has_computed_ = true;
    changed_.WaitUntil(&mutex_, std::chrono::steady_clock::now() + kLook);
    answers_.StopAbandoned();
  }
}

absl::StatusOr<ImportanceDesk::Loaded> ImportanceDesk::Load(
    const StudyHandle& study, const ImportanceQuestion& question,
    const std::stop_token& stop) {
  Loaded loaded;
  RETURN_IF_ERROR(studies_.Of(study.key)->See(
      study, store_, question.used.at_step(), stop,
      [&](const std::map<std::int64_t, KnownTrial>& trials,
          std::int64_t revision) -> absl::Status {
        loaded.revision = revision;
        ASSIGN_OR_RETURN(loaded.history,
                         SelectHistory(question, *study.checked, trials));
        return absl::OkStatus();
      }));
  return loaded;
}

absl::StatusOr<importance::StabilityVerdict> VerdictOf(
    const StudyHandle& study, const ImportanceQuestion& question,
    const History& history, const std::stop_token& stop) {
  importance::EvaluateOptions options = OptionsOf(question, stop);
  options.bootstraps = 0;
  options.pairs = false;
  const absl::StatusOr<importance::Stability> stability =
      importance::EvaluateStability(study.checked->space, question.objectives,
                                    history, options, kVerdictPoints);
  if (stability.ok()) return stability->verdict;
  // What a report can do with, its beginnings may lack: values that differ.
  if (!absl::IsFailedPrecondition(stability.status())) {
    return stability.status();
  }
  importance::StabilityVerdict none;
  none.sentence = std::string(stability.status().message());
  return none;
}

importance::EvaluateOptions OptionsOf(const ImportanceQuestion& question,
                                      const std::stop_token& stop) {
  importance::EvaluateOptions options = question.options;
  options.stop = stop;
  return options;
}

}  // namespace frostline::server
