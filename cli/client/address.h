// SPDX-License-Identifier: Apache-2.0
//
// File: address.h
#ifndef FROSTLINE_CLI_CLIENT_ADDRESS_H_
#define FROSTLINE_CLI_CLIENT_ADDRESS_H_

#include <string>

namespace frostline::cli {

// Wants HOST:PORT or unix:PATH.
bool IsAddress(const std::string& address);

// Returns "gpu-head.lan" of "gpu-head.lan:7443", "::1" of "[::1]:7443".
std::string HostOf(const std::string& address);

// Makes the name of a context of an address: "gpu-head.lan" of
// "GPU-Head.lan:7443", "local" of a Unix socket. It may be no id.
std::string NameOfAddress(const std::string& address);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_ADDRESS_H_
