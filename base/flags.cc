// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/plain/json.h"

namespace frostline {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kWidth = 79;
constexpr std::size_t kMaxWord = 100;

// Returns "  --name VALUE      help, over as many lines as it takes [default]".
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

// Takes flags that nobody gave from the environment.
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

// What the values of flags mean: times, sizes, numbers, levels.

namespace {

constexpr double kMaxBytes = 1e18;
constexpr std::string_view kUnits = "kmgt";

constexpr std::array<std::pair<const char*, LogLevel>, 4> kLogLevels = {
    {{"debug", LogLevel::kDebug},
     {"info", LogLevel::kInfo},
     {"warning", LogLevel::kWarning},
     {"error", LogLevel::kError}}};

std::string Shown(Duration time) {
  return absl::FormatDuration(absl::FromChrono(time));
}

// Returns a size as people write it: "100G".
std::string ShownBytes(std::int64_t bytes) {
  std::string unit;
  for (const char next : kUnits) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = absl::ascii_toupper(static_cast<unsigned char>(next));
  }
  return absl::StrCat(bytes, unit);
}

}  // namespace

Flag TextFlag(const std::string& name, const std::string& value,
              const std::string& help, std::string* text) {
  return {name, value, help,
          [text](const std::string& given) {
            *text = given;
            return absl::OkStatus();
          },
          *text};
}

Flag SwitchFlag(const std::string& name, const std::string& help, bool* on) {
  return {name, "", help, [on](const std::string&) {
            *on = true;
            return absl::OkStatus();
          }};
}

Flag LogLevelFlag(LogLevel* level) {
  return {"--log-level", "LEVEL", "debug, info, warning or error",
          [level](const std::string& text) {
            std::vector<std::string> names;
            for (const auto& [name, value] : kLogLevels) {
              names.emplace_back(name);
              if (!absl::EqualsIgnoreCase(text, name)) continue;
              *level = value;
              return absl::OkStatus();
            }
            return BadFlag("--log-level", absl::StrCat("is '", text, "'"),
                           Suggest(text, names));
          },
          "info"};
}

Flag LogFormatFlag() {
  return {"--log-format", "FORMAT", "Of log lines: text or json",
          [](const std::string& text) {
            if (text != "text" && text != "json") {
              return BadFlag("--log-format", absl::StrCat("is '", text, "'"),
                             "give text, or json");
            }
            SetLogFormat(text == "json" ? LogFormat::kJson : LogFormat::kText);
            return absl::OkStatus();
          },
          "text"};
}

Flag TimeFlag(const std::string& name, const std::string& help,
              Duration shortest, Duration longest, Duration* time) {
  return {name, "TIME", help,
          [=](const std::string& text) -> absl::Status {
            ASSIGN_OR_RETURN(*time, ReadTime(name, text, shortest, longest));
            return absl::OkStatus();
          },
          Shown(*time)};
}

Flag BytesFlag(const std::string& name, const std::string& help,
               std::int64_t* bytes) {
  return {name, "SIZE", help,
          [=](const std::string& text) -> absl::Status {
            ASSIGN_OR_RETURN(*bytes, ReadBytes(name, text));
            return absl::OkStatus();
          },
          ShownBytes(*bytes)};
}

absl::StatusOr<Duration> ReadTime(const std::string& flag,
                                  const std::string& text, Duration shortest,
                                  Duration longest) {
  absl::Duration time;
  double seconds = 0.0;
  if (absl::SimpleAtod(text, &seconds) && !std::isnan(seconds)) {
    time = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &time)) {
    return BadFlag(flag, absl::StrCat("is '", text, "', which is no time"),
                   "write it like 60s, 1m30s or 500ms");
  }
  // Compared as Abseil's durations, which do not overflow.
  if (time < absl::FromChrono(shortest) || time > absl::FromChrono(longest)) {
    return BadFlag(flag, absl::StrCat("is ", text),
                   absl::StrCat("give a time from ", Shown(shortest), " to ",
                                Shown(longest)));
  }
  return absl::ToChronoNanoseconds(time);
}

absl::StatusOr<std::int64_t> ReadWhole(const std::string& flag,
                                       const std::string& text,
                                       std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) {
    return number;
  }
  return BadFlag(
      flag, absl::StrCat("is '", text, "'"),
      absl::StrCat("give a whole number from ", least, " to ", most));
}

absl::StatusOr<std::int64_t> ReadBytes(const std::string& flag,
                                       const std::string& text) {
  std::string number = absl::AsciiStrToLower(text);
  for (const std::string& ending : {std::string("ib"), std::string("b")}) {
    if (!absl::EndsWith(number, ending)) continue;
    number.resize(number.size() - ending.size());  // "MiB" is "MB" is "M"
    break;
  }
  const std::size_t power =
      number.empty() ? kUnits.npos : kUnits.find(number.back());
  double unit = 1.0;
  if (power != kUnits.npos) {
    unit = std::pow(1024.0, static_cast<double>(power + 1));
    number.pop_back();
  }
  double count = 0.0;
  if (absl::SimpleAtod(number, &count) && count >= 0.0 &&
      count * unit <= kMaxBytes) {
    return static_cast<std::int64_t>(count * unit);
  }
  return BadFlag(flag, absl::StrCat("is '", text, "', which is no size"),
                 "write it like 500M, 256MiB or 50G");
}

namespace {

std::string FlagsJson(const std::vector<Flag>& flags) {
  std::vector<std::string> all;
  all.reserve(flags.size());
  for (const Flag& flag : flags) {
    all.push_back(JsonObject()
                      .PutText("name", flag.name)
                      .PutText("value", flag.value)
                      .PutText("help", flag.help)
                      .PutText("default", flag.unless_given)
                      .PutText("variable", flag.variable)
                      .Put("repeats", flag.repeats ? "true" : "false")
                      .Text());
  }
  return JsonList(all);
}

std::string ObjectOf(const CommandPage& page) {
  std::vector<std::string> commands;
  commands.reserve(page.commands.size());
  for (const CommandPage& command : page.commands) {
    commands.push_back(ObjectOf(command));
  }
  return JsonObject()
      .PutText("name", page.name)
      .PutText("version", page.version)
      .PutText("summary", page.summary)
      .PutText("footer", page.footer)
      .Put("words", FlagsJson(page.words))
      .Put("flags", FlagsJson(page.flags))
      .Put("commands", JsonList(commands))
      .Text();
}

}  // namespace

CommandPage PageOf(const FlagTable& program) {
  CommandPage page;
  page.name = program.name;
  page.version = program.version;
  page.summary = program.summary;
  page.flags = program.flags;
  page.flags.push_back({"--version", "", "Print the version", {}});
  page.flags.push_back({"-h, --help", "", "Print this", {}});
  return page;
}

std::string CommandJson(const CommandPage& page) {
  return ObjectOf(page) + "\n";
}

}  // namespace frostline
