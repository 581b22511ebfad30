// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/command_page.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kWidth = 79;
constexpr std::size_t kMaxWord = 100;

// "  --name VALUE      help, over as many lines as it takes [what holds]".
std::string HelpOf(const Flag& flag) {
  std::string line = absl::StrCat("  ", flag.name);
  if (!flag.value.empty()) absl::StrAppend(&line, " ", flag.value);
  std::string help = flag.help;
  if (!flag.variable.empty()) absl::StrAppend(&help, " ($", flag.variable, ")");
  if (!flag.unless_given.empty()) {
    absl::StrAppend(&help, " [", flag.unless_given, "]");
  }
  std::string text;
  if (line.size() >= kHelpColumn) {
    text = absl::StrCat(line, "\n");
    line.clear();
  }
  line.resize(kHelpColumn, ' ');
  for (const absl::string_view word : absl::StrSplit(help, ' ')) {
    if (line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(&text, line, "\n");
      line.assign(kHelpColumn, ' ');
    }
    absl::StrAppend(&line, line.size() == kHelpColumn ? "" : " ", word);
  }
  return absl::StrCat(text, line, "\n");
}

std::string Help(const FlagTable& program) {
  std::string text = absl::StrCat(program.summary, "\n\nUsage: ", program.name,
                                  " [flags]\n\n");
  for (const Flag& flag : program.flags) absl::StrAppend(&text, HelpOf(flag));
  for (const Flag& flag : {Flag{"--version", "", "Print the version", {}},
                           Flag{"-h, --help", "", "Print this", {}}}) {
    absl::StrAppend(&text, HelpOf(flag));
  }
  return text;
}

absl::Status Unknown(const FlagTable& program, const std::string& name) {
  std::vector<std::string> names = {"--help", "--version"};
  for (const Flag& flag : program.flags) names.push_back(flag.name);
  return UnknownFlag(name, names, program.name);
}

// Flags nobody gave, from the environment.
absl::Status TakeVariables(const FlagTable& program,
                           const std::set<std::string>& given) {
  for (const Flag& flag : program.flags) {
    if (flag.variable.empty() || given.contains(flag.name)) continue;
    const char* const value = std::getenv(flag.variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    RETURN_IF_ERROR(flag.take(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UnknownFlag(const std::string& flag,
                         const std::vector<std::string>& flags,
                         const std::string& command) {
  const std::string shown = absl::Utf8SafeCEscape(flag.substr(0, kMaxWord));
  const std::string nearest = Nearest(flag, flags);
  return MakeError(
      ErrorId::kRequestInvalid, absl::StrCat("there is no flag ", shown),
      nearest.empty() ? absl::StrCat("see `", command, " --help`")
                      : absl::StrCat("did you mean ", nearest, "?"),
      shown);
}

absl::Status BadFlag(const std::string& flag, const std::string& cause,
                     const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(flag, " ", cause),
                   fix, flag);
}

absl::StatusOr<std::string> ParseFlags(const FlagTable& program, int argc,
                                       const char* const* argv) {
  std::set<std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool attached = equals != std::string::npos;
    if (word == "--help" || word == "-h") return Help(program);
    if (word == "--help=json") return CommandJson(PageOf(program));
    if (word == "--version") {
      return absl::StrCat(program.name, " ", program.version, "\n");
    }
    const auto flag = std::ranges::find(program.flags, name, &Flag::name);
    if (flag == program.flags.end()) return Unknown(program, name);
    if (!given.insert(name).second && !flag->repeats) {
      return BadFlag(name, "is given twice", "keep one of the two");
    }
    std::string text = attached ? word.substr(equals + 1) : "";
    if (flag->value.empty() && attached) {
      return BadFlag(name, "takes no value", absl::StrCat("write ", name));
    }
    if (!flag->value.empty() && !attached) {
      const bool more = i + 1 < argc && !absl::StartsWith(argv[i + 1], "--");
      if (!more) {
        return BadFlag(name, "lacks its value",
                       absl::StrCat("write ", name, " ", flag->value));
      }
      text = argv[++i];
    }
    RETURN_IF_ERROR(flag->take(text));
  }
  RETURN_IF_ERROR(TakeVariables(program, given));
  return "";
}

}  // namespace frostline
