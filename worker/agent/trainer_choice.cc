// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trainer_choice.h"

#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/flags.h"
#include "worker/agent/exec_check.h"
#include "worker/registry/registry.h"

namespace frostline::agent {
namespace {

constexpr char kTrainer[] = "frostline-trainer";

absl::Status CheckRegistry(AgentOptions* options) {
  if (options->registry.empty()) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(options->registry, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return BadFlag("--registry",
                   absl::StrCat("is '", options->registry, "', no folder"),
                   "give the folder of datasets.yaml and models.yaml; "
                   "docs/reference/datasets.md says what is in them");
  }
  for (const char* name : {"models.yaml", "datasets.yaml"}) {
    if (std::filesystem::exists(folder / name, error)) continue;
    return BadFlag("--registry",
                   absl::StrCat("has no ", name, ": ", folder.string()),
                   "`frostline registry add model DIR` and `add dataset FILE` "
                   "write both");
  }
  options->registry = folder.string();
  // What is malformed now was so when somebody wrote it; what becomes so later
  // is logged, and trials go on (stock.h).
  return registry::ReadRegistry(options->registry).status();
}

// One word for the shell, whatever is in the path.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace

absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options) {
  RETURN_IF_ERROR(CheckRegistry(options));
  if (!absl::StripAsciiWhitespace(options->exec).empty()) {
    return CheckExec(options->exec);
  }
  if (options->registry.empty()) {
    return BadFlag("--exec", "and --registry are both missing",
                   "give --registry DIR, the folder of this node's models "
                   "and data sets, or your own trainer: --exec \"python "
                   "train.py\"");
  }
  std::error_code error;
  const std::filesystem::path trainer = programs / kTrainer;
  if (!std::filesystem::exists(trainer, error)) {
    return BadFlag("--registry",
                   absl::StrCat("needs ", kTrainer, ", which is not in ",
                                programs.string()),
                   "build it (-DFROSTLINE_PARTS=trainer) and put it beside "
                   "frostline-worker, or name it: --exec /path/to/it");
  }
  options->exec = Quoted(trainer.string());
  return absl::OkStatus();
}

std::filesystem::path FolderOfThisProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace frostline::agent
