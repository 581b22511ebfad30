// SPDX-License-Identifier: Apache-2.0
//
// Processor, memory, descriptors and ports, as /proc and /sys tell them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/doctor/check.h"
#include "cli/view/format.h"
#include "tls/credentials.h"

namespace frostline::cli::doctor {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// A small encoder with its optimiser and a batch.
constexpr std::int64_t kLeastPerSlot = 2'048 * kMiB;
constexpr std::int64_t kLeastDescriptors = 1'024;
constexpr char kListening[] = "0A";  // as tcp(5) numbers the states

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::vector<std::string> WordsOf(const std::string& line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t:"), absl::SkipEmpty());
}

// "MemTotal:  4045304 kB" in bytes; 0 when it is not there.
std::int64_t MemoryOf(const std::string& text, const std::string& name) {
  for (const std::string& line : LinesOf(text)) {
    const auto words = WordsOf(line);
    std::int64_t kilobytes = 0;
    if (words.size() > 1 && words[0] == name &&
        absl::SimpleAtoi(words[1], &kilobytes)) {
      return kilobytes << 10;
    }
  }
  return 0;
}

// A container may have less than its machine.
std::int64_t LimitOfGroup(const Machine& machine) {
  std::int64_t limit = 0;
  const std::string text = machine.Read("/sys/fs/cgroup/memory.max");
  return absl::SimpleAtoi(text, &limit)
             ? limit
             : std::numeric_limits<std::int64_t>::max();
}

std::set<int> ListeningPorts(const Machine& machine) {
  std::set<int> ports;
  for (const char* const file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const std::string& line : LinesOf(machine.Read(file))) {
      // " 0: 0100007F:1B9E 00000000:0000 0A …"
      const auto words = WordsOf(line);
      int port = 0;
      if (words.size() > 5 && words[5] == kListening &&
          absl::SimpleHexAtoi(words[2], &port)) {
        ports.insert(port);
      }
    }
  }
  return ports;
}

}  // namespace

Finding CheckProcessor(const Patient& patient) {
  const std::string text = patient.machine.Read("/proc/cpuinfo");
  int count = 0;
  std::string model;
  std::vector<std::string> flags;
  for (const std::string& line : LinesOf(text)) {
    if (absl::StartsWith(line, "processor")) ++count;
    if (absl::StartsWith(line, "model name")) {
      model = std::string(
          absl::StripAsciiWhitespace(line.substr(line.find(':') + 1)));
    }
    if (absl::StartsWith(line, "flags")) flags = WordsOf(line);
  }
  if (count == 0) {
    return {CheckStatus::kSkipped, "/proc/cpuinfo lists no processor",
            "run `nproc`"};
  }
  std::vector<std::string> has;
  for (const char* const flag :
       {"avx2", "avx512f", "avx512_bf16", "amx_bf16"}) {
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) {
      has.emplace_back(flag);
    }
  }
  const std::string detail =
      absl::StrCat(count, " × ", model.empty() ? "processor" : model,
                   has.empty() ? "" : ", ", absl::StrJoin(has, " "));
  // Other kinds of processors have other words for it.
  if (flags.empty() || !has.empty()) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail + ", without avx2: training is slow",
          "train on another machine: `frostline worker invite` says how"};
}

Finding CheckMemory(const Patient& patient) {
  const std::string text = patient.machine.Read("/proc/meminfo");
  const std::int64_t all = MemoryOf(text, "MemTotal");
  if (all == 0) {
    return {CheckStatus::kSkipped, "/proc/meminfo tells no memory",
            "run `free -h`"};
  }
  const std::int64_t ours = std::min(all, LimitOfGroup(patient.machine));
  const std::int64_t each = ours / std::max(1, patient.asked.slots);
  const std::string detail = absl::StrCat(
      FormatBytes(ours), " of memory, ",
      FormatBytes(MemoryOf(text, "MemAvailable")), " free; ", FormatBytes(each),
      patient.asked.slots == 1
          ? " for the one slot"
          : absl::StrCat(" for each of ", patient.asked.slots, " slots"));
  if (each >= kLeastPerSlot) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail + ", which is little",
          patient.asked.slots > 1
              ? absl::StrCat("start workers with --slots ",
                             std::max<std::int64_t>(1, ours / kLeastPerSlot))
              : "choose a small model, or a machine with more memory"};
}

Finding CheckDescriptors(const Patient& patient) {
  for (const std::string& line :
       LinesOf(patient.machine.Read("/proc/self/limits"))) {
    if (!absl::StartsWith(line, "Max open files")) continue;
    const auto words = WordsOf(line);
    std::int64_t soft = std::numeric_limits<std::int64_t>::max();
    if (words.size() > 3 && words[3] != "unlimited" &&
        !absl::SimpleAtoi(words[3], &soft)) {
      break;
    }
    const std::string detail =
        words.size() > 3 ? words[3] + " open files are allowed" : line;
    if (soft >= kLeastDescriptors) return {CheckStatus::kOk, detail};
    return {CheckStatus::kWarn,
            detail + "; each connection to a coordinator takes one",
            absl::StrCat("`ulimit -n ", kLeastDescriptors,
                         "` before `frostline serve`")};
  }
  return {CheckStatus::kSkipped, "/proc/self/limits tells no limit",
          "run `ulimit -n`"};
}

Finding CheckPorts(const Patient& patient) {
  const std::set<int> taken = ListeningPorts(patient.machine);
  const CoordinatorFacts& coordinator = patient.facts.coordinator;
  std::vector<std::string> told;
  int foreign = 0;
  for (const int port : patient.asked.ports) {
    const bool is_ours =
        coordinator.reached.ok() && tls::IsLocalAddress(coordinator.address) &&
        absl::EndsWith(coordinator.address, absl::StrCat(":", port));
    const bool is_taken = taken.contains(port);
    told.push_back(absl::StrCat(
        port, is_taken ? is_ours ? " is the coordinator's" : " is taken"
                       : " is free"));
    if (is_taken && !is_ours) foreign = port;
  }
  const std::string detail = absl::StrJoin(told, ", ");
  if (foreign == 0) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail,
          absl::StrCat("`frostline status --connect 127.0.0.1:", foreign,
                       "` says whether a coordinator has it; another takes "
                       "`frostline serve --data ",
                       patient.asked.data, " --listen 127.0.0.1:0`")};
}

}  // namespace frostline::cli::doctor
