// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/log.h"

namespace frostline {
namespace {

// An armed failpoint. Once set up, only `kill_at` changes.
struct Armed {
  std::atomic<int> kill_at{0};  // visits left until the end; 0: never
  std::chrono::milliseconds sleep{0};
};

using Table = std::array<Armed, kFailpoints.size()>;

[[noreturn]] void Refuse(const std::string& order) {
  Log(LogLevel::kError, "failpoint_unknown", {{"order", order}});
  std::_Exit(2);
}

Armed* Find(Table& table, const std::string& name) {
  for (const FailpointInfo& point : kFailpoints) {
    if (point.name == name) return &table[static_cast<std::size_t>(point.id)];
  }
  return nullptr;
}

// Reads "kill", "kill@3" or "sleep=250".
bool Arm(Armed& armed, const std::string& action) {
  const std::vector<std::string> kill = absl::StrSplit(action, '@');
  const std::vector<std::string> sleep = absl::StrSplit(action, '=');
  int number = 1;
  if (kill[0] == "kill" && kill.size() <= 2) {
    if (kill.size() == 2 && !absl::SimpleAtoi(kill[1], &number)) return false;
    armed.kill_at = number;
    return number > 0;
  }
  if (sleep[0] != "sleep" || sleep.size() != 2) return false;
  if (!absl::SimpleAtoi(sleep[1], &number) || number < 0) return false;
  armed.sleep = std::chrono::milliseconds(number);
  return true;
}

Table& ArmedByEnvironment() {
  static Table* const table = [] {
    auto* fresh = new Table();
    const char* const orders = std::getenv("FROSTLINE_FAILPOINT");
    if (orders == nullptr) return fresh;
    const std::vector<std::string> each =
        absl::StrSplit(orders, ',', absl::SkipEmpty());
    for (const std::string& order : each) {
      const std::vector<std::string> parts =
          absl::StrSplit(order, absl::MaxSplits(':', 1));
      Armed* const armed = Find(*fresh, parts[0]);
      if (armed == nullptr || parts.size() != 2 || !Arm(*armed, parts[1])) {
        Refuse(order);
      }
    }
    return fresh;
  }();
  return *table;
}

}  // namespace

void ReachFailpoint(Failpoint id) {
  Armed& armed = ArmedByEnvironment()[static_cast<std::size_t>(id)];
  if (armed.sleep.count() > 0) std::this_thread::sleep_for(armed.sleep);
  if (armed.kill_at.load(std::memory_order_relaxed) <= 0) return;
  if (armed.kill_at.fetch_sub(1) == 1) std::raise(SIGKILL);
}

}  // namespace frostline
