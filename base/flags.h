// SPDX-License-Identifier: Apache-2.0
//
// File: flags.h
//
// The command line of a program, as a table of flags:
//
//   FlagTable program{"frostline-worker", "0.1", "The agent of a node.", {}};
//   program.flags = {WholeFlag("--slots", "Trials at a time", 1, 64, &slots)};
//   ASSIGN_OR_RETURN(const std::string print, ParseFlags(program, argc, argv));
//
// A value follows its flag as the next word, or after "=". Every program has
// --help, -h and --version, and --help=json for other programs.
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

// A flag of a command line.
struct Flag {
  std::string name;   // "--listen"
  std::string value;  // "HOST:PORT"; empty for a switch
  std::string help;
  std::function<absl::Status(const std::string& text)> take;
  std::string unless_given = "";  // the default, shown by --help
  std::string variable = "";      // environment variable that may replace it
  bool repeats = false;           // may be given more than once
};

// A program and its flags.
struct FlagTable {
  std::string name;
  std::string version;
  std::string summary;
  std::vector<Flag> flags;
};

// Parses the command line. Returns the text that --help or --version asks for,
// or an empty one when the program is to run. The error is REQUEST_INVALID for
// a flag that is unknown, has no value, or is given twice although it does not
// repeat.
absl::StatusOr<std::string> ParseFlags(const FlagTable& program, int argc,
                                       const char* const* argv);

// Returns REQUEST_INVALID, "there is no flag --stat", with the nearest of
// `flags`, or with the `command` that lists them.
absl::Status UnknownFlag(const std::string& flag,
                         const std::vector<std::string>& flags,
                         const std::string& command);

// Returns REQUEST_INVALID, "--listen is …", at that flag.
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

// Make flags. What they point to must outlive the parse, and holds the default.
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
// The flag takes effect as soon as it is parsed.
Flag LogFormatFlag();
Flag TimeFlag(const std::string& name, const std::string& help,
              Duration shortest, Duration longest, Duration* time);
Flag BytesFlag(const std::string& name, const std::string& help,
               std::int64_t* bytes);

// What a program or a command offers. CommandJson() writes it as one JSON
// object, from which man pages and completions are made. So they follow the
// same tables with which the program parses:
//
//   {"name": "frostline-worker", "summary": …, "footer": "", "words": [],
//    "flags": [{"name": "--slots", "value": "N|gpu", "help": …,
//               "default": "1", "variable": "", "repeats": false}],
//    "commands": []}
struct CommandPage {
  std::string name;
  std::string version;  // of the program; empty for a command
  std::string summary;
  std::string footer;
  std::vector<Flag> words;  // by position: "STUDY", "[TOPIC]" if optional
  std::vector<Flag> flags;
  std::vector<CommandPage> commands;
};

// Returns the page, with --version and --help, which every program has.
CommandPage PageOf(const FlagTable& program);

// Returns the JSON; it ends with a newline.
std::string CommandJson(const CommandPage& page);

}  // namespace frostline

#endif  // FROSTLINE_BASE_FLAGS_H_
