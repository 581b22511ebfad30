// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/speed.h"

#include <ATen/ops/mm.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "worker/trainer/device/autocast.h"

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

double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr double kPerGiga = 1e9;
  // Enough to keep every core or multiprocessor busy, and no more than a
  // second where there is no BLAS at all.
  const std::int64_t size = device.is_cpu() ? 1024 : 4096;
  const at::ScalarType dtype = HalfOf(precision).value_or(at::kFloat);
  const at::NoGradGuard no_graph;
  const at::Tensor factor =
      at::ones({size, size}, at::TensorOptions(device.torch()).dtype(dtype));
  const double operations = 2.0 * static_cast<double>(size) *
                            static_cast<double>(size) *
                            static_cast<double>(size);
  at::mm(factor, factor);  // starts threads, chooses kernels
  device.Synchronize();
  double best = 0.0;
  const Clock::time_point end = Clock::now() + time;
  do {
    const Clock::time_point start = Clock::now();
    at::mm(factor, factor);
    device.Synchronize();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, operations / seconds.count() / kPerGiga);
  } while (Clock::now() < end);
  return best;
}

}  // namespace frostline::trainer
