// SPDX-License-Identifier: Apache-2.0
//
// The threads that tell; what the loop does is in notifier.cc.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "server/notify/notifier.h"

namespace frostline::server {
namespace {

using std::chrono::steady_clock;

// So late, at most, is noticed that something is due.
constexpr Duration kLongestNap = std::chrono::milliseconds(250);

}  // namespace

void Notifier::Queue(storage::NotificationRow row) {
  const MutexLock lock(&mutex_);
  Line& line = lines_[row.name];
  line.waiting.emplace(clock_.Steady(), Waiting{std::move(row), 0});
  ++waiting_;
}

void Notifier::Run() {
  const StopSign stop([this] { return IsStopped(); });
  while (std::optional<Waiting> next = TakeDue()) {
    const absl::Status status =
        Deliver(options_.destinations.at(next->row.name), next->row, stop,
                options_.limit);
    Settle(*std::move(next), status);
  }
}

Notifier::Line* Notifier::EarliestLine() {
  Line* earliest = nullptr;
  for (auto& [name, line] : lines_) {
    if (line.busy || line.waiting.empty()) continue;
    if (earliest == nullptr ||
        line.waiting.begin()->first < earliest->waiting.begin()->first) {
      earliest = &line;
    }
  }
  return earliest;
}

std::optional<Notifier::Waiting> Notifier::TakeDue() {
  const MutexLock lock(&mutex_);
  while (!stop_by_.has_value()) {
    Line* const line = EarliestLine();
    if (line == nullptr) {
      wake_.Wait(&mutex_);
      continue;
    }
    const auto first = line->waiting.begin();
    const Duration left = first->first - clock_.Steady();
    if (left <= Duration::zero()) {
      Waiting taken = std::move(first->second);
      line->waiting.erase(first);
      line->busy = true;
      return taken;
    }
    wake_.WaitUntil(&mutex_, steady_clock::now() + std::min(left, kLongestNap));
  }
  return std::nullopt;
}

void Notifier::Settle(Waiting told, const absl::Status& status) {
  const storage::NotificationRow row = told.row;
  const std::string failures = absl::StrCat(++told.failures);
  std::optional<Duration> pause;
  {
    const MutexLock lock(&mutex_);
    Line& line = lines_.at(row.name);
    line.busy = false;
    if (!status.ok()) {
      pause = PauseAfter(told.failures, row.created, clock_.Wall(),
                         options_.tries, rng_);
    }
    if (pause.has_value()) {
      line.waiting.emplace(clock_.Steady() + *pause, std::move(told));
    } else {
      --waiting_;
    }
  }
  wake_.SignalAll();
  if (absl::IsCancelled(status)) return;  // it is told after the next start
  if (status.ok()) {
    counts_.delivered.Add();
    Log(LogLevel::kInfo, "notification_delivered",
        {{"notification", row.name},
         {"study", row.study},
         {"delivery", row.id}});
    return NoteOver(row.id);
  }
  (pause.has_value() ? counts_.retried : counts_.given_up).Add();
  Log(pause.has_value() ? LogLevel::kWarning : LogLevel::kError,
      pause.has_value() ? "notification_failed" : "notification_given_up",
      {{"notification", row.name},
       {"study", row.study},
       {"delivery", row.id},
       {"tries", failures},
       {"why", std::string(status.message())}});
  if (!pause.has_value()) NoteOver(row.id);
}

void Notifier::NoteOver(const std::string& id) {
  (void)loop_.Post([this, id](Batch& batch) {
    batch.AssertOnLoop();
    over_.insert(id);
  });
}

bool Notifier::IsStopped() {
  const MutexLock lock(&mutex_);
  return stop_by_.has_value() && steady_clock::now() >= *stop_by_;
}

}  // namespace frostline::server
