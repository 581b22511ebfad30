// SPDX-License-Identifier: Apache-2.0
//
// Folders: room, file system, rights, and what is in a registry.
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/remote_file_system.h"
#include "cli/doctor/check.h"
#include "cli/term/terminal.h"
#include "cli/view/counted.h"
#include "cli/view/format.h"
#include "worker/registry/check.h"

namespace frostline::cli::doctor {
namespace {

constexpr std::int64_t kFolderMiB = std::int64_t{1} << 20;
// Below the first the coordinator leases nothing, below the second it creates
// no study (serve --disk-reserve).
constexpr std::int64_t kLeastFree = 256 * kFolderMiB;
constexpr std::int64_t kLittleFree = 1'024 * kFolderMiB;

// The role of a folder, and where it is.
std::vector<std::pair<std::string, std::string>> FoldersOf(const Asked& asked) {
  std::vector<std::pair<std::string, std::string>> folders = {
      {"data", asked.data}, {"runs", asked.runs}};
  if (!asked.cache.empty()) folders.emplace_back("cache", asked.cache);
  return folders;
}

// The worst wins; what was first among equals.
void Worsen(CheckStatus status, const std::string& fix, Finding* finding) {
  const bool is_worse = finding->status == CheckStatus::kOk ||
                        (finding->status == CheckStatus::kWarn &&
                         status == CheckStatus::kCritical);
  if (!is_worse) return;
  finding->status = status;
  finding->fix = fix;
}

}  // namespace

Finding CheckDisk(const Patient& patient) {
  Finding finding;
  std::vector<std::string> told;
  for (const auto& [role, folder] : FoldersOf(patient.asked)) {
    const auto facts = patient.machine.look(folder);
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

Finding CheckFileSystem(const Patient& patient) {
  const Asked& asked = patient.asked;
  const auto facts = patient.machine.look(asked.data);
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

Finding CheckWriteRights(const Patient& patient) {
  Finding finding;
  std::vector<std::string> told;
  for (const auto& [role, folder] : FoldersOf(patient.asked)) {
    const auto facts = patient.machine.look(folder);
    if (!facts.ok()) continue;
    const std::string what = facts->is_there   ? ""
                             : facts->writable ? "can be made"
                                               : "cannot be made";
    told.push_back(absl::StrCat(role, " ", folder, " ",
                                !what.empty()     ? what
                                : facts->writable ? "is writable"
                                                  : "is read-only"));
    if (facts->writable) continue;
    const bool is_named = role == "data" && patient.asked.data_is_named;
    Worsen(is_named ? CheckStatus::kCritical : CheckStatus::kWarn,
           absl::StrCat("`ls -ld ", ShellWord(facts->nearest),
                        "` says whose it is; go to a folder of yours, or name "
                        "one with --data DIR"),
           &finding);
  }
  finding.detail = absl::StrJoin(told, ", ");
  return finding;
}

Finding CheckRegistry(const Patient& patient) {
  const std::string& folder = patient.asked.registry;
  const std::string again =
      absl::StrCat("`frostline registry check --registry ", ShellWord(folder),
                   "` says all that is wrong");
  const auto facts = patient.machine.look(folder);
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

}  // namespace frostline::cli::doctor
