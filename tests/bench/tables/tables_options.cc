// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/tables_options.h"

#include <cstdlib>
#include <iostream>

namespace frostline::bench {
namespace {

constexpr int kQuickSeeds = 5;

std::vector<HistoryKind> AllHistories() {
  std::vector<HistoryKind> kinds = {{"random", "random", 1}};
  for (const std::string sampler : {"tpe", "levels-gp", "auto"}) {
    kinds.push_back({sampler, sampler, 1});
    kinds.push_back({sampler + ".w8", sampler, 8});
  }
  return kinds;
}

[[noreturn]] void Usage(const char* program) {
  std::cerr << "usage: " << program
            << " [--quick] [--data DIR] [--table NAME] [--history NAME]\n"
               "    [--n TRIALS] [--seeds N] [--minutes M] [--threads N]\n"
               "    [--what all|shares|plan|best]\n"
               "histories:";
  for (const HistoryKind& kind : AllHistories()) std::cerr << " " << kind.name;
  std::cerr << "\n";
  std::exit(2);
}

void Take(const std::string& flag, const std::string& value,
          TablesOptions& options, const char* program) {
  if (flag == "--data") {
    options.folder = value;
  } else if (flag == "--table") {
    options.table = value;
  } else if (flag == "--history") {
    std::erase_if(options.histories, [&value](const HistoryKind& kind) {
      return kind.name != value;
    });
  } else if (flag == "--n") {
    options.sizes = {std::atoi(value.c_str())};
  } else if (flag == "--seeds") {
    options.seeds = std::atoi(value.c_str());
  } else if (flag == "--minutes") {
    options.minutes = std::atof(value.c_str());
  } else if (flag == "--threads") {
    options.threads = std::atoi(value.c_str());
  } else if (flag == "--what") {
    options.what = value;
  } else {
    Usage(program);
  }
}

}  // namespace

TablesOptions ReadTablesOptions(int argc, char** argv) {
  TablesOptions options;
  options.folder =
      std::string(FROSTLINE_SOURCE_DIR) + "/tests/bench/tables/data";
  options.histories = AllHistories();
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--quick") {
      options.seeds = kQuickSeeds;
    } else if (i + 1 < argc) {
      Take(flag, argv[++i], options, argv[0]);
    } else {
      Usage(argv[0]);
    }
  }
  const bool known = options.what == "all" || options.what == "shares" ||
                     options.what == "plan" || options.what == "best";
  if (!known || options.histories.empty() || options.sizes[0] < 1 ||
      options.seeds < 1 || options.threads < 1) {
    Usage(argv[0]);
  }
  return options;
}

}  // namespace frostline::bench
