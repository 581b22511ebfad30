// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outbox.h"

#include <utility>

#include "base/log.h"

namespace frostline::agent {
namespace {

bool IsReport(const SpoolRecord& record) {
  return std::holds_alternative<v1::ReportRequest>(record);
}

// What the coordinator takes at once, and no more than a trial says at once.
constexpr int kMostMeasurements = 1000;
constexpr std::size_t kMostBytes = std::size_t{256} << 10;

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
  closed_ = !IsReport(record);
  // The front may be on its way.
  const bool waits = records_.size() > 1;
  const std::size_t bytes = BytesOf(record);
  if (waits && last_bytes_ + bytes <= kMostBytes &&
      Append(record, records_.back())) {
    last_bytes_ += bytes;
    return;
  }
  records_.push_back(record);
  last_bytes_ = bytes;
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

bool Outbox::FrontIsEnding() const {
  const MutexLock lock(&mutex_);
  return !done_ && !records_.empty() && !IsReport(records_.front());
}

bool Outbox::SplitFront() {
  const MutexLock lock(&mutex_);
  if (records_.empty() || !IsReport(records_.front())) return false;
  const auto whole = std::get<v1::ReportRequest>(records_.front());
  if (whole.measurements_size() < 2) return false;
  records_.pop_front();
  v1::ReportRequest one = whole;
  for (int i = whole.measurements_size() - 1; i >= 0; --i) {
    one.clear_measurements();
    *one.add_measurements() = whole.measurements(i);
    records_.push_front(one);
    one.clear_checkpoint();  // the last one has it
  }
  return true;
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
