// SPDX-License-Identifier: Apache-2.0
//
// File: flags.h
//
//   FlagTable program{"frostline-worker", "0.1", "The agent of a node.", {}};
//   program.flags = {WholeFlag("--slots", "Trials at a time", 1, 64, &slots)};
//   ASSIGN_OR_RETURN(const std::string print, ParseFlags(program, argc, argv));
//
// A value follows its flag as the next word, or behind "=". Every program has
// --help, -h and --version, and --help=json for other programs
//.
#ifndef FROSTLINE_BASE_FLAGS_H_
#define FROSTLINE_BASE_FLAGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/log.h"

namespace frostline {

struct Flag {
  std::string name;   // "--listen"
  std::string value;  // "HOST:PORT"; empty for a switch
  std::string help;
  std::function<absl::Status(const std::string& text)> take;
  std::string unless_given = "";  // the default, for --help
  std::string variable = "";      // of the environment, read in its place
  bool repeats = false;           // may be given again
};

struct FlagTable {
  std::string name;
  std::string version;
  std::string summary;
  std::vector<Flag> flags;
};

// Returns what --help or --version asked for; it is empty when the program is
// to run. A flag that is unknown, without its value, or given twice though it
// does not repeat is REQUEST_INVALID.
absl::StatusOr<std::string> ParseFlags(const FlagTable& program, int argc,
                                       const char* const* argv);

// Answers REQUEST_INVALID, "there is no flag --stat", with the nearest of
// `flags`, or where `command` tells what flags it has.
absl::Status UnknownFlag(const std::string& flag,
                         const std::vector<std::string>& flags,
                         const std::string& command);

// Answers REQUEST_INVALID, "--listen is …", at that flag.
absl::Status BadFlag(const std::string& flag, const std::string& cause,
                     const std::string& fix);

// Reads "90" (seconds), "90s", "1m30s", "500ms".
absl::StatusOr<Duration> ReadTime(const std::string& flag,
                                  const std::string& text, Duration shortest,
                                  Duration longest);
// Reads "1048576", "512M", "256MiB", "1.5T", in powers of 1,024.
absl::StatusOr<std::int64_t> ReadBytes(const std::string& flag,
                                       const std::string& text);
absl::StatusOr<std::int64_t> ReadWhole(const std::string& flag,
                                       const std::string& text,
                                       std::int64_t least, std::int64_t most);

// What they point to must outlive the parse, and holds the default.
Flag TextFlag(const std::string& name, const std::string& value,
              const std::string& help, std::string* text);
Flag SwitchFlag(const std::string& name, const std::string& help, bool* on);
template <typename Whole>
Flag WholeFlag(const std::string& name, const std::string& help, Whole least,
               Whole most, Whole* number) {
  return {name, "N", help,
          [=](const std::string& text) {
            const auto read =
                ReadWhole(name, text, static_cast<std::int64_t>(least),
                          static_cast<std::int64_t>(most));
            if (read.ok()) *number = static_cast<Whole>(*read);
            return read.status();
          },
          std::to_string(*number)};
}
Flag LogLevelFlag(LogLevel* level);
// Takes hold at once.
Flag LogFormatFlag();
Flag TimeFlag(const std::string& name, const std::string& help,
              Duration shortest, Duration longest, Duration* time);
Flag BytesFlag(const std::string& name, const std::string& help,
               std::int64_t* bytes);

// What a program offers, as one JSON object, so that man pages and completions
// are made of the very tables that the program parses with:
//
//   {"name": "frostline-worker", "summary": …, "footer": "", "words": [],
//    "flags": [{"name": "--slots", "value": "N|gpu", "help": …,
//               "default": "1", "variable": "", "repeats": false}],
//    "commands": []}

struct CommandPage {
  std::string name;
  std::string version;  // of the program; empty for its commands
  std::string summary;
  std::string footer;
  std::vector<Flag> words;  // by position: "STUDY", or "[TOPIC]" if optional
  std::vector<Flag> flags;
  std::vector<CommandPage> commands;
};

// Includes --version and --help, which every program has.
CommandPage PageOf(const FlagTable& program);

// Ends with a newline.
std::string CommandJson(const CommandPage& page);

}  // namespace frostline

#endif  // FROSTLINE_BASE_FLAGS_H_
