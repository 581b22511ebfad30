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

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "server/ledger/lease_book.h"
#include "server/wire/spec.h"

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

// Which of the queued trials that might as well change places a node is given.
// What a frozen prefix gives for texts is computed once on a node (a boundary:
// model, data and depth). From what was granted it is remembered who holds
// which, and a node is given the first trial
//
//   whose boundary it holds; else
//   that has none, or one that nobody holds; else
//   of all
//
// The first of all is passed over kMostPasses times at most. What is remembered
// may be wrong, as stores forget: then a boundary is computed once more.
//
//   queue depth 4, 2, 2; a holds 2 and asks: it gets the second

struct Boundary {
  std::uint64_t of = 0;  // tells model and data apart
  int depth = 0;
  friend auto operator<=>(const Boundary&, const Boundary&) = default;
};

// Returns nothing where no layer is part of a frozen prefix.
std::optional<Boundary> BoundaryOf(const CheckedStudy& study,
                                   const Point& point);

// A queued trial; `boundary` as above.
struct AlikeTrial {
  std::int64_t number = 0;
  std::optional<Boundary> boundary;
};

// It is not thread-safe. Choose() is O(trials log n), all else O(log n).
class PrefixAffinity {
 public:
  static constexpr std::size_t kWindow = 16;  // trials to choose from
  static constexpr int kMostPasses = 4;
  static constexpr std::size_t kMostHeld = 64;  // by a node; the newest

  // Returns the place of the trial to give. REQUIRES: `alike` is in the order
  // of the queue and not empty.
  std::size_t Choose(storage::StudyKey study, const std::string& node,
                     std::span<const AlikeTrial> alike) const;
  // It was given: the node computes its boundary, or has it.
  void NoteGiven(storage::StudyKey study, const std::string& node,
                 std::span<const AlikeTrial> alike, std::size_t chosen);

  // Returns the nodes that hold it, or null.
  const std::set<std::string>* HoldersOf(const Boundary& boundary) const;

  void ForgetNode(const std::string& node);
  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over) {
    std::erase_if(
        passes_, [&](const auto& entry) { return is_over(entry.first.study); });
  }
  // Counts what nodes are remembered to hold.
  std::size_t size() const;

 private:
  void NoteHeld(const std::string& node, const Boundary& boundary);
  void Drop(const std::string& node, const Boundary& boundary);

  std::map<std::string, std::list<Boundary>> held_;  // the newest first
  std::map<Boundary, std::set<std::string>> holders_;
  std::map<TrialKey, int> passes_;  // of the first in a queue
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_FAIR_SHARE_H_
