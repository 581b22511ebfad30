// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/fair_share.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "study/freezing.h"

namespace frostline::server {
namespace {

double Seconds(SteadyTime at) {
  return std::chrono::duration<double>(at).count();
}

}  // namespace

void FairShare::Began(TrialKey trial, SteadyTime now) {
  Account& account = accounts_[trial.study];
  if (!account.began.emplace(trial.number, now).second) return;
  account.began_sum_s += Seconds(now);
}

void FairShare::Ended(TrialKey trial, SteadyTime now) {
  const auto found = accounts_.find(trial.study);
  if (found == accounts_.end()) return;
  Account& account = found->second;
  const auto began = account.began.find(trial.number);
  if (began == account.began.end()) return;
  const double ran_s = Seconds(now) - Seconds(began->second);
  account.began_sum_s -= Seconds(began->second);
  account.began.erase(began);
  // Sums of many differences drift, so an empty one is set to exactly zero.
  if (account.began.empty()) account.began_sum_s = 0.0;
  account.ended_s += ran_s;
  ++account.ended;
  ended_s_ += ran_s;
  ++ended_;
}

void FairShare::BeginLook() {
  ++look_;
  for (const auto& [pool, least_s] : std::exchange(least_s_, {})) {
    level_s_[pool] = least_s;
  }
}

double FairShare::Compete(storage::StudyKey study, const Pool& pool,
                          SteadyTime now) {
  Account& account = accounts_[study];
  if (account.look < look_ - 1) {
    const auto level = level_s_.find(pool);
    if (level != level_s_.end()) {
      account.lifted_s +=
          std::max(0.0, level->second - ServiceOf(account, now));
    }
  }
  account.look = look_;
  const double service_s = ServiceOf(account, now);
  const auto [least, is_first] = least_s_.emplace(pool, service_s);
  if (!is_first) least->second = std::min(least->second, service_s);
  return service_s;
}

double FairShare::TypicalOf(const Account& account) const {
  constexpr double kFirstGuess = 1.0;  // seconds; any will do
  const double of_all =
      ended_s_ > 0 ? ended_s_ / static_cast<double>(ended_) : kFirstGuess;
  return (account.ended_s + of_all) / static_cast<double>(account.ended + 1);
}

double FairShare::ServiceOf(const Account& account, SteadyTime now) const {
  const auto running = static_cast<double>(account.began.size());
  const double has_run_s = running * Seconds(now) - account.began_sum_s;
  return account.ended_s + account.lifted_s +
         std::max(running * TypicalOf(account), has_run_s);
}

double FairShare::TypicalOf(storage::StudyKey study) const {
  const auto found = accounts_.find(study);
  return TypicalOf(found == accounts_.end() ? Account() : found->second);
}

double FairShare::ServiceOf(storage::StudyKey study, SteadyTime now) const {
  const auto found = accounts_.find(study);
  return found == accounts_.end() ? 0.0 : ServiceOf(found->second, now);
}

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
