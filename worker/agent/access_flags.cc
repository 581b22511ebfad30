// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/access_flags.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"

namespace frostline::agent {
namespace {

Flag FileFlag(const std::string& name, const std::string& help,
              const std::string& variable, std::string* path) {
  Flag flag = TextFlag(name, "FILE", help, path);
  flag.variable = variable;
  return flag;
}

std::vector<Flag> FileFlags(tls::AccessFiles* files) {
  return {FileFlag("--tls-ca", "Who signed the coordinator's certificate",
                   "FROSTLINE_TLS_CA", &files->tls.ca),
          FileFlag("--tls-cert", "This worker's certificate",
                   "FROSTLINE_TLS_CERT", &files->tls.certificate),
          FileFlag("--tls-key", "Its key, of mode 0600", "FROSTLINE_TLS_KEY",
                   &files->tls.key),
          FileFlag("--token-file", "Holds a token, of mode 0600",
                   "FROSTLINE_TOKEN_FILE", &files->token)};
}

Flag ConnectFlag(AgentOptions* options) {
  Flag flag =
      TextFlag("--connect", "HOST:PORT", "The coordinator", &options->connect);
  flag.variable = "FROSTLINE_CONNECT";
  flag.take = [options, take = flag.take](const std::string& text) {
    options->connect_is_given = true;
    return take(text);
  };
  return flag;
}

Flag JoinFlag(SecretString* join) {
  return {"--join", "LINE|FILE|-",
          "An invitation (`frostline worker invite`), in a file of mode 0600, "
          "on standard input, or itself; for the first start",
          [join](const std::string& text) {
            *join = SecretString(text);
            return absl::OkStatus();
          }};
}

}  // namespace

std::vector<Flag> AccessFlags(bool joins, AgentOptions* options) {
  std::vector<Flag> flags = FileFlags(&options->access);
  flags.insert(flags.begin(), {ConnectFlag(options), JoinFlag(&options->join)});
  if (joins) {
    for (Flag& flag : flags) flag.variable.clear();
  }
  return flags;
}

bool HasJoin(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) {
    return absl::StartsWith(word, "--join");
  });
}

absl::Status CheckAccess(const AgentOptions& options) {
  const bool twice = options.connect_is_given || !options.access.tls.empty() ||
                     !options.access.token.empty();
  if (options.join.empty() || !twice) return absl::OkStatus();
  return BadFlag("--join", "says where the coordinator is, and who is trusted",
                 "leave --connect, --tls-… and --token-file away");
}

}  // namespace frostline::agent
