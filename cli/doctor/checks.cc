// SPDX-License-Identifier: Apache-2.0
//
// What the doctor checks: the machine, the programs, the settings.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/known_holes.h"
#include "base/plain/json.h"
#include "base/remote_file_system.h"
#include "cli/doctor/doctor.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "proto/library_versions.h"
#include "tls/credentials.h"
#include "worker/registry/check.h"

namespace frostline::cli::doctor {

// Processor, memory, descriptors and ports, as /proc and /sys tell them.

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// The memory for each slot: a small encoder with its optimizer and a batch.
constexpr std::int64_t kLeastPerSlot = 2'048 * kMiB;
constexpr std::int64_t kLeastDescriptors = 1'024;
constexpr char kListening[] = "0A";  // as tcp(5) numbers the states

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::vector<std::string> WordsOf(const std::string& line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t:"), absl::SkipEmpty());
}

// Parses "MemTotal:  4045304 kB" and returns bytes, or 0 when it is missing.
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

// Returns the memory limit of the control group, because a container may have
// less than its machine.
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

Finding CheckProcessor(const CheckInput& input) {
  const std::string text = input.machine.Read("/proc/cpuinfo");
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

Finding CheckMemory(const CheckInput& input) {
  const std::string text = input.machine.Read("/proc/meminfo");
  const std::int64_t all = MemoryOf(text, "MemTotal");
  if (all == 0) {
    return {CheckStatus::kSkipped, "/proc/meminfo tells no memory",
            "run `free -h`"};
  }
  const std::int64_t ours = std::min(all, LimitOfGroup(input.machine));
  const std::int64_t each = ours / std::max(1, input.asked.slots);
  const std::string detail = absl::StrCat(
      FormatBytes(ours), " of memory, ",
      FormatBytes(MemoryOf(text, "MemAvailable")), " free; ", FormatBytes(each),
      input.asked.slots == 1
          ? " for the one slot"
          : absl::StrCat(" for each of ", input.asked.slots, " slots"));
  if (each >= kLeastPerSlot) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail + ", which is little",
          input.asked.slots > 1
              ? absl::StrCat("start workers with --slots ",
                             std::max<std::int64_t>(1, ours / kLeastPerSlot))
              : "choose a small model, or a machine with more memory"};
}

Finding CheckDescriptors(const CheckInput& input) {
  for (const std::string& line :
       LinesOf(input.machine.Read("/proc/self/limits"))) {
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

Finding CheckPorts(const CheckInput& input) {
  const std::set<int> taken = ListeningPorts(input.machine);
  const CoordinatorFacts& coordinator = input.facts.coordinator;
  std::vector<std::string> told;
  int foreign = 0;
  for (const int port : input.asked.ports) {
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
                       input.asked.data, " --listen 127.0.0.1:0`")};
}

// Checks of the trainer's speed and of the GPUs.

namespace {

constexpr double kSlowShare = 0.5;  // of what the processor should reach

std::string SpeedTextOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? "" : std::string(value->text);
}

double NumberOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? 0.0 : value->number;
}

Finding JudgeSpeed(const JsonValue& root) {
  constexpr char kAgain[] =
      "run `frostline-trainer --self-check` when the machine is idle; "
      "docs/reference/trainer.md says what slows it";
  const JsonValue* const ok = root.Find("ok");
  if (ok == nullptr || !ok->truth) {
    return {CheckStatus::kCritical,
            "LibTorch multiplies wrongly here: " + SpeedTextOf(root, "error"),
            "run `frostline-trainer --self-check`; where it fails again, "
            "install the packages anew"};
  }
  const double fast = NumberOf(root, "fp32_gflops");
  const double hoped = NumberOf(root, "expected_gflops");
  const std::string detail = absl::StrCat(
      "LibTorch ", SpeedTextOf(root, "torch"), " on ",
      SpeedTextOf(root, "device"), ", ", SpeedTextOf(root, "blas"), ", ",
      SpeedTextOf(root, "simd"), ": ", fast, " GFLOP/s in fp32",
      hoped > 0 ? absl::StrCat(" of about ", hoped) : std::string());
  if (fast < kSlowShare * hoped) return {CheckStatus::kWarn, detail, kAgain};
  return {CheckStatus::kOk, detail};
}

}  // namespace

