// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_affinity.h
//
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
#ifndef FROSTLINE_SERVER_DISPATCH_PREFIX_AFFINITY_H_
#define FROSTLINE_SERVER_DISPATCH_PREFIX_AFFINITY_H_

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
#include "server/wire/spec_check.h"

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_DISPATCH_PREFIX_AFFINITY_H_
