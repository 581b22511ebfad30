// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/door_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace frostline::server {
namespace {

constexpr std::size_t kNetworkBytes = 8;  // of an IPv6 address
constexpr std::uint32_t kLoopbackNet = 127;
constexpr char kLocal[] = "local";

std::string Numeric(int family, const void* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(family, bytes, text.data(), text.size()) == nullptr) return "?";
  return text.data();
}

PeerAddress OfIpv4(const in_addr& host, std::uint16_t port) {
  PeerAddress address;
  const std::string numeric = Numeric(AF_INET, &host);
  address.is_local = (ntohl(host.s_addr) >> 24) == kLoopbackNet;
  address.house = address.is_local ? kLocal : numeric;
  address.text = absl::StrCat("ipv4:", numeric, ":", port);
  return address;
}

PeerAddress OfIpv6(const in6_addr& host, std::uint16_t port) {
  in6_addr network{};
  std::memcpy(&network, &host, kNetworkBytes);
  PeerAddress address;
  address.is_local = IN6_IS_ADDR_LOOPBACK(&host);
  address.house = address.is_local ? kLocal : Numeric(AF_INET6, &network);
  address.text =
      absl::StrCat("ipv6:%5B", Numeric(AF_INET6, &host), "%5D:", port);
  return address;
}

}  // namespace

PeerAddress PeerAddressOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof(in));
    return OfIpv4(in.sin_addr, ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof(in));
    if (!IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      return OfIpv6(in.sin6_addr, ntohs(in.sin6_port));
    }
    in_addr host{};
    std::memcpy(&host, in.sin6_addr.s6_addr + 12, sizeof(host));
    return OfIpv4(host, ntohs(in.sin6_port));
  }
  return {.house = kLocal, .is_local = true, .text = "unix:"};
}

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
  // Everybody on this machine shares one house; the others must not suffer.
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

namespace {

constexpr Duration kBetweenLines = std::chrono::seconds(10);

}  // namespace

void DoorTally::NoteTurnedAway(DoorVerdict why) {
  switch (why) {
    case DoorVerdict::kWelcome:
      return;
    case DoorVerdict::kFull:
      ++counts_.full;
      total_.full.Add();
      return;
    case DoorVerdict::kAddressFull:
      ++counts_.address_full;
      total_.address_full.Add();
      return;
    case DoorVerdict::kTooFast:
      ++counts_.too_fast;
      total_.too_fast.Add();
      return;
    case DoorVerdict::kBarred:
      ++counts_.barred;
      total_.barred.Add();
      return;
  }
}

void DoorTally::NoteNoDescriptor() {
  ++counts_.no_descriptor;
  total_.no_descriptor.Add();
}

void DoorTally::NoteCut(FrameVerdict why) {
  if (why == FrameVerdict::kResets) {
    ++counts_.cut;
    total_.cut.Add();
    return;
  }
  frames_ = why;
  ++counts_.cut_for_frames;
  total_.cut_for_frames.Add();
}

void DoorTally::NoteEvicted() {
  ++counts_.evicted;
  total_.evicted.Add();
}

void DoorTally::LogIfDue(SteadyTime now, bool at_last) {
  const bool is_due =
      at_last || !logged_.has_value() || now >= *logged_ + kBetweenLines;
  if (!is_due || counts_ == Counts()) return;
  Log(LogLevel::kWarning, "turned_away",
      {{"door", door_},
       {"full", absl::StrCat(counts_.full)},
       {"address_full", absl::StrCat(counts_.address_full)},
       {"too_fast", absl::StrCat(counts_.too_fast)},
       {"barred", absl::StrCat(counts_.barred)},
       {"no_descriptor", absl::StrCat(counts_.no_descriptor)},
       {"cut_for_resets", absl::StrCat(counts_.cut)},
       {"cut_for_frames", absl::StrCat(counts_.cut_for_frames)},
       {"last_frames", NameOf(frames_)},
       {"evicted_idle", absl::StrCat(counts_.evicted)}});
  counts_ = Counts();
  logged_ = now;
}

bool ResetPolicy::IsFlood(const std::string& peer, SteadyTime since,
                          const StreamCounts& counts, SteadyTime now) {
  const auto [found, is_new] =
      looks_.try_emplace(peer, Look{.unanswered = 0, .at = since});
  Look& last = found->second;
  const std::int64_t unanswered = counts.started - counts.answered;
  const std::chrono::duration<double> passed = now - last.at;
  const double allowed = limits_.at_once + limits_.per_second * passed.count();
  const bool is_flood =
      static_cast<double>(unanswered - last.unanswered) > allowed;
  last = {.unanswered = unanswered, .at = now};
  return is_flood;
}

void ResetPolicy::NoteGone(const std::string& peer) { looks_.erase(peer); }

namespace {

// Each handshake that leaves reduces the weight of earlier ones by this factor.
constexpr double kFade = 0.98;
// With so few forgotten handshakes the network may just be slow.
constexpr double kFew = 8;

}  // namespace

void HandshakePace::NoteBegun(const std::string& peer, SteadyTime now) {
  under_way_[peer] = now;
}

void HandshakePace::NoteOver(const std::string& peer) {
  if (under_way_.erase(peer) == 0) return;
  ended_ = ended_ * kFade + 1;
  forgotten_ *= kFade;
}

void HandshakePace::Forget(SteadyTime now) {
  const SteadyTime before = now - Patience();
  const std::size_t forgotten = std::erase_if(
      under_way_,
      [before](const auto& handshake) { return handshake.second <= before; });
  for (std::size_t i = 0; i < forgotten; ++i) {
    forgotten_ = forgotten_ * kFade + 1;
    ended_ *= kFade;
  }
}

Duration HandshakePace::Patience() const {
  const bool is_siege = forgotten_ > kFew && forgotten_ > ended_;
  return is_siege ? limits_.little_patience : limits_.patience;
}

}  // namespace frostline::server
