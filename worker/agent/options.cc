// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/options.h"

#include <unistd.h>

#include <array>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "worker/agent/access_flags.h"
#include "worker/agent/trainer_choice.h"

namespace frostline::agent {
namespace {

constexpr int kMaxSlotsPerGpu = 64;
constexpr std::size_t kMaxHostBytes = 48;
constexpr std::size_t kMaxLabels = 64;
constexpr Duration kMaxWait = std::chrono::seconds(10'000'000);
constexpr Duration kYear = std::chrono::hours(24 * 365);

Flag SlotsFlag(AgentOptions* options) {
  return {"--slots", "N|gpu",
          "Trials at a time, each with a trainer of its own; gpu: one for each "
          "GPU",
          [options](const std::string& text) {
            options->slot_per_gpu = text == "gpu";
            if (options->slot_per_gpu) return absl::OkStatus();
            const auto slots = ReadWhole("--slots", text, 1, kMaxSlots);
            if (slots.ok()) options->slots = static_cast<int>(*slots);
            return slots.ok()
                       ? absl::OkStatus()
                       : BadFlag("--slots", absl::StrCat("is '", text, "'"),
                                 absl::StrCat("give a number from 1 to ",
                                              kMaxSlots, ", or gpu"));
          },
          "1"};
}

Flag LabelFlag(AgentOptions* options) {
  Flag flag{
      "--label", "KEY=VALUE", "What studies may ask for; may be repeated", {}};
  flag.repeats = true;
  flag.take = [labels = &options->labels](const std::string& label) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return BadFlag("--label", absl::StrCat("is '", label, "'"),
                     "write it as KEY=VALUE");
    }
    (*labels)[label.substr(0, equals)] = label.substr(equals + 1);
    if (labels->size() <= kMaxLabels) return absl::OkStatus();
    return BadFlag("--label", "is given too often",
                   absl::StrCat("give at most ", kMaxLabels));
  };
  return flag;
}

Flag KeepFlag(KeepPolicy* policy) {
  return {"--keep", "WHICH",
          "Folders of ended trials that stay: all, useful (failed, or with a "
          "checkpoint), failed, none",
          [policy](const std::string& text) {
            const std::map<std::string, KeepPolicy> policies = {
                {"all", KeepPolicy::kAll},
                {"useful", KeepPolicy::kUseful},
                {"failed", KeepPolicy::kFailed},
                {"none", KeepPolicy::kNone}};
            const auto found = policies.find(text);
            if (found == policies.end()) {
              return BadFlag("--keep", absl::StrCat("is '", text, "'"),
                             "give all, useful, failed or none");
            }
            *policy = found->second;
            return absl::OkStatus();
          },
          "useful"};
}

Flag HookFlag(CheckpointHook* hook) {
  return {"--checkpoint-hook", "FILE",
          "A program that saves checkpoints elsewhere when trials are handed "
          "back, and fetches those that other nodes have saved",
          [hook](const std::string& program) {
            hook->program = program;
            const bool is_path = program.find('/') != std::string::npos;
            if (is_path && access(program.c_str(), X_OK) == 0) {
              return absl::OkStatus();
            }
            return BadFlag(
                "--checkpoint-hook",
                absl::StrCat("is '", program, "', no program that may be run"),
                "give its path, with the folder: /srv/bin/hook; "
                "docs/how-to/spot.md says what it must do");
          }};
}

// A time, or "off", which is zero.
Flag TimeOrOffFlag(const std::string& name, const std::string& help,
                   Duration* time) {
  Flag flag = TimeFlag(name, help, Duration(1), kYear, time);
  flag.take = [time, read = flag.take](const std::string& text) {
    if (text != "off") return read(text);
    *time = Duration::zero();
    return absl::OkStatus();
  };
  return flag;
}

std::vector<Flag> WorkFlags(AgentOptions* options) {
  return {
      TextFlag("--id", "NAME",
               "The worker's name; keep it over restarts to get its own "
               "trials back first; else host name and process number",
               &options->id),
      SlotsFlag(options),
      WholeFlag("--slots-per-gpu", "Trials that may share a GPU", 1,
                kMaxSlotsPerGpu, &options->slots_per_gpu),
      TextFlag("--registry", "DIR",
               "Folder of this node's models and data sets (models.yaml, "
               "datasets.yaml); trains with frostline-trainer",
               &options->registry),
      TextFlag("--exec", "CMD",
               "Another trainer: its command line, in words as for /bin/sh; "
               "see docs/reference/trainer-protocol.md",
               &options->exec),
      LabelFlag(options),
      TextFlag("--study", "ID", "Only trials of this study", &options->study),
      SwitchFlag("--exit-when-done",
                 "End with 0 when the study of --study has ended",
                 &options->exit_when_done),
      TimeFlag("--idle-timeout",
               "End with 0 after so long without a trial; 0: never",
               Duration::zero(), kMaxWait, &options->idle_timeout),
      LogLevelFlag(&options->log_level),
      LogFormatFlag()};
}

