// SPDX-License-Identifier: Apache-2.0
#include "server/notify/notifier.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/notify/ended_study.h"
#include "storage/trial_store.h"

namespace frostline::server {
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

// A study that is deleted is forgotten before the group's turn, so what is told
// of it is taken now; of others what the group comes to.
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
    // A failure is the store's own, and the group's: all of it is undone.
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

}  // namespace frostline::server
