// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/join_source.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tls/private_file.h"

namespace frostline::agent {
namespace {

constexpr char kFlag[] = "--join";
constexpr std::size_t kLongestLine = 4096;

bool IsPath(const std::string& given) {
  return given.find('/') != std::string::npos ||
         access(given.c_str(), F_OK) == 0;
}

std::string FirstLine(std::istream& input) {
  std::string line;
  for (char c = 0; line.size() < kLongestLine && input.get(c) && c != '\n';) {
    line += c;
  }
  return line;
}

// All of it where no @ says where the token ends.
void Wipe(char* text) {
  if (std::strcmp(text, "-") == 0 || IsPath(text)) return;
  const char* const at = std::strrchr(text, '@');
  const std::size_t size =
      at == nullptr ? std::strlen(text) : static_cast<std::size_t>(at - text);
  std::memset(text, '*', size);
}

}  // namespace

absl::StatusOr<tls::JoinLine> ReadJoinLine(const SecretString& given,
                                           std::istream& input) {
  if (given.Reveal() == "-") return tls::ParseJoinLine(FirstLine(input));
  if (!IsPath(given.Reveal())) return tls::ParseJoinLine(given.Reveal());
  ASSIGN_OR_RETURN(const SecretString text,
                   tls::ReadPrivateFile(given.Reveal(), kFlag));
  return tls::ParseJoinLine(text.Reveal());
}

void HideJoinLine(int argc, char** argv) {
  const std::string_view flag = kFlag;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == flag && i + 1 < argc) Wipe(argv[i + 1]);
    if (word.substr(0, flag.size()) == flag && word.size() > flag.size() &&
        word[flag.size()] == '=') {
      Wipe(argv[i] + flag.size() + 1);
    }
  }
}

}  // namespace frostline::agent