Finding CheckSpeed(const CheckInput& input) {
  const auto& ran = input.facts.self_check;
  if (absl::IsDeadlineExceeded(ran.status())) {
    return {CheckStatus::kSkipped,
            "frostline-trainer --self-check took longer than the doctor waits",
            "run `frostline-trainer --self-check` by itself"};
  }
  if (!ran.ok()) {
    return {CheckStatus::kSkipped,
            "there is no frostline-trainer beside this program",
            "on a node that trains install the trainer: "
            "docs/how-to/install.md"};
  }
  const auto json = Json::Parse(ran->out);
  if (json.ok()) return JudgeSpeed(json.value().root());
  return {CheckStatus::kCritical,
          absl::StrCat("frostline-trainer does not start: code ", ran->code,
                       " ", ran->err.substr(0, ran->err.find('\n'))),
          "run `frostline-trainer --self-check`, which says why"};
}

Finding CheckGpu(const CheckInput& input) {
  const Machine& machine = input.machine;
  const std::string driver = machine.Read("/proc/driver/nvidia/version");
  const auto& smi = input.facts.nvidia_smi;
  if (smi.ok() && smi->code == 0 && !smi->out.empty()) {
    std::string gpus(absl::StripAsciiWhitespace(smi->out));
    absl::StrReplaceAll({{"\n", "; "}}, &gpus);
    return {CheckStatus::kOk, gpus};
  }
  if (driver.empty()) {
    return {CheckStatus::kOk, "no NVIDIA GPU; trials run on the processor"};
  }
  return {
      CheckStatus::kWarn,
      absl::StrCat("there is a driver (", driver.substr(0, driver.find('\n')),
                   "), but nvidia-smi does not answer"),
      "run `nvidia-smi`, which says why"};
}

// Checks of folders: free space, file system, rights, and the contents of a
// registry.

namespace {

constexpr std::int64_t kFolderMiB = std::int64_t{1} << 20;
// Below the first bound the coordinator leases nothing, below the second it
// creates no study (serve --disk-reserve).
constexpr std::int64_t kLeastFree = 256 * kFolderMiB;
constexpr std::int64_t kLittleFree = 1'024 * kFolderMiB;

// Returns the folders with their roles.
std::vector<std::pair<std::string, std::string>> FoldersOf(const Asked& asked) {
  std::vector<std::pair<std::string, std::string>> folders = {
      {"data", asked.data}, {"runs", asked.runs}};
  if (!asked.cache.empty()) folders.emplace_back("cache", asked.cache);
  return folders;
}

// Keeps the worst status; among equal ones, the first.
void Worsen(CheckStatus status, const std::string& fix, Finding* finding) {
  const bool is_worse = finding->status == CheckStatus::kOk ||
                        (finding->status == CheckStatus::kWarn &&
                         status == CheckStatus::kCritical);
  if (!is_worse) return;
  finding->status = status;
  finding->fix = fix;
}

}  // namespace

Finding CheckDisk(const CheckInput& input) {
  Finding finding;
  std::vector<std::string> told;
  for (const auto& [role, folder] : FoldersOf(input.asked)) {
    const auto facts = input.machine.look(folder);
    if (!facts.ok()) continue;
    told.push_back(absl::StrCat(role, " ", FormatBytes(facts->free_bytes)));
    if (facts->free_bytes >= kLittleFree) continue;
    Worsen(facts->free_bytes < kLeastFree ? CheckStatus::kCritical
                                          : CheckStatus::kWarn,
           absl::StrCat("make room: `du -xh --max-depth=1 ",
                        ShellWord(facts->nearest),
                        "` says what is there; `frostline cache clear` removes "
                        "what can be computed again"),
           &finding);
  }
  finding.detail = "free: " + absl::StrJoin(told, ", ");
  return finding;
}

