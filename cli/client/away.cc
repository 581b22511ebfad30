// SPDX-License-Identifier: Apache-2.0
#include "cli/client/away.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "proto/wire_error.h"
#include "tls/access.h"

namespace frostline::cli {
namespace {

// Where `serve` listens and commands look when nobody says otherwise.
constexpr char kUsual[] = "127.0.0.1:7070";
constexpr std::size_t kMostSaid = 200;

struct Known {
  const char* words;   // of gRPC or the system
  const char* before;  // the address
  const char* behind;
};

constexpr Known kKnown[] = {
    {"Connection refused", "nothing listens at ", ""},
    {"No such file or directory", "there is no socket at ", ""},
    {"DNS resolution failed", "", ": there is no machine of this name"},
    {"No route to host", "no way leads to ", ""},
    {"Network is unreachable", "no way leads to ", ""},
    {"Connection reset", "", " has broken off the connection"},
    {"Socket closed", "", " has broken off the connection"},
    {"timed out", "", " has not answered in time"},
    {"Timeout", "", " has not answered in time"},
    {"Deadline", "", " has not answered in time"},
};

std::string Cause(const std::string& address, const std::string& said) {
  for (const Known& known : kKnown) {
    if (absl::StrContains(said, known.words)) {
      return absl::StrCat(known.before, address, known.behind);
    }
  }
  return absl::StrCat("no coordinator answers at ", address, " (",
                      proto::CleanText(said, kMostSaid), ")");
}

// One that speaks TLS alone breaks off what comes in plaintext.
bool IsBrokenOff(const std::string& said) {
  return absl::StrContains(said, "Connection reset") ||
         absl::StrContains(said, "Socket closed");
}

// One cannot be started from here on another machine.
std::string Fix(const std::string& address, const std::string& said) {
  const char* const other = "name another with --connect HOST:PORT";
  if (IsBrokenOff(said)) {
    return absl::StrCat("if it speaks TLS alone, give its CA: --tls-ca FILE; "
                        "else see that it runs, or ",
                        other);
  }
  if (!tls::IsLocalAddress(address)) {
    return absl::StrCat("see that it runs there, or ", other);
  }
  const bool is_usual = address == kUsual || address == "localhost:7070";
  return absl::StrCat("start one with `frostline serve --data frost",
                      is_usual ? "" : " --listen ", is_usual ? "" : address,
                      "`, or ", other);
}

}  // namespace

absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said) {
  return MakeError(ErrorId::kCoordinatorAway, Cause(address, said),
                   Fix(address, said));
}

}  // namespace frostline::cli
