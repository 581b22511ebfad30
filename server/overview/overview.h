// SPDX-License-Identifier: Apache-2.0
//
// File: overview.h
//
// What a page of metrics shows of the coordinator. Counts are read where they
// are. What only the loop knows is asked for, and is missing when the loop does
// not answer: then the page still shows that, and all the rest.
#ifndef FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_
#define FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/audit/audit_log.h"
#include "server/dispatch/dispatcher.h"
#include "server/importance/desk.h"
#include "server/ledger/ledger.h"
#include "server/ledger/upkeep.h"
#include "server/loop/commit_loop.h"
#include "server/metrics/page.h"
#include "server/notify/notifier.h"
#include "server/search/proposer.h"
#include "spans/exporter.h"

namespace frostline::server {

// Writes on a page of metrics what is known of the machine and of files.

// The files to look at.
struct HostFiles {
  std::string data_folder;  // empty: all is in memory
  std::string certificate;  // PEM; empty: none
  std::string authority;
};

// Looks at the files at each call, since they change while the coordinator
// runs. What cannot be read is left out.
void WriteHost(const HostFiles& files, const char* version, MetricsPage& page);

// Writes the counts of a coordinator that sends spans.
void WriteSpans(const spans::SpanCounts& counts, MetricsPage& page);

// What only the loop knows, copied at one moment for a page of metrics. The
// copy costs a microsecond for each study and worker; all that takes longer is
// done with the copy, on another thread.

// How many studies have a label of their own: open ones before ended ones, then
// the newest. All others are counted together as "other".
inline constexpr std::size_t kNamedStudies = 50;

// How many GPU models have a label of their own: those with the most GPUs. The
// loop tells a few more models apart, and never more than that, however many
// workers there are.
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
  GpuUses gpu_uses = {};  // of workers that have not gone
  std::int64_t audit_entries = 0;
  storage::DiskRoom disk = {};
};

LoopView LookAround(const Ledger& ledger, const Dispatcher& dispatcher,
                    const AuditLog& audit, const storage::DiskRoom& disk,
                    const Clock& clock) FROSTLINE_ON_LOOP;

// Any thread may call.
void Write(const LoopView& view, MetricsPage& page);

// A writer of metrics. It puts on a page what the coordinator's folders have
// counted, and has no counts of its own.
class Overview {
 public:
  // What the page is made from. Borrows all of it.
  struct RoomsSeen {
    CommitLoop& loop;
    const Ledger& ledger;
    const Upkeep& upkeep;
    const Dispatcher& dispatcher;
    const AuditLog& audit;
    const Proposer& proposer;
    const ImportanceDesk& importance;
    const Notifier& notifier;
    const Clock& clock;
  };
  // How long a page waits for the loop.
  static constexpr Duration kPatience = std::chrono::seconds(2);

  explicit Overview(const RoomsSeen& rooms) : rooms_(rooms) {}

  // Adds everything to the page. Any thread but the loop's may call; it blocks
  // for up to kPatience.
  void Measure(MetricsPage& page) const;

 private:
  const RoomsSeen rooms_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_
