// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/prefix_affinity.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "study/freezing.h"

namespace frostline::server {

std::optional<Boundary> BoundaryOf(const CheckedStudy& study,
                                   const Point& point) {
  const int depth = FrozenPrefixOf(study.space, point);
  if (depth < 1) return std::nullopt;
  const std::string& model = study.spec.model().id();
  return Boundary{std::hash<std::string>()(absl::StrCat(
                      model.size(), ":", model, study.spec.data().id())),
                  depth};
}

std::size_t PrefixAffinity::Choose(storage::StudyKey study,
                                   const std::string& node,
                                   std::span<const AlikeTrial> alike) const {
  const auto passed = passes_.find({study, alike.front().number});
  if (passed != passes_.end() && passed->second >= kMostPasses) return 0;
  std::size_t best = 0;
  int best_worth = -1;
  for (std::size_t i = 0; i < alike.size(); ++i) {
    int worth = 1;
    if (alike[i].boundary.has_value()) {
      const std::set<std::string>* const holders =
          HoldersOf(*alike[i].boundary);
      if (holders != nullptr) worth = holders->contains(node) ? 2 : 0;
    }
    if (worth <= best_worth) continue;
    best = i;
    best_worth = worth;
  }
  return best;
}

void PrefixAffinity::NoteGiven(storage::StudyKey study, const std::string& node,
                               std::span<const AlikeTrial> alike,
                               std::size_t chosen) {
  passes_.erase({study, alike[chosen].number});
  if (chosen > 0) ++passes_[{study, alike.front().number}];
  if (alike[chosen].boundary.has_value()) {
    NoteHeld(node, *alike[chosen].boundary);
  }
}

const std::set<std::string>* PrefixAffinity::HoldersOf(
    const Boundary& boundary) const {
  const auto found = holders_.find(boundary);
  return found == holders_.end() ? nullptr : &found->second;
}

void PrefixAffinity::NoteHeld(const std::string& node,
                              const Boundary& boundary) {
  std::list<Boundary>& held = held_[node];
  held.remove(boundary);
  held.push_front(boundary);
  holders_[boundary].insert(node);
  if (held.size() <= kMostHeld) return;
  Drop(node, held.back());
  held.pop_back();
}

void PrefixAffinity::Drop(const std::string& node, const Boundary& boundary) {
  const auto found = holders_.find(boundary);
  found->second.erase(node);
  if (found->second.empty()) holders_.erase(found);
}

void PrefixAffinity::ForgetNode(const std::string& node) {
  const auto found = held_.find(node);
  if (found == held_.end()) return;
  for (const Boundary& boundary : found->second) Drop(node, boundary);
  held_.erase(found);
}

std::size_t PrefixAffinity::size() const {
  std::size_t size = 0;
  for (const auto& [node, held] : held_) size += held.size();
  return size;
}

}  // namespace frostline::server