Finding CheckFileSystem(const CheckInput& input) {
  const Asked& asked = input.asked;
  const auto facts = input.machine.look(asked.data);
  if (!facts.ok()) {
    return {CheckStatus::kSkipped, std::string(facts.status().message()),
            "name a folder that is there: `frostline doctor --data .`"};
  }
  const char* const remote = RemoteFileSystem(facts->file_system);
  if (remote == nullptr) {
    return {CheckStatus::kOk,
            absl::StrCat(asked.data, " is on a disk of this machine")};
  }
  return {asked.data_is_named ? CheckStatus::kCritical : CheckStatus::kWarn,
          absl::StrCat(asked.data, " is on ", remote,
                       ", whose locks a database cannot rely on; the "
                       "coordinator refuses it"),
          "name a folder on a disk of this machine: `frostline serve --data "
          "/var/tmp/frost`"};
}

Finding CheckWriteRights(const CheckInput& input) {
  Finding finding;
  std::vector<std::string> told;
  for (const auto& [role, folder] : FoldersOf(input.asked)) {
    const auto facts = input.machine.look(folder);
    if (!facts.ok()) continue;
    const std::string what = facts->is_there   ? ""
                             : facts->writable ? "can be made"
                                               : "cannot be made";
    told.push_back(absl::StrCat(role, " ", folder, " ",
                                !what.empty()     ? what
                                : facts->writable ? "is writable"
                                                  : "is read-only"));
    if (facts->writable) continue;
    const bool is_named = role == "data" && input.asked.data_is_named;
    Worsen(is_named ? CheckStatus::kCritical : CheckStatus::kWarn,
           absl::StrCat("`ls -ld ", ShellWord(facts->nearest),
                        "` says whose it is; go to a folder of yours, or name "
                        "one with --data DIR"),
           &finding);
  }
  finding.detail = absl::StrJoin(told, ", ");
  return finding;
}

Finding CheckRegistry(const CheckInput& input) {
  const std::string& folder = input.asked.registry;
  const std::string again =
      absl::StrCat("`frostline registry check --registry ", ShellWord(folder),
                   "` says all that is wrong");
  const auto facts = input.machine.look(folder);
  if (!facts.ok() || !facts->is_there) {
    return {CheckStatus::kSkipped,
            absl::StrCat("there is no registry ", folder),
            "`frostline init --data FILE` makes one of your rows"};
  }
  const auto found = registry::ReadRegistry(folder);
  if (!found.ok()) {
    return {CheckStatus::kCritical, std::string(found.status().message()),
            again};
  }
  // Sums are not computed: weights are large, and a doctor is quick.
  for (const auto& [id, model] : found->models) {
    const auto looked = registry::LookAtModel(*found, id);
    if (looked.ok()) continue;
    return {CheckStatus::kCritical,
            absl::StrCat("model ", id, ": ", looked.status().message()), again};
  }
  return {CheckStatus::kOk,
          absl::StrCat(Counted(std::ssize(found->models), "model"), " and ",
                       Counted(std::ssize(found->data_sets), "data set"),
                       " in ", folder,
                       "; their sums and rows are not read, which `frostline "
                       "registry check` does")};
}

// The programs beside this one, and the libraries they stand on.

