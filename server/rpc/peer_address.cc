// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

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

}  // namespace frostline::server
