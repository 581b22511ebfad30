// SPDX-License-Identifier: Apache-2.0
//
// File: fair_share.h
//
// Decides which of several studies goes next: the one that has had the least
// service (fair queueing: Demers, Keshav and Shenker, SIGCOMM 1989; start-time
// tags as in Goyal, Vin and Cheng, SIGCOMM 1996). A study's service is the slot
// time that its trials have taken or, while they run, will probably take:
//
//   service = ended_s + max(running * typical_s, sum of what runs has run)
//   typical_s = (ended_s + typical_s of all studies) / (ended + 1)
//
// A trial is charged when it begins, so slots that are given at the same moment
// are shared too. A study that begins to compete starts level with the least
// served of those that compete for the same workers. So an idle study saves
// nothing up, and nobody pays for what was used elsewhere.
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
#include "server/ledger/worker_book.h"
#include "server/wire/spec.h"

namespace frostline::server {

// The service of all studies. Not thread-safe. Every call is O(log n).
class FairShare {
 public:
  void Began(TrialKey trial, SteadyTime now);
  // Notes that the trial no longer runs, whatever became of it. Trials that
  // were never noted as begun are ignored.
  void Ended(TrialKey trial, SteadyTime now);

  // The workers for which a study competes.
  struct Pool {
    int priority = 0;
    std::string labels = {};  // that workers must carry, as text
    friend auto operator<=>(const Pool&, const Pool&) = default;
  };
  // Begins a look. After it, name every study that competes; the result is the
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
    double lifted_s = 0.0;  // what was added to make it level with others
    std::int64_t ended = 0;
    std::map<std::int64_t, SteadyTime> began;  // running trials, by number
    double began_sum_s = 0.0;
    std::int64_t look = -1;  // the last look in which it competed
  };
  double TypicalOf(const Account& account) const;
  double ServiceOf(const Account& account, SteadyTime now) const;

  std::map<storage::StudyKey, Account> accounts_;
  std::map<Pool, double> level_s_;  // the least service, when last looked at
  std::map<Pool, double> least_s_;  // the least service in this look
  std::int64_t look_ = 0;
  double ended_s_ = 0.0;
  std::int64_t ended_ = 0;
};

// Decides which of several queued trials a node is given, when these may change
// places. The output of a frozen prefix is computed once on a node for each
// boundary (model, data and depth). From what was granted it is known which
// node holds which, and a node is given the first trial
//
//   whose boundary it holds; else
//   that has none, or one that nobody holds; else
//   of all
//
// The trial at the head is passed over kMostPasses times at most. What is known
// may be wrong, since nodes drop outputs: then a boundary is computed once
// more.
//
//   queue depth 4, 2, 2; a holds 2 and asks: it gets the second

// Where a frozen prefix ends, for one model and data set.
struct Boundary {
  std::uint64_t of = 0;  // tells model and data apart
  int depth = 0;
  friend auto operator<=>(const Boundary&, const Boundary&) = default;
};

// Returns nothing when no layer is part of a frozen prefix.
std::optional<Boundary> BoundaryOf(const CheckedStudy& study,
                                   const Point& point);

// A queued trial, and its boundary if it has one.
struct AlikeTrial {
  std::int64_t number = 0;
  std::optional<Boundary> boundary;
};

// Which node holds which boundary. Not thread-safe. Choose() is O(trials log
// n), all else O(log n).
class PrefixAffinity {
 public:
  static constexpr std::size_t kWindow = 16;  // trials to choose from
  static constexpr int kMostPasses = 4;
  static constexpr std::size_t kMostHeld = 64;  // for each node; the newest

  // Returns the place in `alike` of the trial to give. REQUIRES: `alike` is in
  // the order of the queue and not empty.
  std::size_t Choose(storage::StudyKey study, const std::string& node,
                     std::span<const AlikeTrial> alike) const;
  // Notes that this trial was given: the node has its boundary or computes it.
  void NoteGiven(storage::StudyKey study, const std::string& node,
                 std::span<const AlikeTrial> alike, std::size_t chosen);

  // Returns the nodes that hold the boundary, or null.
  const std::set<std::string>* HoldersOf(const Boundary& boundary) const;

  void ForgetNode(const std::string& node);
  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over) {
    std::erase_if(
        passes_, [&](const auto& entry) { return is_over(entry.first.study); });
  }
  // Returns how many boundaries the nodes are remembered to hold.
  std::size_t size() const;

 private:
  void NoteHeld(const std::string& node, const Boundary& boundary);
  void Drop(const std::string& node, const Boundary& boundary);

  std::map<std::string, std::list<Boundary>> held_;  // the newest first
  std::map<Boundary, std::set<std::string>> holders_;
  std::map<TrialKey, int> passes_;  // of the trial at the head of a queue
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_FAIR_SHARE_H_
