// SPDX-License-Identifier: Apache-2.0
//
// frostline-trainer: the process that holds LibTorch. What it can do today is
// prove that it was built and installed well; frostline-worker --exec runs
// trials with any other program.
#include <iostream>
#include <string>

#include "worker/trainer/self_check.h"

namespace {

// The exit codes are those of base/exit_code.h, which this folder does not
// include: it must build where there is no Abseil.
constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

constexpr char kHelp[] =
    "usage: frostline-trainer --self-check | --version | --help\n"
    "\n"
    "  --self-check  multiply two matrices with LibTorch, compare with the\n"
    "                known answer, print one line of JSON; exit 0 or 1\n"
    "  --version     print the versions of Frostline and LibTorch\n"
    "  --help        print this\n";

int SelfCheckAndPrint() {
  const frostline::SelfCheck check = frostline::RunSelfCheck();
  std::cout << frostline::ToJson(check) << "\n";
  return check.ok ? kOk : kFailure;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string argument = argc == 2 ? argv[1] : "";
  if (argument == "--self-check") return SelfCheckAndPrint();
  if (argument == "--version") {
    std::cout << "frostline-trainer " FROSTLINE_VERSION ", LibTorch "
              << frostline::TorchVersion() << "\n";
    return kOk;
  }
  if (argument == "--help") {
    std::cout << kHelp;
    return kOk;
  }
  std::cerr << kHelp;
  return kUsage;
}
