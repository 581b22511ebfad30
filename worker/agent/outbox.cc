// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outbox.h"

#include <utility>

#include "base/log.h"

namespace frostline::agent {
namespace {

bool IsReport(const SpoolRecord& record) {
  return std::holds_alternative<v1::ReportRequest>(record);
}

}  // namespace

Outbox::Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file,
               Wakeup* wakeup)
    : lease_(std::move(lease)), wakeup_(wakeup), file_(std::move(file)) {}

Outbox::Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file)
    : lease_(content.lease),
      wakeup_(nullptr),
      file_(std::move(file)),
      records_(content.records.begin(), content.records.end()) {
  closed_ = !records_.empty() && !IsReport(records_.back());
}

void Outbox::Add(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (closed_) return;
  if (file_ != nullptr) {
    const absl::Status written = file_->Append(record);
    if (!written.ok()) {
      Log(LogLevel::kError, "not_spooled",
          {{"trial", lease_.trial()},
           {"cause", std::string(written.message())}});
    }
  }
  records_.push_back(record);
  closed_ = !IsReport(record);
}

void Outbox::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  EndIfDone();
}

std::optional<SpoolRecord> Outbox::Front() const {
  const MutexLock lock(&mutex_);
  if (done_ || records_.empty()) return std::nullopt;
  return records_.front();
}

void Outbox::PopFront() {
  const MutexLock lock(&mutex_);
  if (!records_.empty()) records_.pop_front();
  EndIfDone();
}

void Outbox::ReplaceFront(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (!records_.empty()) records_.front() = record;
}

void Outbox::DropReports() {
  const MutexLock lock(&mutex_);
  while (!records_.empty() && IsReport(records_.front())) records_.pop_front();
  EndIfDone();
}

bool Outbox::done() const {
  const MutexLock lock(&mutex_);
  return done_;
}

void Outbox::Abandon(const std::string& keep_in) {
  const MutexLock lock(&mutex_);
  records_.clear();
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
  if (done_ || !closed_ || !records_.empty()) return;
  done_ = true;
  if (file_ != nullptr) file_->Remove();
  file_.reset();
  if (wakeup_ != nullptr) wakeup_->Ring();
}

}  // namespace frostline::agent
