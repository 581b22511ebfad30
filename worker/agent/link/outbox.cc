// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/outbox.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"

namespace frostline::agent {
namespace {

// What the coordinator takes at once, and no more than a trial says at once.
constexpr int kMostMeasurementsSent = 1000;
constexpr std::size_t kMostRecordBytes = std::size_t{256} << 10;
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 10;

// Adds what `record` says to `last`, where both are reports.
bool Append(const SpoolRecord& record, SpoolRecord& last) {
  const auto* const more = std::get_if<v1::ReportRequest>(&record);
  auto* const report = std::get_if<v1::ReportRequest>(&last);
  if (more == nullptr || report == nullptr) return false;
  if (report->measurements_size() + more->measurements_size() >
      kMostMeasurementsSent) {
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

bool IsReport(const SpoolRecord& record) {
  return std::holds_alternative<v1::ReportRequest>(record);
}

std::size_t BytesOf(const SpoolRecord& record) {
  return std::visit([](const auto& message) { return message.ByteSizeLong(); },
                    record);
}

bool HeldRecords::HasRoomFor(const SpoolRecord& report) const {
  return held_.empty() || bytes_ + BytesOf(report) <= kMostHeldBytes;
}

void HeldRecords::Add(const SpoolRecord& whole, std::size_t sent) {
  SpoolRecord record = whole;
  if (curve_ended_ && !LeaveCheckpoint(record)) return;
  const std::size_t bytes = BytesOf(record);
  bytes_ += bytes;
  const bool joins = held_.size() > sent &&
                     held_.back().bytes + bytes <= kMostRecordBytes &&
                     Append(record, held_.back().record);
  if (joins) {
    held_.back().bytes += bytes;
  } else {
    held_.push_back({std::move(record), bytes});
  }
}

void HeldRecords::Pop() {
  bytes_ -= held_.front().bytes;
  held_.pop_front();
}

void HeldRecords::PushFront(const SpoolRecord& record) {
  held_.push_front({record, BytesOf(record)});
  bytes_ += held_.front().bytes;
}

void HeldRecords::ReplaceFront(const SpoolRecord& record) {
  Pop();
  PushFront(record);
}

bool HeldRecords::SplitFront() {
  if (!IsReport(front())) return false;
  const auto whole = std::get<v1::ReportRequest>(front());
  if (whole.measurements_size() < 2) return false;
  Pop();
  v1::ReportRequest one = whole;
  for (int i = whole.measurements_size() - 1; i >= 0; --i) {
    one.clear_measurements();
    *one.add_measurements() = whole.measurements(i);
    PushFront(one);
    one.clear_checkpoint();  // the last one has it
  }
  return true;
}

void HeldRecords::EndCurve() {
  curve_ended_ = true;
  bytes_ = 0;
  for (const Held& one : std::exchange(held_, {})) Add(one.record, /*sent=*/0);
}

void HeldRecords::ForgetReports() {
  while (!held_.empty() && IsReport(front())) Pop();
}

namespace {

constexpr std::size_t kMostUnspooledBytes = std::size_t{4} << 20;

}  // namespace

ReportBacklog::ReportBacklog(std::string trial, std::unique_ptr<SpoolFile> file,
                             std::int64_t unread)
    : trial_(std::move(trial)), file_(std::move(file)), unread_(unread) {}

bool ReportBacklog::Spool(const SpoolRecord& record) {
  if (file_ == nullptr) return false;
  absl::Status written;
  while (written.ok() && !unspooled_.empty()) {
    written = file_->Append(unspooled_.front().record);
    if (!written.ok()) break;
    ++unread_;
    PopUnspooled();
  }
  // An ending is worth a try of its own.
  if (written.ok() || !IsReport(record)) written = file_->Append(record);
  if (!written.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", trial_}, {"cause", std::string(written.message())}});
  }
  return written.ok();
}

void ReportBacklog::SkipSpooled() {
  if (file_ != nullptr) file_->SkipToEnd();
}

void ReportBacklog::Push(const v1::ReportRequest& report, bool is_spooled) {
  const std::size_t bytes = BytesOf(report);
  if (is_spooled) {
    ++unread_;
  } else if (unspooled_bytes_ + bytes <= kMostUnspooledBytes) {
    unspooled_.push_back({report, bytes});
    unspooled_bytes_ += bytes;
  } else {
    KeepCheckpoint(report);
    if (++dropped_ > 1) return;
    Log(LogLevel::kError, "reports_dropped",
        {{"trial", trial_},
         {"cause", "neither disk nor coordinator takes them"}});
  }
}

// The trial may go on from it elsewhere, and its file is here.
void ReportBacklog::KeepCheckpoint(const v1::ReportRequest& report) {
  if (!report.has_checkpoint() || unspooled_.empty()) return;
  Unspooled& last = unspooled_.back();
  auto& kept = std::get<v1::ReportRequest>(last.record);
  *kept.mutable_checkpoint() = report.checkpoint();
  unspooled_bytes_ -= last.bytes;
  last.bytes = BytesOf(last.record);
  unspooled_bytes_ += last.bytes;
}

std::optional<SpoolRecord> ReportBacklog::TakeNext() {
  if (unread_ > 0) {
    if (auto report = ReadNext()) return report;
  }
  if (unspooled_.empty()) return std::nullopt;
  SpoolRecord report = std::move(unspooled_.front().record);
  PopUnspooled();
  return report;
}

// Damaged records are passed over, so fewer may come than were written: then
// the file is at its end, or at the ending, which its owner has.
std::optional<SpoolRecord> ReportBacklog::ReadNext() {
  auto record = file_->ReadNext();
  if (record.ok() && IsReport(*record)) {
    --unread_;
    return *std::move(record);
  }
  Log(LogLevel::kError, "reports_lost",
      {{"trial", trial_},
       {"reports", absl::StrCat(unread_)},
       {"cause", record.ok() ? "the spool is damaged"
                             : DescribeError(record.status())}});
  unread_ = 0;
  return std::nullopt;
}

void ReportBacklog::PopUnspooled() {
  unspooled_bytes_ -= unspooled_.front().bytes;
  unspooled_.pop_front();
}

void ReportBacklog::Forget() {
  unread_ = 0;
  unspooled_.clear();
  unspooled_bytes_ = 0;
}

void ReportBacklog::RemoveFile() {
  if (file_ != nullptr) file_->Remove();
  file_.reset();
}

void ReportBacklog::MoveFile(const std::string& folder) {
  if (file_ != nullptr) file_->MoveTo(folder);
  file_.reset();
}

Outbox::Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file,
               Wakeup* wakeup)
    : lease_(std::move(lease)),
      wakeup_(wakeup),
      backlog_(lease_.trial(), std::move(file), 0) {}

Outbox::Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file)
    : lease_(std::move(content.lease)),
      wakeup_(nullptr),
      backlog_(lease_.trial(), std::move(file), content.reports),
      ending_(std::move(content.ending)) {
  const MutexLock lock(&mutex_);
  closed_ = ending_.has_value();
  Refill();
}

void Outbox::Add(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (closed_) return;
  const bool is_spooled = backlog_.Spool(record);
  if (IsReport(record)) return Queue(record, is_spooled);
  ending_ = record;
  closed_ = true;
  Refill();
}

void Outbox::Queue(const SpoolRecord& report, bool is_spooled) {
  if (backlog_.empty() && held_.HasRoomFor(report)) {
    backlog_.SkipSpooled();
    return held_.Add(report, /*sent=*/1);
  }
  backlog_.Push(std::get<v1::ReportRequest>(report), is_spooled);
}

void Outbox::Refill() {
  if (!held_.empty()) return;
  // Until a second one begins.
  while (!backlog_.empty() && held_.size() < 2) {
    const std::optional<SpoolRecord> next = backlog_.TakeNext();
    if (next.has_value()) held_.Add(*next, /*sent=*/0);
  }
  if (!backlog_.empty() || !ending_.has_value()) return;
  held_.Add(*ending_, /*sent=*/0);
  ending_.reset();
}

void Outbox::ForgetReports() {
  held_.ForgetReports();
  backlog_.Forget();
}

std::size_t Outbox::bytes_in_memory() const {
  const MutexLock lock(&mutex_);
  return held_.bytes() + backlog_.bytes_in_memory() +
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
  return held_.front();
}

void Outbox::PopFront() {
  const MutexLock lock(&mutex_);
  if (!held_.empty()) held_.Pop();
  Refill();
  EndIfDone();
}

void Outbox::EndCurve() {
  const MutexLock lock(&mutex_);
  held_.EndCurve();
  Refill();
  EndIfDone();
}

bool Outbox::FrontIsEnding() const {
  const MutexLock lock(&mutex_);
  return !done_ && !held_.empty() && !IsReport(held_.front());
}

bool Outbox::SplitFront() {
  const MutexLock lock(&mutex_);
  return !held_.empty() && held_.SplitFront();
}

void Outbox::ReplaceFront(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (!held_.empty()) held_.ReplaceFront(record);
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
  if (!held_.empty()) held_.Pop();  // the ending
  ending_.reset();
  closed_ = true;
  if (!keep_in.empty()) backlog_.MoveFile(keep_in);
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
  backlog_.RemoveFile();
  if (wakeup_ != nullptr) wakeup_->Ring();
}

}  // namespace frostline::agent
