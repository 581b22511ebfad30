// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/loaded_libraries.h"

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace frostline::trainer {
namespace {

// GNU's, Intel's and LLVM's; wheels put a hash behind the name.
bool IsOpenMp(std::string_view file) {
  for (const std::string_view name : {"libgomp", "libiomp5", "libomp"}) {
    if (!file.starts_with(name)) continue;
    const std::string_view rest = file.substr(name.size());
    if (rest.starts_with(".so") || rest.starts_with("-")) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> OpenMpRuntimes(std::string_view maps) {
  std::set<std::string> found;
  std::istringstream lines{std::string(maps)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::size_t file = line.rfind('/') + 1;
    if (IsOpenMp(std::string_view(line).substr(file))) {
      found.insert(line.substr(path));
    }
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> OpenMpRuntimes() {
  std::ifstream maps("/proc/self/maps");
  return OpenMpRuntimes(std::string(std::istreambuf_iterator<char>(maps), {}));
}

}  // namespace frostline::trainer
