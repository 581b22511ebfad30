// SPDX-License-Identifier: Apache-2.0
#include "server/importance/desk.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/ranking.h"
#include "server/importance/convert_importance.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

bool CallerHungUp(const WaitingCaller& caller) {
  return caller.cancelled != nullptr && caller.cancelled->load();
}

bool AllHungUp(const std::vector<WaitingCaller>& callers) {
  return std::all_of(callers.begin(), callers.end(), CallerHungUp);
}

std::size_t BytesOf(const KeptAnswer& answer) {
  std::size_t bytes = sizeof(answer) + answer.message->SpaceUsedLong();
  if (!answer.report.has_value()) return bytes;
  bytes += answer.report->pairs.size() * sizeof(importance::PairImportance);
  bytes += answer.report->parameters.size() *
           sizeof(importance::ParameterImportance);
  for (const std::vector<double>& draw : answer.report->main_draws) {
    bytes += draw.size() * sizeof(double);
  }
  return bytes;
}

absl::Status TooManyWait(std::size_t many) {
  return MakeError(
      ErrorId::kOverloaded,
      absl::StrCat(many, " other questions of importance are being computed"),
      "ask again in some seconds, or fewer at a time");
}

}  // namespace

std::size_t PlacesFor(double seconds_each, int threads) {
  const double in_time =
      threads * kMaxAnswerWait / std::max(seconds_each, 1e-9);
  return static_cast<std::size_t>(
      std::clamp(in_time, static_cast<double>(kFewestAwaitedAnswers),
                 static_cast<double>(kMaxAwaitedAnswers)));
}

bool AnswerCache::Ask(const AnswerRequest& asked, std::size_t places,
                      WaitingCaller caller) {
  absl::StatusOr<AnswerPtr> kept = nullptr;
  {
    const MutexLock lock(&mutex_);
    if (asked.freshness != Freshness::kAnew) kept = FindLocked(asked.key);
    if (*kept == nullptr) kept = FindWatched(asked);
    if (*kept == nullptr && !over_.ok()) kept = over_;
    if (kept.ok() && *kept == nullptr) {
      if (Awaited* const awaited = FindAwaited(asked)) {
        awaited->callers.push_back(std::move(caller));
        counts_.joined.Add();
        return false;
      }
      if (waiting_.size() < places) {
        Awaited& awaited = waiting_[asked.key];
        awaited.vintage = {asked.series, asked.ended, asked.now};
        awaited.is_kept = asked.is_kept;
        awaited.callers.push_back(std::move(caller));
        counts_.computed.Add();
        return true;
      }
      kept = TooManyWait(waiting_.size());
      counts_.refused.Add();
    }
  }
  if (kept.ok()) counts_.kept.Add();
  caller.reply(std::move(kept));
  return false;
}

bool AnswerCache::IsFreshEnough(const Vintage& vintage,
                                const AnswerRequest& asked) {
  return asked.freshness == Freshness::kWatching && !asked.series.empty() &&
         vintage.series == asked.series &&
         asked.ended - vintage.ended < kWatchedTrials &&
         asked.now - vintage.asked < kWatchedTime;
}

// The newest of those that are fresh enough.
AnswerPtr AnswerCache::FindWatched(const AnswerRequest& asked) {
  const Entry* newest = nullptr;
  for (const Entry& entry : kept_) {
    if (!IsFreshEnough(entry.vintage, asked)) continue;
    if (newest == nullptr || entry.vintage.ended > newest->vintage.ended) {
      newest = &entry;
    }
  }
  return newest == nullptr ? nullptr : FindLocked(newest->key);
}

AnswerCache::Awaited* AnswerCache::FindAwaited(const AnswerRequest& asked) {
  const auto same = waiting_.find(asked.key);
  if (same != waiting_.end()) return &same->second;
  for (auto& [key, awaited] : waiting_) {
    if (IsFreshEnough(awaited.vintage, asked)) return &awaited;
  }
  return nullptr;
}

std::optional<std::stop_token> AnswerCache::Begin(const std::string& key,
                                                  SteadyTime now) {
  std::vector<WaitingCaller> gone;
  absl::Status why;
  {
    const MutexLock lock(&mutex_);
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) return std::nullopt;
    Awaited& awaited = waiting->second;
    const std::chrono::duration<double> waited = now - awaited.vintage.asked;
    const bool is_late = !std::exchange(awaited.has_begun, true) &&
                         waited.count() > kMaxAnswerWait;
    if (over_.ok() && !is_late && !AllHungUp(awaited.callers)) {
      return awaited.stop.emplace().get_token();
    }
    why = over_;
    if (why.ok() && is_late) {
      why = TooManyWait(waiting_.size() - 1);
      counts_.refused.Add();
    }
    gone = std::move(awaited.callers);
    waiting_.erase(waiting);
  }
  if (why.ok()) why = absl::CancelledError("the caller has hung up");
  for (WaitingCaller& caller : gone) caller.reply(why);
  return std::nullopt;
}

