// SPDX-License-Identifier: Apache-2.0
//
// What the values of flags mean: times, sizes, numbers, levels.
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/flags.h"
#include "base/log_format.h"
#include "base/nearest.h"
#include "base/status_macros.h"

namespace frostline {
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

// Sizes that people write: "100G".
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
  // Compared as Abseil's, in which nothing overflows.
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

}  // namespace frostline
