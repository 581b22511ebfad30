// SPDX-License-Identifier: Apache-2.0
#include "base/command_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/plain/json_text.h"

namespace frostline {
namespace {

std::string Member(const char* name, const std::string& text) {
  return absl::StrCat("\"", name, "\": ", JsonString(text));
}

std::string FlagJson(const Flag& flag) {
  return absl::StrCat(
      "{", Member("name", flag.name), ", ", Member("value", flag.value), ", ",
      Member("help", flag.help), ", ", Member("default", flag.unless_given),
      ", ", Member("variable", flag.variable),
      ", \"repeats\": ", flag.repeats ? "true" : "false", "}");
}

std::string FlagsJson(const char* name, const std::vector<Flag>& flags) {
  return absl::StrCat("\"", name, "\": [",
                      absl::StrJoin(flags, ",\n",
                                    [](std::string* text, const Flag& flag) {
                                      absl::StrAppend(text, FlagJson(flag));
                                    }),
                      "]");
}

std::string ObjectOf(const CommandPage& page) {
  return absl::StrCat(
      "{", Member("name", page.name), ", ", Member("version", page.version),
      ",\n", Member("summary", page.summary), ",\n",
      Member("footer", page.footer), ",\n", FlagsJson("words", page.words),
      ",\n", FlagsJson("flags", page.flags), ",\n\"commands\": [",
      absl::StrJoin(page.commands, ",\n",
                    [](std::string* text, const CommandPage& command) {
                      absl::StrAppend(text, ObjectOf(command));
                    }),
      "]}");
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
