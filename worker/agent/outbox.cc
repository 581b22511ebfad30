// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outbox.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace frostline::agent {
namespace {

bool IsReport(const SpoolRecord& record) {
  return std::holds_alternative<v1::ReportRequest>(record);
}

// What the coordinator takes at once, and no more than a trial says at once.
constexpr int kMostMeasurements = 1000;
constexpr std::size_t kMostBytes = std::size_t{256} << 10;
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 10;
constexpr std::size_t kMostUnspooledBytes = std::size_t{4} << 20;

std::size_t BytesOf(const SpoolRecord& record) {
  return std::visit([](const auto& message) { return message.ByteSizeLong(); },
                    record);
}

// Adds what `record` says to `last`, where both are reports.
bool Append(const SpoolRecord& record, SpoolRecord& last) {
  const auto* const more = std::get_if<v1::ReportRequest>(&record);
  auto* const report = std::get_if<v1::ReportRequest>(&last);
  if (more == nullptr || report == nullptr) return false;
  if (report->measurements_size() + more->measurements_size() >
      kMostMeasurements) {
    return false;
  }
  report->mutable_measurements()->MergeFrom(more->measurements());
  if (more->has_checkpoint()) {
    *report->mutable_checkpoint() = more->checkpoint();
  }
  // A restart sends them one by one again: a repetition is known by its steps.
  report->set_sequence(more->sequence());
  return true;
}

// Drops the measurements of a report. False where nothing is left.
bool LeaveCheckpoint(SpoolRecord& record) {
  auto* const report = std::get_if<v1::ReportRequest>(&record);
  if (report == nullptr) return true;
  report->clear_measurements();
  return report->has_checkpoint();
}

}  // namespace

Outbox::Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file,
               Wakeup* wakeup)
    : lease_(std::move(lease)), wakeup_(wakeup), file_(std::move(file)) {}

Outbox::Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file)
    : lease_(std::move(content.lease)),
      wakeup_(nullptr),
      file_(std::move(file)),
      unread_(content.reports),
      ending_(std::move(content.ending)) {
  const MutexLock lock(&mutex_);
  closed_ = ending_.has_value();
  Refill();
}

void Outbox::Add(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (closed_) return;
  if (IsReport(record)) return Queue(record);
  Spool(record);
  ending_ = record;
  closed_ = true;
  Refill();
}

// What was refused before goes first, so that the file keeps the order.
bool Outbox::Spool(const SpoolRecord& record) {
  if (file_ == nullptr) return false;
  absl::Status written;
  while (written.ok() && !unspooled_.empty()) {
    written = file_->Append(unspooled_.front().record);
    if (!written.ok()) break;
    ++unread_;
    unspooled_bytes_ -= unspooled_.front().bytes;
    unspooled_.pop_front();
  }
  // An ending is worth a try of its own.
  if (written.ok() || !IsReport(record)) written = file_->Append(record);
  if (!written.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", lease_.trial()}, {"cause", std::string(written.message())}});
  }
  return written.ok();
}

void Outbox::Queue(const SpoolRecord& report) {
  const bool is_spooled = Spool(report);
  const std::size_t bytes = BytesOf(report);
  const bool is_next = unread_ == 0 && unspooled_.empty();
  if (is_next && (held_.empty() || held_bytes_ + bytes <= kMostHeldBytes)) {
    if (file_ != nullptr) file_->SkipToEnd();
    return Hold(report, /*sent=*/1);
  }
  if (is_spooled) {
    ++unread_;
  } else if (unspooled_bytes_ + bytes <= kMostUnspooledBytes) {
    unspooled_.push_back({report, bytes});
    unspooled_bytes_ += bytes;
  } else {
    KeepCheckpoint(std::get<v1::ReportRequest>(report));
    if (++dropped_ > 1) return;
    Log(LogLevel::kError, "reports_dropped",
        {{"trial", lease_.trial()},
         {"cause", "neither disk nor coordinator takes them"}});
  }
}

// The trial may go on from it elsewhere, and its file is here.
void Outbox::KeepCheckpoint(const v1::ReportRequest& report) {
  if (!report.has_checkpoint() || unspooled_.empty()) return;
  Held& last = unspooled_.back();
  auto& kept = std::get<v1::ReportRequest>(last.record);
  *kept.mutable_checkpoint() = report.checkpoint();
  unspooled_bytes_ -= last.bytes;
  last.bytes = BytesOf(last.record);
  unspooled_bytes_ += last.bytes;
}

void Outbox::Hold(const SpoolRecord& whole, std::size_t sent) {
  SpoolRecord record = whole;
  if (curve_ended_ && !LeaveCheckpoint(record)) return;
  const std::size_t bytes = BytesOf(record);
  held_bytes_ += bytes;
  const bool joins = held_.size() > sent &&
                     held_.back().bytes + bytes <= kMostBytes &&
                     Append(record, held_.back().record);
  if (joins) {
    held_.back().bytes += bytes;
  } else {
    held_.push_back({record, bytes});
  }
}

