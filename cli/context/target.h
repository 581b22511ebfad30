// SPDX-License-Identifier: Apache-2.0
//
// File: target.h
//
// Which coordinator a command talks to, and as whom. The first of these that is
// said names it:
//
//   --connect, --context, FROSTLINE_CONNECT, FROSTLINE_CONTEXT,
//   a project's file, the user's file (configuration.h),
//   the current context, 127.0.0.1:7070
//
// A context brings its own token and CA, and they go to no other address; so
// does the user's file. Flags stand before these, and the environment too
// unless --context is given. A project's file may be a stranger's: a
// coordinator that it names gets no credentials of the environment.
#ifndef FROSTLINE_CLI_CONTEXT_TARGET_H_
#define FROSTLINE_CLI_CONTEXT_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context_store.h"
#include "tls/credentials.h"

namespace frostline::cli {

inline constexpr char kUsualConnect[] = "127.0.0.1:7070";
// What Target::why is then.
inline constexpr char kNobodyNames[] = "nothing names another";

// What flags say, or the environment; what is empty is not said.
struct Wish {
  std::string connect;
  std::string context;
  tls::AccessFiles access;
};

// The same of a file; `why` is "FILE:LINE" of what names the coordinator.
struct FileWish {
  Wish wish = {};
  std::string why = {};
};

struct FileWishes {
  FileWish project = {};  // its access is not looked at
  FileWish user = {};
};

struct Target {
  std::string connect;
  tls::AccessFiles access;
  std::string context;  // its name; empty: it is of none
  std::string why;      // "by --connect", "the current context"
};

Wish WishOfEnvironment();

// Reads no context where none is needed, so a damaged one hinders nobody who
// names an address. --connect beside --context is REQUEST_INVALID.
absl::StatusOr<Target> ChooseTarget(const Wish& flags, const Wish& environment,
                                    const ContextStore& contexts,
                                    const FileWishes& files = {});

// Says "gpu-head.lan:7443, context lab (the current one)".
std::string DescribeTarget(const Target& target);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_TARGET_H_