namespace {

constexpr char kTrainer[] = "frostline-trainer";

// Returns "0.1.0" for "frostline-trainer 0.1.0, LibTorch 2.11.0".
std::string WordBehind(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + word.size() + 1;
  return text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

std::string VersionIn(const Facts& facts, const std::string& program) {
  const auto found = facts.versions.find(program);
  const bool is_known = found != facts.versions.end() && found->second.ok();
  return is_known ? WordBehind(*found->second, program) : "";
}

LibraryVersions LibrariesOf(const CheckInput& input) {
  LibraryVersions found = proto::RpcLibraries();
  const auto trainer = input.facts.versions.find(kTrainer);
  if (trainer != input.facts.versions.end() && trainer->second.ok()) {
    found["LibTorch"] = WordBehind(*trainer->second, "LibTorch");
  }
  const auto& coordinators = input.facts.coordinator.info.libraries();
  const auto store = coordinators.find("SQLite");
  if (store != coordinators.end()) found["SQLite"] = store->second;
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

// Returns the text about late programs. A busy machine is not an error: the
// trainer loads LibTorch before it answers.
std::string WhoIsLate(const std::vector<std::string>& late) {
  if (late.empty()) return "";
  const std::chrono::duration<double> limit = kProgramLimit;
  return absl::StrCat("; ", absl::StrJoin(late, ", "), " did not answer in ",
                      limit.count(), " s");
}

struct FoundHoles {
  std::vector<std::string> ids;   // nothing of Frostline takes the occasion
  std::vector<std::string> open;  // the ids of the others
  std::string library;            // one that has an open one
  std::string in_full;
};

FoundHoles HolesIn(const LibraryVersions& libraries) {
  FoundHoles found;
  for (const auto& [library, version] : libraries) {
    for (const KnownHole& hole : HolesOf(library, version, KnownHoles())) {
      const bool is_open = hole.answer.empty();
      (is_open ? found.open : found.ids)
          .push_back(absl::StrCat(library, " ", hole.id));
      if (is_open) found.library = library;
      absl::StrAppend(&found.in_full, "; ", library, " has ", hole.id, " (",
                      hole.what, "), ",
                      is_open ? "and nothing takes the occasion"
                              : absl::StrCat("no occasion: ", hole.answer));
    }
  }
  return found;
}

// Returns a short text for people, with the place where the missing parts are
// explained.
std::string InShort(const FoundHoles& holes) {
  std::string text;
  if (!holes.ids.empty()) {
    absl::StrAppend(
        &text, "; without an occasion here: ", absl::StrJoin(holes.ids, ", "),
        " (why: frostline doctor --only libraries --format json)");
  }
  if (!holes.open.empty()) {
    absl::StrAppend(&text, "; open: ", absl::StrJoin(holes.open, ", "));
  }
  return text;
}

}  // namespace

Finding CheckVersions(const CheckInput& input) {
  const std::string& ours = input.asked.version;
  std::vector<std::string> others;
  std::vector<std::string> missing;
  std::vector<std::string> late;
  for (const auto& [program, said] : input.facts.versions) {
    const std::string version = VersionIn(input.facts, program);
    if (absl::IsDeadlineExceeded(said.status())) {
      late.push_back(program);
    } else if (version.empty()) {
      missing.push_back(program);
    } else if (version != ours) {
      others.push_back(absl::StrCat(program, " is ", version));
    }
  }
  const std::string detail = absl::StrCat("frostline ", ours, WhoIsLate(late));
  if (!others.empty()) {
    return {CheckStatus::kCritical,
            absl::StrCat(detail, ", but ", absl::StrJoin(others, ", ")),
            "install all programs of one release (docs/how-to/install.md); "
            "`frostline version` says what this one is"};
  }
  if (!late.empty() && late != std::vector<std::string>{kTrainer}) {
    return {CheckStatus::kWarn, detail,
            absl::StrCat("when the machine is less busy, run `", late.front(),
                         " --version`")};
  }
  if (missing.empty() && !late.empty()) return {CheckStatus::kOk, detail};
  if (missing.empty()) {
    return {CheckStatus::kOk, detail + ", and so are the programs beside it"};
  }
  // A node for the command line alone has none of them, and is well.
  const bool is_alone = missing.size() == input.facts.versions.size();
  if (is_alone || missing == std::vector<std::string>{kTrainer}) {
    return {CheckStatus::kOk,
            absl::StrCat(detail, "; without ", absl::StrJoin(missing, ", "))};
  }
  return {CheckStatus::kWarn,
          absl::StrCat(detail, ", but ", absl::StrJoin(missing, ", "),
                       " does not say its version"),
          absl::StrCat("run `", missing.front(), " --version`")};
}

Finding CheckLibraries(const CheckInput& input) {
  const auto libraries = LibrariesOf(input);
  const std::string names =
      absl::StrJoin(libraries, ", ", absl::PairFormatter(" "));
  const FoundHoles holes = HolesIn(libraries);
  const auto& told = input.facts.coordinator.info.known_holes();
  std::string by_coordinator;
  for (const std::string& hole : told) {
    absl::StrAppend(&by_coordinator, "; the coordinator says: ", hole);
  }
  Finding finding;
  finding.detail = absl::StrCat(names, InShort(holes), by_coordinator);
  finding.in_full = absl::StrCat(names, holes.in_full, by_coordinator);
  if (holes.open.empty() && told.empty()) return finding;
  finding.status = CheckStatus::kWarn;
  finding.fix = absl::StrCat("install a newer ",
                             holes.open.empty() ? "release" : holes.library,
                             ": docs/how-to/install.md");
  return finding;
}

// Checks of the settings and of the coordinator that they name.

namespace {

constexpr double kMostSeconds = 5.0;

std::string FixOf(const absl::Status& status) {
  const auto detail = DetailOf(status);
  return detail.has_value() && !detail->fix.empty()
             ? detail->fix
             : "`frostline status --wait 60s` tries again";
}

Finding NobodyToAsk() {
  return {CheckStatus::kSkipped, "there is no coordinator to ask",
          "start one with `frostline serve --data frost`, or name one with "
          "--connect HOST:PORT"};
}

// Returns the compatible line of a version: "0.1" for "0.1.3".
std::string CheckLineOf(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  return parts.size() < 2 ? version : absl::StrCat(parts[0], ".", parts[1]);
}

}  // namespace

Finding CheckConfiguration(const CheckInput& input) {
  if (!input.configured.ok()) {
    return {CheckStatus::kCritical, std::string(input.configured.message()),
            FixOf(input.configured)};
  }
  const Configuration& found = input.configuration;
  if (!found.warnings.empty()) {
    return {CheckStatus::kWarn, absl::StrJoin(found.warnings, "; "),
            "`frostline config path` says which files are read"};
  }
  std::vector<std::string> files;
  if (!found.project_file.empty()) files.push_back(found.project_file);
  if (!found.user.empty()) files.push_back(found.user_file);
  return {CheckStatus::kOk, files.empty()
                                ? "no file says anything"
                                : "read: " + absl::StrJoin(files, ", ")};
}

Finding CheckCoordinator(const CheckInput& input) {
  const CoordinatorFacts& facts = input.facts.coordinator;
  if (facts.reached.ok()) {
    return {
        CheckStatus::kOk,
        absl::StrCat("frostline ", facts.info.version(), " answers at ",
                     facts.target, ", with ",
                     Counted(facts.info.studies(), "study", "studies"), " and ",
                     Counted(facts.info.live_workers(), "worker"))};
  }
  const bool is_nobody =
      HasErrorId(facts.reached, ErrorId::kCoordinatorAway) && !facts.is_named;
  if (is_nobody) return NobodyToAsk();
  return {CheckStatus::kWarn,
          absl::StrCat(facts.target.empty() ? "" : facts.target + ": ",
                       facts.reached.message()),
          FixOf(facts.reached)};
}

Finding CheckProtocol(const CheckInput& input) {
  const CoordinatorFacts& facts = input.facts.coordinator;
  if (!facts.reached.ok()) return NobodyToAsk();
  const std::string& theirs = facts.info.version();
  const std::string& ours = input.asked.version;
  const std::string detail = absl::StrCat("frostline.v1; this is ", ours,
                                          ", the coordinator ", theirs);
  if (CheckLineOf(theirs) == CheckLineOf(ours))
    return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail,
          "install the same release on both: docs/how-to/install.md"};
}

Finding CheckClock(const CheckInput& input) {
  const CoordinatorFacts& facts = input.facts.coordinator;
  if (!facts.reached.ok()) return NobodyToAsk();
  if (!facts.ahead_seconds.has_value()) {
    return {CheckStatus::kSkipped,
            "the coordinator tells its time to researchers and admins alone",
            "ask as one of them: `frostline doctor --token-file FILE`; "
            "`timedatectl` says whether this clock is set"};
  }
  const double ahead = *facts.ahead_seconds;
  const std::string detail =
      absl::StrFormat("the coordinator's clock is %.1f s %s this one",
                      std::abs(ahead), ahead < 0 ? "behind" : "ahead of");
  if (std::abs(ahead) <= kMostSeconds) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn,
          detail + ": tokens and certificates may seem expired",
          "set both by the network: `timedatectl set-ntp true`"};
}

}  // namespace frostline::cli::doctor
