// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/report_backlog.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/agent/held_records.h"

namespace frostline::agent {
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

}  // namespace frostline::agent