std::vector<Flag> KeepingFlags(AgentOptions* options) {
  return {
      TextFlag("--run-dir", "DIR",
               "Folder for undelivered results and for trials' files",
               &options->run_dir),
      TextFlag("--prefix-dir", "DIR",
               "Folder for what frozen layers gave, shared by this node's "
               "trainers; it tells the texts, so it is closed to others; off: "
               "keep nothing (default: RUN_DIR/prefix)",
               &options->prefix_dir),
      BytesFlag("--prefix-bytes",
                "The most it may hold; 0: a tenth of its file system",
                &options->prefix_bytes),
      KeepFlag(&options->keep.policy),
      BytesFlag("--keep-bytes",
                "Beyond so many bytes of them the oldest go; 0: no bound",
                &options->keep.most_bytes),
      WholeFlag("--keep-trials",
                "Beyond so many of them the oldest go; 0: no bound",
                std::int64_t{0}, std::numeric_limits<std::int64_t>::max(),
                &options->keep.most_trials),
      TimeFlag("--stop-grace",
               "What a trainer gets for a checkpoint when it must stop",
               Duration::zero(), kMaxWait, &options->stop_grace),
      HookFlag(&options->checkpoint_hook),
      TimeFlag("--checkpoint-hook-limit", "Then the hook is killed",
               std::chrono::milliseconds(100), kMaxWait,
               &options->checkpoint_hook.limit),
      TimeOrOffFlag("--hang-after",
                    "A trainer without progress for so long, or ten times its "
                    "usual step, has failed; off: never",
                    &options->hang_after),
      TimeOrOffFlag("--orphan-limit",
                    "Without a coordinator for so long, training is "
                    "checkpointed and waits; off: it goes on",
                    &options->orphan_limit)};
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "worker";
  return name.data();
}

}  // namespace

std::string HostWorkerId(const std::string& host) {
  std::string id;
  for (const char c : absl::AsciiStrToLower(host).substr(0, kMaxHostBytes)) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      c == '_' || c == '-' ||
                      (c == '.' && !id.empty() && id.back() != '.');
    id += fits ? c : '-';
  }
  if (id.empty() || !absl::ascii_isalnum(static_cast<unsigned char>(id[0]))) {
    id = "w" + id;
  }
  return id;
}

std::string DefaultWorkerId(const std::string& host, int process) {
  return absl::StrCat(HostWorkerId(host), "-", process);
}

absl::StatusOr<AgentOptions> ParseAgentOptions(int argc,
                                               const char* const* argv) {
  AgentOptions options;
  FlagTable program{
      "frostline-worker", FROSTLINE_VERSION,
      "The agent of a node: pulls trials, runs trainers, keeps leases.",
      AccessFlags(HasJoin(argc, argv), &options)};
  for (const auto& flags : {WorkFlags(&options), KeepingFlags(&options),
                            spans::CollectorFlags(&options.collector)}) {
    program.flags.insert(program.flags.end(), flags.begin(), flags.end());
  }
  ASSIGN_OR_RETURN(options.print, ParseFlags(program, argc, argv));
  if (!options.print.empty()) return options;
  RETURN_IF_ERROR(CheckAccess(options));
  RETURN_IF_ERROR(spans::CheckCollector(options.collector));
  RETURN_IF_ERROR(ChooseTrainer(FolderOfThisProgram(), &options));
  options.id_is_given = !options.id.empty();
  options.host_id = HostWorkerId(HostName());
  if (!options.id_is_given) options.id = DefaultWorkerId(HostName(), getpid());
  RETURN_IF_ERROR(CheckId(options.id, "--id"));
  if (!options.study.empty()) {
    RETURN_IF_ERROR(CheckId(options.study, "--study"));
  }
  if (options.exit_when_done && options.study.empty()) {
    return BadFlag("--exit-when-done", "needs a study",
                   "name the study to wait for: --study ID");
  }
  return options;
}

}  // namespace frostline::agent
