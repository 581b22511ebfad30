// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/fair_share.h"

#include <algorithm>
#include <utility>

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
  // Sums of many differences drift; an empty one is exactly nothing.
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

}  // namespace frostline::server
