// SPDX-License-Identifier: Apache-2.0
//
// parity_runner [--data DIR] [--golden DIR] [--fixtures DIR]
//
// One test for every recorded file found. Exit 0 when none fails, 1 when one
// does, 2 for wrong usage or a folder that is not there.
#include <exception>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "tests/parity/recordings.h"

namespace frostline::test {
namespace {

struct Totals {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

void RunCheck(const Recording& recording, Totals& totals) {
  ParityResult result;
  try {
    recording.checker->check(recording.path, result);
  } catch (const std::exception& error) {
    result.Fail(error.what());
  }
  const std::string title = recording.kind + " " + recording.name;
  if (result.failed() > 0) {
    ++totals.failed;
    std::cout << "FAIL " << title << ": " << result.failed() << " of "
              << result.compared() << " comparisons\n";
    for (const std::string& line : result.messages()) {
      std::cout << "     " << line << "\n";
    }
  } else if (!result.skip_reason().empty()) {
    ++totals.skipped;
    std::cout << "SKIP " << title << ": " << result.skip_reason() << "\n";
  } else if (result.compared() == 0) {
    ++totals.failed;
    std::cout << "FAIL " << title << ": nothing was compared\n";
  } else {
    ++totals.passed;
    std::cout << "PASS " << title << ": " << result.compared()
              << " comparisons, largest difference " << result.worst() << "\n";
  }
}

void RunFolder(const std::string& folder, Totals& totals) {
  for (const Recording& recording : FindRecordings(folder)) {
    switch (recording.state) {
      case RecordingState::kChecked:
        RunCheck(recording, totals);
        break;
      case RecordingState::kNotBuilt:
        ++totals.skipped;
        std::cout << "SKIP " << recording.kind << " " << recording.name
                  << ": nothing built here checks this kind\n";
        break;
      case RecordingState::kUnknown:
        std::cout << "UNKNOWN " << recording.name << "\n";
        break;
      case RecordingState::kCompanion:
        break;
    }
  }
}

int Usage(const std::string& complaint) {
  std::cerr << "parity: " << complaint
            << "\nusage: parity_runner [--data DIR] [--golden DIR] "
               "[--fixtures DIR]\n";
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  const std::set<std::string> flags = {"--data", "--golden", "--fixtures"};
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (!flags.contains(arguments[i])) {
      return Usage("unknown argument " + arguments[i]);
    }
    if (i + 1 == arguments.size()) return Usage(arguments[i] + " needs a DIR");
    if (!std::filesystem::is_directory(arguments[i + 1])) {
      return Usage(arguments[i] + " " + arguments[i + 1] +
                   " is not a folder: name the one with the recordings");
    }
    folders.push_back(arguments[i + 1]);
  }
  Totals totals;
  for (const std::string& folder : folders) RunFolder(folder, totals);
  std::cout << totals.passed << " passed, " << totals.failed << " failed, "
            << totals.skipped << " skipped\n";
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frostline::test

int main(int argc, char** argv) {
  return frostline::test::Main({argv + 1, argv + argc});
}
