// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/door_policy.h"

#include <algorithm>

namespace frostline::server {
namespace {

// Sixteen readers of the database hold three descriptors each.
constexpr std::size_t kMostReserved = 256;
constexpr std::size_t kLeastReserved = 16;

DoorLimits Completed(DoorLimits limits) {
  limits.connections = std::max<std::size_t>(limits.connections, 1);
  if (limits.local == 0) {
    limits.local = std::max<std::size_t>(limits.connections * 3 / 4, 1);
  }
  return limits;
}

}  // namespace

std::size_t ConnectionsFor(std::size_t limit, std::size_t open) {
  const std::size_t reserve =
      std::clamp(limit / 4, kLeastReserved, kMostReserved);
  return limit > open + reserve ? limit - open - reserve : 1;
}

DoorPolicy::DoorPolicy(const DoorLimits& limits) : limits_(Completed(limits)) {}

DoorVerdict DoorPolicy::Judge(const PeerAddress& from, SteadyTime now) const {
  if (connections_ >= limits_.connections) return DoorVerdict::kFull;
  const auto found = houses_.find(from.house);
  if (found == houses_.end()) return DoorVerdict::kWelcome;
  const House& house = found->second;
  if (now < house.barred_until) return DoorVerdict::kBarred;
  const std::size_t most = from.is_local ? limits_.local : limits_.per_address;
  if (house.connections >= most) return DoorVerdict::kAddressFull;
  if (TokensOf(house, now) < 1) return DoorVerdict::kTooFast;
  return DoorVerdict::kWelcome;
}

void DoorPolicy::NoteAdmitted(const PeerAddress& from, SteadyTime now) {
  House& house = Remember(from, now);
  house.tokens = TokensOf(house, now) - 1;
  house.counted = now;
  ++house.connections;
  ++connections_;
}

void DoorPolicy::NoteGone(const PeerAddress& from) {
  const auto found = houses_.find(from.house);
  if (found == houses_.end() || found->second.connections == 0) return;
  --found->second.connections;
  --connections_;
}

void DoorPolicy::NoteCut(const PeerAddress& from, SteadyTime now) {
  // Everybody on this machine shares one house: others are not to suffer.
  if (from.is_local) return;
  Remember(from, now).barred_until = now + limits_.barred;
}

void DoorPolicy::Forget(SteadyTime now) {
  std::erase_if(houses_, [&](const auto& entry) {
    const House& house = entry.second;
    return house.connections == 0 && now >= house.barred_until &&
           TokensOf(house, now) >= RateOf(house).at_once;
  });
}

const NewcomerRate& DoorPolicy::RateOf(const House& house) const {
  return house.is_local ? limits_.local_rate : limits_.rate;
}

double DoorPolicy::TokensOf(const House& house, SteadyTime now) const {
  const NewcomerRate& rate = RateOf(house);
  const std::chrono::duration<double> since = now - house.counted;
  return std::min(rate.at_once, house.tokens + since.count() * rate.per_second);
}

DoorPolicy::House& DoorPolicy::Remember(const PeerAddress& from,
                                        SteadyTime now) {
  const auto [found, is_new] = houses_.try_emplace(from.house);
  House& house = found->second;
  if (is_new) {
    house.is_local = from.is_local;
    house.tokens = RateOf(house).at_once;
    house.counted = now;
  }
  return house;
}

}  // namespace frostline::server
