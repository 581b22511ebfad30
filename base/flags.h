// SPDX-License-Identifier: Apache-2.0
//
// File: flags.h
//
// The command line of a program that has flags and no commands: a table of
// flags, each with its name, what its value is, how it is read, and a line for
// people. Coordinator and agent are such programs.
//
//   int slots = 1;
//   FlagTable program{"frostline-worker", "0.1", "The agent of a node.", {}};
//   program.flags = {WholeFlag("--slots", "Trials at a time", 1, 64, &slots)};
//   ASSIGN_OR_RETURN(const std::string print, ParseFlags(program, argc, argv));
//
// A value follows its flag as the next word, or behind "=". --help, -h and
// --version are every program's.
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
  std::string value;  // what stands behind it: "HOST:PORT"; empty for a switch
  std::string help;
  // Reads the value, or notes a switch, whose text is empty.
  std::function<absl::Status(const std::string& text)> take;
  std::string unless_given = "";  // what holds then, for --help
  std::string variable = "";      // of the environment, which stands in for it
  bool repeats = false;           // may be given more than once
};

struct FlagTable {
  std::string name;
  std::string version;
  std::string summary;
  std::vector<Flag> flags;
};

// What --help or --version asked for, with nothing else read; empty when the
// program is to run. REQUEST_INVALID, naming the flag, for one that is unknown
// (with the nearest), given twice, or without its value.
absl::StatusOr<std::string> ParseFlags(const FlagTable& program, int argc,
                                       const char* const* argv);

// "--listen is …": REQUEST_INVALID at that flag.
absl::Status BadFlag(const std::string& flag, const std::string& cause,
                     const std::string& fix);

// "90" (seconds), "90s", "1m30s", "500ms", within these bounds.
absl::StatusOr<Duration> ReadTime(const std::string& flag,
                                  const std::string& text, Duration shortest,
                                  Duration longest);
// "1048576", "512M", "256MiB", "1.5T", in powers of 1,024.
absl::StatusOr<std::int64_t> ReadBytes(const std::string& flag,
                                       const std::string& text);
// A whole number within these bounds.
absl::StatusOr<std::int64_t> ReadWhole(const std::string& flag,
                                       const std::string& text,
                                       std::int64_t least, std::int64_t most);

// Rows of a table. What they point to must outlive the parse, and is what holds
// unless they are given.
Flag TextFlag(const std::string& name, const std::string& value,
              const std::string& help, std::string* text);
Flag SwitchFlag(const std::string& name, const std::string& help, bool* on);
template <typename Whole>
Flag WholeFlag(const std::string& name, const std::string& help, Whole least,
               Whole most, Whole* number) {
  return {name, "N", help,
          [=](const std::string& text) {
            const auto read = ReadWhole(name, text, least, most);
            if (read.ok()) *number = static_cast<Whole>(*read);
            return read.status();
          },
          std::to_string(*number)};
}
Flag LogLevelFlag(LogLevel* level);
// As ReadTime and ReadBytes read it.
Flag TimeFlag(const std::string& name, const std::string& help,
              Duration shortest, Duration longest, Duration* time);
Flag BytesFlag(const std::string& name, const std::string& help,
               std::int64_t* bytes);

}  // namespace frostline

#endif  // FROSTLINE_BASE_FLAGS_H_
