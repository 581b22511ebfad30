// SPDX-License-Identifier: Apache-2.0
#include "cli/client/away.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "proto/wire_error.h"
#include "tls/credentials.h"

namespace frostline::cli {
namespace {

// Where `serve` listens and commands look when nobody says otherwise.
constexpr char kUsual[] = "127.0.0.1:7070";
constexpr std::size_t kMostSaid = 200;

constexpr char kBrokenOff[] = " has broken off the connection";

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
    {"Connection reset", "", kBrokenOff},
    {"Socket closed", "", kBrokenOff},
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
bool MaySpeakTls(const std::string& address, const std::string& cause) {
  return absl::EndsWith(cause, kBrokenOff) &&
         !absl::StartsWith(address, "unix:");
}

// One cannot be started from here on another machine.
std::string Fix(const std::string& address, const std::string& cause) {
  const char* const other = "name another with --connect HOST:PORT";
  const char* const by_tls =
      MaySpeakTls(address, cause)
          ? "if it speaks TLS alone, give its CA, --tls-ca FILE; else "
          : "";
  if (!tls::IsLocalAddress(address)) {
    return absl::StrCat(by_tls, "see that it runs there, or ", other);
  }
  const bool is_usual = address == kUsual || address == "localhost:7070";
  return absl::StrCat(by_tls, "start one with `frostline serve --data frost",
                      is_usual ? "" : " --listen ", is_usual ? "" : address,
                      "`, or ", other);
}

}  // namespace

absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said) {
  const std::string cause = Cause(address, said);
  return MakeError(ErrorId::kCoordinatorAway, cause, Fix(address, cause));
}

}  // namespace frostline::cli
