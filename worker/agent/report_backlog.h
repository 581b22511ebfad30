// SPDX-License-Identifier: Apache-2.0
//
// File: report_backlog.h
//
// The back of an outbox: reports that memory does not hold, in order, which are
// read again from the spool when it is their turn. What the disk refuses is
// kept unspooled, up to 4 MiB, and tried again with the next record; beyond
// that a report is dropped, but never its checkpoint. What the disk loses costs
// the damaged record alone. The log says each of these. It is not thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_REPORT_BACKLOG_H_
#define FROSTLINE_WORKER_AGENT_REPORT_BACKLOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "worker/agent/spool.h"

namespace frostline::agent {

class ReportBacklog {
 public:
  // The first `unread` reports of `file`, which is null where there is no disk,
  // are still to be sent.
  ReportBacklog(std::string trial, std::unique_ptr<SpoolFile> file,
                std::int64_t unread);

  bool empty() const { return unread_ == 0 && unspooled_.empty(); }
  std::size_t bytes_in_memory() const { return unspooled_bytes_; }

  // Writes it into the file, behind what was refused before, so that the file
  // keeps the order. The answer is false where it cannot be written.
  bool Spool(const SpoolRecord& record);
  // What was spooled last is held elsewhere. REQUIRES: empty().
  void SkipSpooled();
  void Push(const v1::ReportRequest& report, bool is_spooled);
  // Returns the next one; nothing where none is left.
  std::optional<SpoolRecord> TakeNext();
  void Forget();

  void RemoveFile();
  // Nobody looks in `folder` for more to deliver.
  void MoveFile(const std::string& folder);

 private:
  struct Unspooled {
    SpoolRecord record;
    std::size_t bytes;
  };
  bool SpoolRefused();
  // Of a report that is dropped.
  void KeepCheckpoint(const v1::ReportRequest& report);
  std::optional<SpoolRecord> ReadNext();
  void PopUnspooled();

  const std::string trial_;
  std::unique_ptr<SpoolFile> file_;
  std::int64_t unread_;
  std::deque<Unspooled> unspooled_;
  std::size_t unspooled_bytes_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_REPORT_BACKLOG_H_
