// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outbox.h"

#include <utility>

namespace frostline::agent {

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
