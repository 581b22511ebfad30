// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete_program.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "cli/help/type_words.h"
#include "cli/process/captured.h"
#include "cli/process/child_process.h"

namespace frostline::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr Duration kLongest = std::chrono::milliseconds(100);

std::string TextOf(const Struct& flag, const std::string& member) {
  const auto found = flag.fields().find(member);
  return found == flag.fields().end() ? "" : found->second.string_value();
}

std::vector<Struct> FlagsOfProgram(const std::string& name) {
  std::vector<Struct> flags;
  const auto path = SiblingProgram(name);
  if (!path.ok()) return flags;
  const auto ran = RunCaptured({*path, "--help=json"}, kLongest);
  Struct page;
  if (!ran.ok() ||
      !google::protobuf::util::JsonStringToMessage(ran->out, &page).ok()) {
    return flags;
  }
  const auto list = page.fields().find("flags");
  if (list == page.fields().end()) return flags;
  for (const Value& flag : list->second.list_value().values()) {
    flags.push_back(flag.struct_value());
  }
  return flags;
}

std::vector<std::string> NamesOf(const Struct& flag) {
  return absl::StrSplit(TextOf(flag, "name"), ", ");
}

void WantValueOf(const Struct& flag, NextWord& wanted) {
  wanted.candidates.clear();
  wanted.live = Live::kNone;
  const std::string type = TextOf(flag, "value");
  for (const std::string& word : WordsOfType(type)) {
    wanted.candidates.push_back({word});
  }
  wanted.folders = absl::StrContains(type, "DIR");
  wanted.files = !wanted.folders && wanted.candidates.empty();
}

}  // namespace

void AddProgramFlags(const std::string& name,
                     const std::vector<std::string>& words, NextWord& wanted) {
  if (words.size() < 2) return;
  const std::string& before = words[words.size() - 2];
  const bool wants_flag = absl::StartsWith(wanted.begun, "-");
  if (!wants_flag && !absl::StartsWith(before, "-")) return;
  if (wants_flag) wanted.candidates.clear();
  for (const Struct& flag : FlagsOfProgram(name)) {
    const std::vector<std::string> names = NamesOf(flag);
    if (wants_flag) {
      for (const std::string& one : names) {
        wanted.candidates.push_back({one, TextOf(flag, "help")});
      }
    } else if (std::count(names.begin(), names.end(), before) > 0 &&
               !TextOf(flag, "value").empty()) {
      WantValueOf(flag, wanted);
    }
  }
}

}  // namespace frostline::cli
