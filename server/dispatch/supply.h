// SPDX-License-Identifier: Apache-2.0
//
// File: supply.h
#ifndef FROSTLINE_SERVER_DISPATCH_SUPPLY_H_
#define FROSTLINE_SERVER_DISPATCH_SUPPLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/ledger/ledger.h"

namespace frostline::server {

// One study is asked for no more at a time, as a sampler would not know about
// them.
inline constexpr std::int64_t kMostProposalsAtOnce = 64;

struct Supply {
  StudyBook* book = nullptr;
  std::int64_t queued = 0;
  std::int64_t can_propose = 0;  // with those under way
  std::int64_t wanted = 0;       // by who waits or is expected

  bool used_up() const { return queued == 0 && wanted >= can_propose; }
};

// Sorts by priority, then fewer running trials, then age.
std::vector<Supply> FindSupplies(Ledger& ledger,
                                 WallMicros now) FROSTLINE_ON_LOOP;

bool MayServe(const WorkerEntry& worker, const StudyBook& book);

// Counts slots of workers that are about to ask, as one does whose trial has
// just ended. Proposals are prepared for them, so that they rarely wait. It is
// not thread-safe.
class ExpectedSlots {
 public:
  void Expect(const std::string& worker, std::int64_t slots, SteadyTime now);
  void Asked(const std::string& worker, std::int64_t slots);
  // Adds to `supplies` what those want who are expected still.
  void Count(Ledger& ledger, SteadyTime now,
             std::vector<Supply>& supplies) FROSTLINE_ON_LOOP;

  bool empty() const { return expected_.empty(); }
  void Clear() { expected_.clear(); }

 private:
  struct Expected {
    std::int64_t slots = 0;
    SteadyTime until{};
  };
  std::map<std::string, Expected> expected_;  // by worker
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_SUPPLY_H_
