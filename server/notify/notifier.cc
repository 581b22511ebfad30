// SPDX-License-Identifier: Apache-2.0
#include "server/notify/notifier.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/json.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

std::string EndNameOf(storage::StudyState state) {
  switch (state) {
    case storage::StudyState::kActive:
      return "ACTIVE";
    case storage::StudyState::kPaused:
      return "PAUSED";
    case storage::StudyState::kStopped:
      return "STOPPED";
    case storage::StudyState::kCompleted:
      return "COMPLETED";
    case storage::StudyState::kDeleted:
      return "DELETED";
  }
  return "";
}

std::string EndedTrialsOf(const StudyBook& book) {
  JsonObject counts;
  for (const auto& [state, name] :
       {std::pair{TrialState::kSucceeded, "succeeded"},
        std::pair{TrialState::kPruned, "pruned"},
        std::pair{TrialState::kInfeasible, "infeasible"},
        std::pair{TrialState::kFailed, "failed"},
        std::pair{TrialState::kCancelled, "cancelled"},
        std::pair{TrialState::kRunning, "running"},
        std::pair{TrialState::kQueued, "queued"}}) {
    counts.Put(name, absl::StrCat(book.Count(state)));
  }
  return counts.Text();
}

// Returns null when no trial has succeeded.
std::string BestOf(const StudyBook& book) {
  const auto best = book.best().First();
  if (!best.has_value()) return "null";
  const std::vector<Objective>& objectives = book.checked().objectives;
  JsonObject values;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double value = best->values[i];
    values.Put(objectives[i].metric,
               std::isfinite(value) ? JsonNumber(value) : "null");
  }
  return JsonObject()
      .PutText("trial", TrialNameOf(book.row().id, best->number))
      .Put("number", absl::StrCat(best->number))
      .Put("values", values.Text())
      .Text();
}

}  // namespace

std::string DescribeEnd(const StudyBook& book, WallMicros end) {
  const storage::StudyRow& row = book.row();
  const std::string described = JsonObject()
                                    .PutText("study", row.id)
                                    .PutText("state", EndNameOf(row.state))
                                    .PutText("reason", row.state_reason)
                                    .PutText("end_time", FormatWall(end))
                                    .Put("trials", EndedTrialsOf(book))
                                    .Put("best", BestOf(book))
                                    .Text();
  return described.substr(1);
}

std::string EndedStudy(const std::string& delivery,
                       const std::string& notification,
                       const std::string& described) {
  const std::string first = JsonObject()
                                .PutText("event", "study_ended")
                                .PutText("delivery", delivery)
                                .PutText("notification", notification)
                                .Text();
  return absl::StrCat(first.substr(0, first.size() - 1), ",", described);
}

namespace {

constexpr double kSpread = 0.5;

}  // namespace

std::optional<Duration> PauseAfter(int tries, WallMicros ended, WallMicros now,
                                   const TryRules& rules, Rng& rng) {
  Duration mean = rules.first;
  for (int i = 1; i < tries && mean < rules.longest; ++i) mean *= 2;
  const Duration pause = Jitter(std::min(mean, rules.longest), kSpread, rng);
  // A wall clock that was set back must neither make this endless nor end it.
  const Duration age =
      std::chrono::microseconds(std::max<WallMicros>(0, now - ended));
  if (age + pause > rules.give_up) return std::nullopt;
  return pause;
}

namespace {

using std::chrono::steady_clock;

constexpr auto kStopGrace = std::chrono::seconds(2);

void LogDropped(const storage::NotificationRow& row, const char* why) {
  Log(LogLevel::kWarning, "notification_dropped",
      {{"notification", row.name}, {"study", row.study}, {"why", why}});
}

}  // namespace

Notifier::Notifier(const NotifyOptions& options, CommitLoop& loop,
                   Ledger& ledger, const Clock& clock)
    : options_(options),
      loop_(loop),
      ledger_(ledger),
      clock_(clock),
      rng_(std::random_device{}()) {}

absl::Status Notifier::Load(const storage::TrialStore& store) {
  std::string after;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<storage::NotificationRow> page,
                     store.ListNotifications(after, storage::kScanPage));
    const bool is_last = page.size() < storage::kScanPage;
    if (!page.empty()) after = page.back().id;
    for (storage::NotificationRow& row : page) {
      if (options_.destinations.contains(row.name)) {
        Queue(std::move(row));
        continue;
      }
      LogDropped(row, "the operator has it no more");
      counts_.dropped.Add();
      over_.insert(row.id);
    }
    if (is_last) return absl::OkStatus();
  }
}

void Notifier::Start() {
  const std::size_t count =
      std::min(options_.threads, options_.destinations.size());
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

void Notifier::Stop() {
  {
    const MutexLock lock(&mutex_);
    if (!stop_by_.has_value()) stop_by_ = steady_clock::now() + kStopGrace;
  }
  wake_.SignalAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// A deleted study is forgotten before the group's turn, so what is told of it
// is taken now; of other studies it is taken at the end of the group.
void Notifier::NoteEnded(const StudyBook& book) {
  const auto& ids = book.checked().settings.notify();
  if (ids.empty()) return;
  const WallMicros now = clock_.Wall();
  ended_.push_back({.ids = {ids.begin(), ids.end()},
                    .key = book.row().key,
                    .study = book.row().id,
                    .described = DescribeEnd(book, now),
                    .time = now});
}

void Notifier::Turn(Batch& batch) {
  for (Ended& ended : ended_) {
    const StudyBook* const book = ledger_.Find(ended.key);
    if (book != nullptr && !IsOpen(book->row().state)) {
      ended.described = DescribeEnd(*book, ended.time);
    }
    WriteEnded(batch, ended);
  }
  ended_.clear();
  WriteOver(batch);
}

void Notifier::WriteEnded(Batch& batch, const Ended& ended) {
  for (const std::string& name : ended.ids) {
    storage::NotificationRow row{.id = RandomHexId(),
                                 .name = name,
                                 .study = ended.study,
                                 .body = "",
                                 .created = ended.time};
    bool is_full = false;
    {
      const MutexLock lock(&mutex_);
      is_full = waiting_ + written_.size() >= options_.most_waiting;
    }
    const bool is_known = options_.destinations.contains(name);
    if (is_full || !is_known) {
      LogDropped(row, is_known ? "too many wait already"
                               : "the operator has it no more");
      counts_.dropped.Add();
      continue;
    }
    row.body = EndedStudy(row.id, name, ended.described);
    // A failure here is the store's, and all of the group is undone.
    (void)batch.Write([&row](storage::Transaction& transaction) {
      return transaction.PutNotification(row);
    });
    written_.push_back(std::move(row));
  }
}

void Notifier::WriteOver(Batch& batch) {
  if (over_.empty() || !batch.MayWrite()) return;
  std::set<std::string> over = over_;
  (void)batch.Write([&over](storage::Transaction& transaction) -> absl::Status {
    for (const std::string& id : over) {
      RETURN_IF_ERROR(transaction.ForgetNotification(id));
    }
    return absl::OkStatus();
  });
  forgotten_ = std::move(over);
}

void Notifier::Committed() {
  for (const std::string& id : std::exchange(forgotten_, {})) over_.erase(id);
  if (written_.empty()) return;
  for (storage::NotificationRow& row : std::exchange(written_, {})) {
    Queue(std::move(row));
  }
  wake_.SignalAll();
}

// What was told stays told, and is forgotten in a later group.
void Notifier::Undo() {
  ended_.clear();
  written_.clear();
  forgotten_.clear();
}

// The threads that tell.

namespace {

// The longest delay until a thread notices that something is due.
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
