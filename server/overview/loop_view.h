// SPDX-License-Identifier: Apache-2.0
//
// File: loop_view.h
//
// What only the loop knows, copied at one moment for a page of metrics. The
// look costs a microsecond for each study and worker; all that takes longer is
// done with the copy, on another thread.
#ifndef FROSTLINE_SERVER_OVERVIEW_LOOP_VIEW_H_
#define FROSTLINE_SERVER_OVERVIEW_LOOP_VIEW_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/audit/audit_log.h"
#include "server/dispatch/dispatcher.h"
#include "server/ledger/ledger.h"
#include "server/metrics/page.h"

namespace frostline::server {

// Of so many studies each has a label of its own: open ones before ended ones,
// then the newest. All others are one, "other".
inline constexpr std::size_t kNamedStudies = 50;

// So many models of GPUs have one: those with the most GPUs. The loop tells
// apart a few more, and no crowd of workers makes it tell apart more yet.
inline constexpr std::size_t kNamedModels = 16;
inline constexpr std::size_t kKnownModels = 256;

struct LoopView {
  struct OpenStudy {
    std::string label;
    std::shared_ptr<const CheckedStudy> checked;
    v1::TrialCounts counts;
  };
  using ByState = std::array<std::int64_t, 8>;

  ByState studies{};  // by StudyState
  std::int64_t unreadable = 0;
  ByState trials{};                                  // by TrialState
  std::map<std::string, ByState> study_trials = {};  // by label
  std::vector<OpenStudy> open = {};
  double oldest_queued_s = 0;
  std::int64_t leases = 0;
  std::int64_t parked = 0;
  std::array<std::int64_t, 5> workers{};  // by WorkerState
  std::int64_t slots = 0;
  std::int64_t slots_busy = 0;
  std::int64_t gpus = 0;
  GpuUses gpu_uses = {};  // of workers that are not gone
  std::int64_t audit_entries = 0;
  storage::DiskRoom disk = {};
};

LoopView LookAround(const Ledger& ledger, const Dispatcher& dispatcher,
                    const AuditLog& audit, const storage::DiskRoom& disk,
                    const Clock& clock) FROSTLINE_ON_LOOP;

// Any thread may call.
void Write(const LoopView& view, MetricsPage& page);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OVERVIEW_LOOP_VIEW_H_
