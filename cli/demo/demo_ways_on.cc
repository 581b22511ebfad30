// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_ways_on.h"

#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/demo/demo_report.h"
#include "cli/term/terminal.h"

namespace frostline::cli {
namespace {

// As it is typed from here.
std::string CommandName() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "frostline";
  const std::string near = std::filesystem::proximate(path, error).string();
  return error || absl::StartsWith(near, "..") ? path.string() : near;
}

}  // namespace

std::string WaysOnText(const WaysOn& ways, const std::string& command) {
  const std::string begin = absl::StrCat("  ", ShellWord(command), " ");
  std::string text = absl::StrCat("Next, type\n", begin, "serve --data ",
                                  ShellWord(ways.folder), " &\n");
  if (ways.has_next) {
    absl::StrAppend(&text, begin, "worker --registry ",
                    ShellWord(ways.folder + "/registry"), " --slots 2 &\n",
                    begin, "study create ",
                    ShellWord(ways.folder + "/next.yaml"),
                    "  # then: study watch ", kNextStudy, "\n");
  } else {
    absl::StrAppend(&text, begin, "study show demo\n");
    if (ways.has_importance) {
      absl::StrAppend(&text, begin, "importance demo\n");
    }
  }
  if (ways.has_example) {
    absl::StrAppend(&text, begin, "report example -o example.html\n");
  }
  return text;
}

void ShowWaysOn(const WaysOn& ways) {
  std::cout << WaysOnText(ways, CommandName()) << std::flush;
}

}  // namespace frostline::cli
