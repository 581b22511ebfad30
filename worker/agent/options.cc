// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/status_macros.h"
#include "worker/agent/option_text.h"

namespace frostline {
namespace {

constexpr char kProgram[] = "frostline-worker";
constexpr int kMaxSlotsPerGpu = 64;
constexpr std::size_t kMaxHostBytes = 48;
constexpr double kMaxSeconds = 1e7;

void Declare(CLI::App* app, AgentOptions* options, RawAgentOptions* raw) {
  app->set_version_flag("--version",
                        absl::StrCat(kProgram, " ", FROSTLINE_VERSION));
  app->add_option("--connect", options->connect, "HOST:PORT of the coordinator")
      ->envname("FROSTLINE_CONNECT")
      ->capture_default_str();
  app->add_option("--id", options->id,
                  "The worker's name; keep it over restarts to get its own "
                  "trials back first [host name and process number]");
  app->add_option("--slots", raw->slots,
                  "Trials at a time, each with a trainer of its own; gpu: one "
                  "for each GPU")
      ->capture_default_str();
  app->add_option("--slots-per-gpu", options->slots_per_gpu,
                  "Trials that may share a GPU")
      ->check(CLI::Range(1, kMaxSlotsPerGpu))
      ->capture_default_str();
  app->add_option("--registry", options->registry,
                  "Folder of this node's models and data sets (models.yaml, "
                  "datasets.yaml); trains with frostline-trainer");
  app->add_option("--exec", options->exec,
                  "Another trainer: its command line, in words as for "
                  "/bin/sh; see docs/reference/trainer-protocol.md");
  app->add_option("--run-dir", options->run_dir,
                  "Folder for undelivered results and for trials' files")
      ->capture_default_str();
  app->add_option("--label", raw->labels,
                  "KEY=VALUE that studies may ask for; may be repeated");
  app->add_option("--study", options->study, "Only trials of this study");
  app->add_flag("--exit-when-done", options->exit_when_done,
                "End with 0 when the study of --study has ended");
  app->add_option("--keep", raw->keep,
                  "Folders of ended trials that stay: all, useful (failed, or "
                  "with a checkpoint), failed, none")
      ->capture_default_str();
  app->add_option("--keep-bytes", raw->keep_bytes,
                  "Beyond so many bytes of them the oldest go; 0: no bound")
      ->capture_default_str();
  app->add_option("--keep-trials", options->keep.most_trials,
                  "Beyond so many of them the oldest go; 0: no bound")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--idle-timeout", raw->idle_timeout_s,
                  "End with 0 after so many seconds without a trial; 0: never")
      ->check(CLI::Range(0.0, kMaxSeconds));
  app->add_option("--stop-grace", raw->stop_grace_s,
                  "Seconds a trainer gets for a checkpoint when it must stop")
      ->check(CLI::Range(0.0, kMaxSeconds))
      ->capture_default_str();
  app->add_option("--hang-after", raw->hang_after,
                  "A trainer without progress for so long, or ten times its "
                  "usual step, has failed; off: never")
      ->capture_default_str();
  app->add_option("--orphan-limit", raw->orphan_limit,
                  "Without a coordinator for so long, training is "
                  "checkpointed and waits; off: it goes on")
      ->capture_default_str();
  const std::map<std::string, LogLevel> levels = {
      {"debug", LogLevel::kDebug},
      {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning},
      {"error", LogLevel::kError}};
  app->add_option("--log-level", options->log_level,
                  "debug, info, warning or error [info]")
      ->transform(CLI::CheckedTransformer(levels, CLI::ignore_case));
}

// What CLI11 throws ends here.
absl::Status Parse(CLI::App* app, int argc, const char* const* argv,
                   std::string* print) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *print = app->help();
  } catch (const CLI::CallForVersion& version) {
    *print = absl::StrCat(version.what(), "\n");
  } catch (const CLI::Error& error) {
    return MakeError(ErrorId::kRequestInvalid, error.what(),
                     absl::StrCat("see ", kProgram, " --help"));
  }
  return absl::OkStatus();
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "worker";
  return name.data();
}

}  // namespace

std::string DefaultWorkerId(const std::string& host, int process) {
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
  return absl::StrCat(id, "-", process);
}

absl::StatusOr<AgentOptions> ParseAgentOptions(int argc,
                                               const char* const* argv) {
  AgentOptions options;
  RawAgentOptions raw;
  CLI::App app(
      "The agent of a node: pulls trials, runs trainers, keeps leases.",
      kProgram);
  Declare(&app, &options, &raw);
  RETURN_IF_ERROR(Parse(&app, argc, argv, &options.print));
  if (!options.print.empty()) return options;
  RETURN_IF_ERROR(ReadOptions(raw, &options));
  if (options.id.empty()) options.id = DefaultWorkerId(HostName(), getpid());
  RETURN_IF_ERROR(CheckId(options.id, "--id"));
  if (!options.study.empty()) {
    RETURN_IF_ERROR(CheckId(options.study, "--study"));
  }
  if (options.exit_when_done && options.study.empty()) {
    return BadOption("--exit-when-done", "needs a study",
                     "name the study to wait for: --study ID");
  }
  return options;
}

}  // namespace frostline
