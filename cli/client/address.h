// SPDX-License-Identifier: Apache-2.0
//
// File: address.h
#ifndef FROSTLINE_CLI_CLIENT_ADDRESS_H_
#define FROSTLINE_CLI_CLIENT_ADDRESS_H_

#include <string>

namespace frostline::cli {

// Returns whether `address` has the form HOST:PORT or unix:PATH.
bool IsAddress(const std::string& address);

// Returns the host of an address: "gpu-head.lan" for "gpu-head.lan:7443", "::1"
// for "[::1]:7443".
std::string HostOf(const std::string& address);

// Suggests a name for the context of an address: "gpu-head.lan" for
// "GPU-Head.lan:7443", "local" for a Unix socket. The result may be no valid
// id.
std::string NameOfAddress(const std::string& address);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_ADDRESS_H_
