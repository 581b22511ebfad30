// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/held_records.h"

#include <utility>

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

}  // namespace frostline::agent