void Outbox::Refill() {
  if (!held_.empty()) return;
  // Until a second one begins.
  while (unread_ > 0 && held_.size() < 2) {
    const auto record = file_->ReadNext();
    if (!record.ok()) {
      Log(LogLevel::kError, "spool_unreadable",
          {{"trial", lease_.trial()},
           {"reports", absl::StrCat(unread_)},
           {"cause", std::string(record.status().message())}});
      unread_ = 0;
      break;
    }
    --unread_;
    Hold(*record, /*sent=*/0);
  }
  while (unread_ == 0 && !unspooled_.empty() && held_.size() < 2) {
    Hold(unspooled_.front().record, /*sent=*/0);
    unspooled_bytes_ -= unspooled_.front().bytes;
    unspooled_.pop_front();
  }
  const bool is_last = unread_ == 0 && unspooled_.empty();
  if (!is_last || !ending_.has_value()) return;
  Hold(*ending_, /*sent=*/0);
  ending_.reset();
}

void Outbox::PopHeld() {
  held_bytes_ -= held_.front().bytes;
  held_.pop_front();
}

void Outbox::ForgetReports() {
  while (!held_.empty() && IsReport(held_.front().record)) PopHeld();
  unread_ = 0;
  unspooled_.clear();
  unspooled_bytes_ = 0;
}

std::size_t Outbox::bytes_in_memory() const {
  const MutexLock lock(&mutex_);
  return held_bytes_ + unspooled_bytes_ +
         (ending_.has_value() ? BytesOf(*ending_) : 0);
}

void Outbox::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  EndIfDone();
}

std::optional<SpoolRecord> Outbox::Front() const {
  const MutexLock lock(&mutex_);
  if (done_ || held_.empty()) return std::nullopt;
  return held_.front().record;
}

void Outbox::PopFront() {
  const MutexLock lock(&mutex_);
  if (!held_.empty()) PopHeld();
  Refill();
  EndIfDone();
}

void Outbox::EndCurve() {
  const MutexLock lock(&mutex_);
  curve_ended_ = true;
  std::deque<Held> held;
  held.swap(held_);
  held_bytes_ = 0;
  for (const Held& one : held) Hold(one.record, /*sent=*/0);
  Refill();
  EndIfDone();
}

bool Outbox::FrontIsEnding() const {
  const MutexLock lock(&mutex_);
  return !done_ && !held_.empty() && !IsReport(held_.front().record);
}

bool Outbox::SplitFront() {
  const MutexLock lock(&mutex_);
  if (held_.empty() || !IsReport(held_.front().record)) return false;
  const auto whole = std::get<v1::ReportRequest>(held_.front().record);
  if (whole.measurements_size() < 2) return false;
  PopHeld();
  v1::ReportRequest one = whole;
  for (int i = whole.measurements_size() - 1; i >= 0; --i) {
    one.clear_measurements();
    *one.add_measurements() = whole.measurements(i);
    held_.push_front({one, one.ByteSizeLong()});
    held_bytes_ += held_.front().bytes;
    one.clear_checkpoint();  // the last one has it
  }
  return true;
}

void Outbox::ReplaceFront(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (held_.empty()) return;
  PopHeld();
  held_.push_front({record, BytesOf(record)});
  held_bytes_ += held_.front().bytes;
}

void Outbox::DropReports() {
  const MutexLock lock(&mutex_);
  ForgetReports();
  Refill();
  EndIfDone();
}

bool Outbox::done() const {
  const MutexLock lock(&mutex_);
  return done_;
}

void Outbox::Abandon(const std::string& keep_in) {
  const MutexLock lock(&mutex_);
  ForgetReports();
  if (!held_.empty()) PopHeld();  // the ending
  ending_.reset();
  closed_ = true;
  if (file_ != nullptr && !keep_in.empty()) {
    file_->MoveTo(keep_in);
    file_.reset();
  }
  EndIfDone();
}

void Outbox::NoteVerdict(v1::FinishReply::Verdict verdict) {
  const MutexLock lock(&mutex_);
  verdict_ = verdict;
}

v1::FinishReply::Verdict Outbox::verdict() const {
  const MutexLock lock(&mutex_);
  return verdict_;
}

void Outbox::EndIfDone() {
  if (done_ || !closed_ || !held_.empty()) return;
  done_ = true;
  if (file_ != nullptr) file_->Remove();
  file_.reset();
  if (wakeup_ != nullptr) wakeup_->Ring();
}

}  // namespace frostline::agent