bool AnswerCache::Resolve(const std::string& key,
                          const absl::StatusOr<AnswerPtr>& answer) {
  std::vector<WaitingCaller> callers;
  {
    const MutexLock lock(&mutex_);
    const auto waiting = waiting_.find(key);
    Awaited& awaited = waiting->second;
    const bool is_stopped = awaited.stop->stop_requested();
    awaited.stop.reset();
    if (is_stopped || AllHungUp(awaited.callers)) return false;
    if (answer.ok() && awaited.is_kept) {
      KeepLocked({key, *answer, std::move(awaited.vintage), 0});
    }
    callers = std::move(awaited.callers);
    waiting_.erase(waiting);
  }
  for (WaitingCaller& caller : callers) caller.reply(answer);
  return true;
}

void AnswerCache::StopAbandoned() {
  const MutexLock lock(&mutex_);
  for (auto& [key, awaited] : waiting_) {
    if (!awaited.stop.has_value() || !AllHungUp(awaited.callers)) continue;
    awaited.stop->request_stop();
  }
}

void AnswerCache::StopAll(absl::Status why) {
  const MutexLock lock(&mutex_);
  over_ = std::move(why);
  for (auto& [key, awaited] : waiting_) {
    if (awaited.stop.has_value()) awaited.stop->request_stop();
  }
}

AnswerPtr AnswerCache::Find(const std::string& key) {
  const MutexLock lock(&mutex_);
  return FindLocked(key);
}

void AnswerCache::Keep(const std::string& key, AnswerPtr answer) {
  const MutexLock lock(&mutex_);
  KeepLocked({key, std::move(answer), {}, 0});
}

AnswerPtr AnswerCache::FindLocked(const std::string& key) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(),
                   [&key](const Entry& entry) { return entry.key == key; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().answer;
}

void AnswerCache::KeepLocked(Entry entry) {
  kept_.remove_if([&entry](const Entry& old) { return old.key == entry.key; });
  entry.bytes = BytesOf(*entry.answer);
  kept_.push_front(std::move(entry));
  std::size_t bytes = 0;
  for (auto place = kept_.begin(); place != kept_.end();) {
    bytes += place->bytes;
    const bool stays = place == kept_.begin() || bytes <= max_bytes_;
    place = stays ? std::next(place) : kept_.erase(place);
  }
}

namespace {

// How often callers are looked at while something is computed.
constexpr std::chrono::milliseconds kLook(50);
// A computation of this length gives memory back to the system: others may
// follow at once, and what each leaves behind would add up.
constexpr Duration kLongComputation = std::chrono::milliseconds(100);
// The weight of the last computation in what one is expected to take.
constexpr double kLastWeighs = 0.3;

}  // namespace

ImportanceDesk::ImportanceDesk(const storage::TrialStore& store,
                               const Clock& clock)
    : store_(store),
      clock_(clock),
      studies_(kMaxKnownTrialBytes),
      answers_(kMaxAnswerBytes) {}

void ImportanceDesk::Start(int threads) {
  thread_count_ = threads;
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

void ImportanceDesk::Learn(double seconds) {
  const MutexLock lock(&mutex_);
  seconds_each_ += kLastWeighs * (seconds - seconds_each_);
}

std::size_t ImportanceDesk::Places() {
  const MutexLock lock(&mutex_);
  return PlacesFor(seconds_each_, thread_count_);
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
    for (auto stop = answers_.Begin(key, clock_.Steady()); stop.has_value();
         stop = answers_.Begin(key, clock_.Steady())) {
      const SteadyTime begun = clock_.Steady();
      const absl::StatusOr<AnswerPtr> answer = computation(*stop);
      const Duration took = clock_.Steady() - begun;
      seconds_.Observe(took);
      if (!stop->stop_requested()) {
        Learn(std::chrono::duration<double>(took).count());
      }
      const bool is_over = answers_.Resolve(key, answer);
      if (took >= kLongComputation) malloc_trim(0);
      if (is_over) break;
    }
    count(-1);
  });
}

void ImportanceDesk::LookOut() {
  const MutexLock lock(&mutex_);
  while (!is_ending_) {
    if (computing_ > 0) {
      changed_.WaitUntil(&mutex_, std::chrono::steady_clock::now() + kLook);
      answers_.StopAbandoned();
    } else {
      changed_.Wait(&mutex_);
    }
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

importance::EvaluateOptions OptionsOf(const ImportanceQuestion& question,
                                      const std::stop_token& stop) {
  importance::EvaluateOptions options = question.options;
  options.stop = stop;
  return options;
}

}  // namespace frostline::server
