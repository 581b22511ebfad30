// SPDX-License-Identifier: Apache-2.0
//
// File: fair_share.h
//
// Says which of several studies has had the least, so that it goes next (fair
// queueing: Demers, Keshav and Shenker, SIGCOMM 1989; start-time tags as in
// Goyal, Vin and Cheng, SIGCOMM 1996). The service of a study is the time in
// slots that its trials have taken or, while they run, will probably take:
//
//   service = ended_s + max(running * typical_s, sum of what runs has run)
//   typical_s = (ended_s + typical_s of all studies) / (ended + 1)
//
// A trial is charged when it begins, so slots that are given at one moment are
// shared too. Whoever competes anew starts level with the least of those that
// compete for the same workers: being idle saves nothing up, and nobody pays
// for what was used elsewhere.
//
//   a has run alone for 60 s when b comes: b is put to 60 s, and they take
//   turns; trials of a take 3 s and of b 1 s: b gets three for one of a
#ifndef FROSTLINE_SERVER_DISPATCH_FAIR_SHARE_H_
#define FROSTLINE_SERVER_DISPATCH_FAIR_SHARE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "server/ledger/lease_book.h"

namespace frostline::server {

// It is not thread-safe. Every call is O(log n).
class FairShare {
 public:
  void Began(TrialKey trial, SteadyTime now);
  // The trial runs no more, whatever became of it. Others are passed over.
  void Ended(TrialKey trial, SteadyTime now);

  // Whom a study competes with.
  struct Pool {
    int priority = 0;
    std::string labels = {};  // that workers must carry; as text
    friend auto operator<=>(const Pool&, const Pool&) = default;
  };
  // Studies that compete are named after each BeginLook(). The answer is the
  // study's service.
  void BeginLook();
  double Compete(storage::StudyKey study, const Pool& pool, SteadyTime now);

  double ServiceOf(storage::StudyKey study, SteadyTime now) const;
  double TypicalOf(storage::StudyKey study) const;

  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over) {
    std::erase_if(accounts_,
                  [&](const auto& entry) { return is_over(entry.first); });
  }
  void Clear() { *this = FairShare(); }

 private:
  struct Account {
    double ended_s = 0.0;
    double lifted_s = 0.0;  // what it was put forward, to be level
    std::int64_t ended = 0;
    std::map<std::int64_t, SteadyTime> began;  // by number, of what runs
    double began_sum_s = 0.0;
    std::int64_t look = -1;  // the last in which it competed
  };
  double TypicalOf(const Account& account) const;
  double ServiceOf(const Account& account, SteadyTime now) const;

  std::map<storage::StudyKey, Account> accounts_;
  std::map<Pool, double> level_s_;  // the least, when it was last looked at
  std::map<Pool, double> least_s_;  // in this look
  std::int64_t look_ = 0;
  double ended_s_ = 0.0;
  std::int64_t ended_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_FAIR_SHARE_H_
