// SPDX-License-Identifier: Apache-2.0
#include "cli/client/address.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace frostline::cli {

bool IsAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return address.size() > 5;
  const std::size_t colon = address.rfind(':');
  int port = 0;
  return colon != std::string::npos && colon > 0 &&
         address.find_first_of(" /#") == std::string::npos &&
         absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 &&
         port <= 65535;
}

std::string HostOf(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  const bool has_brackets = host.size() > 2 && host.front() == '[';
  return has_brackets ? host.substr(1, host.size() - 2) : host;
}

std::string NameOfAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return "local";
  std::string name;
  for (const char c : HostOf(address)) {
    const bool is_word = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (is_word || c == '.') {
      name += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!name.empty()) {
      name += '-';
    }
  }
  return name;
}

}  // namespace frostline::cli
