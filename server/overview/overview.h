// SPDX-License-Identifier: Apache-2.0
//
// File: overview.h
//
// Puts on a page of metrics what the rooms behind the wire have counted. Counts
// are read where they are; what the loop alone knows is asked for, and missing
// where it does not answer: the page of a coordinator whose disk hangs says
// that, and all the rest.
#ifndef FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_
#define FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_

#include "server/audit/audit_log.h"
#include "server/dispatch/dispatcher.h"
#include "server/importance/desk.h"
#include "server/ledger/ledger.h"
#include "server/ledger/upkeep.h"
#include "server/loop/commit_loop.h"
#include "server/metrics/page.h"
#include "server/notify/notifier.h"
#include "server/search/proposer.h"

namespace frostline::server {

class Overview {
 public:
  // It borrows all of them.
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
  // So long a page waits for the loop.
  static constexpr Duration kPatience = std::chrono::seconds(2);

  explicit Overview(const RoomsSeen& rooms) : rooms_(rooms) {}

  // Any thread but the loop's may call; it blocks up to kPatience.
  void Measure(MetricsPage& page) const;

 private:
  const RoomsSeen rooms_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OVERVIEW_OVERVIEW_H_
