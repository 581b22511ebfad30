// SPDX-License-Identifier: Apache-2.0
//
// File: held_records.h
//
// The front of an outbox: the records that are sent next, in memory. Reports
// that wait one behind the other become one, of 1,000 measurements and 256 KiB
// at most. It is not thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_HELD_RECORDS_H_
#define FROSTLINE_WORKER_AGENT_HELD_RECORDS_H_

#include <cstddef>
#include <deque>

#include "worker/agent/spool.h"

namespace frostline::agent {

bool IsReport(const SpoolRecord& record);
std::size_t BytesOf(const SpoolRecord& record);

class HeldRecords {
 public:
  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }
  std::size_t bytes() const { return bytes_; }
  // Half a MiB of reports is held, and one at least.
  bool HasRoomFor(const SpoolRecord& report) const;

  // Joins it to the last one, if that is not one of the first `sent`.
  void Add(const SpoolRecord& record, std::size_t sent);
  // These REQUIRE that it is not empty.
  const SpoolRecord& front() const { return held_.front().record; }
  void Pop();
  void ReplaceFront(const SpoolRecord& record);
  // Takes a report that was put together apart again, one measurement each. The
  // answer is false where there is nothing to take apart.
  bool SplitFront();

  // From now on a report is its checkpoint alone, and one without is dropped.
  void EndCurve();
  // Drops the reports before an ending.
  void ForgetReports();

 private:
  struct Held {
    SpoolRecord record;
    std::size_t bytes;
  };
  void PushFront(const SpoolRecord& record);

  std::deque<Held> held_;
  std::size_t bytes_ = 0;
  bool curve_ended_ = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_HELD_RECORDS_H_
