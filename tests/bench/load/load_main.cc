// SPDX-License-Identifier: Apache-2.0
//
// frostline-load: a fleet of up to ten thousand virtual workers against a
// running coordinator, and what it measured.
//
//   frostline-load --connect 127.0.0.1:7070 --create --trials 100000
//                  --workers 100 --seconds 10
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "tests/bench/load/admin_client.h"
#include "tests/bench/load/load_run.h"

namespace frostline::bench {
namespace {

// As typed.
struct Arguments {
  LoadOptions load;
  std::string study_id = "load";
  bool create = false;
  std::int64_t trials = 1'000'000;
  int parameters = 12;
  double ttl_s = 0.0;
  int channels = 0;
  double seconds = 0.0;
  double warm_up_s = 0.0;
  double wait_s = 30.0;
  double think_ms = 0.0;
  double silent_s = 5.0;
  std::string history;
  bool check = false;
};

Duration Seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

void DeclareFleet(CLI::App& app, Arguments& typed) {
  LoadOptions& load = typed.load;
  app.add_option("--connect", load.connect, "The coordinator, HOST:PORT");
  app.add_option("--workers", load.workers, "Virtual workers, up to 10000")
      ->check(CLI::Range(1, 10'000));
  auto* const per = app.add_option("--per-channel", load.per_channel,
                                   "Workers that share a connection");
  app.add_option("--channels", typed.channels, "Connections, instead")
      ->excludes(per);
  app.add_option("--seconds", typed.seconds, "End after so long");
  app.add_option("--cycles", load.cycles, "End after so many finished trials");
  app.add_option("--warm-up", typed.warm_up_s, "Seconds before measuring");
  app.add_option("--reports", load.reports, "Reports before each Finish");
  app.add_option("--measurements", load.measurements, "… in each report");
  app.add_option("--think-ms", typed.think_ms, "Before each report and Finish");
  app.add_option("--wait", typed.wait_s, "Seconds of a long poll, up to 30");
  app.add_option("--seed", load.seed, "Of all chance");
  app.add_option("--prefix", load.worker_prefix, "Of the workers' ids");
}

void DeclareStudy(CLI::App& app, Arguments& typed) {
  app.add_option("--study", typed.study_id, "Id of the study");
  app.add_flag("--create", typed.create, "Create it first");
  app.add_option("--trials", typed.trials, "Its budget, with --create");
  app.add_option("--parameters", typed.parameters,
                 "Log-uniform floats of its space, with --create");
  app.add_option("--ttl", typed.ttl_s, "Its lease TTL in seconds");
  app.add_option("--history", typed.history, "Write every event to this file");
  app.add_flag("--check", typed.check,
               "Compare what workers were told with what is stored");
}

void DeclareChaos(CLI::App& app, Arguments& typed) {
  Chaos& chaos = typed.load.chaos;
  app.add_option("--vanish", chaos.vanish, "Chance to die at a step");
  app.add_option("--repeat", chaos.repeat, "Chance to send a request twice");
  app.add_option("--silence", chaos.silence, "Chance to stall at a step");
  app.add_option("--late", chaos.late, "Chance to stall before Finish");
  app.add_option("--fail", chaos.fail, "Chance to finish as FAILED");
  app.add_option("--release", chaos.release, "Chance to hand a trial back");
  app.add_option("--silent-for", typed.silent_s, "Seconds of such a stall");
}

void Settle(Arguments& typed) {
  LoadOptions& load = typed.load;
  load.study = StudyNameOf(typed.study_id);
  load.time = Seconds(typed.seconds);
  load.warm_up = Seconds(typed.warm_up_s);
  load.think = Seconds(typed.think_ms / 1000.0);
  load.wait = Seconds(typed.wait_s);
  load.chaos.silent_for = Seconds(typed.silent_s);
  load.keep_history = typed.check || !typed.history.empty();
  if (typed.channels > 0) {
    load.per_channel = (load.workers + typed.channels - 1) / typed.channels;
  }
}

absl::Status Create(AdminClient& admin, const Arguments& typed) {
  v1::CreateStudyRequest request =
      LoadStudy(typed.study_id, typed.trials, typed.parameters);
  if (typed.ttl_s > 0) {
    request.mutable_spec()->mutable_lease()->mutable_ttl()->set_seconds(
        static_cast<std::int64_t>(typed.ttl_s));
  }
  return admin
      .Call(admin.studies(), &v1::StudyService::Stub::CreateStudy, request)
      .status();
}

// Whether all is as it should be.
absl::StatusOr<bool> Check(AdminClient& admin, const LoadRun& run,
                           const Arguments& typed) {
  ASSIGN_OR_RETURN(
      const StoredStudy stored,
      admin.ReadStudy(StudyNameOf(typed.study_id), typed.load.reports > 0));
  const std::vector<std::string> wrong = CheckHistory(run.history(), stored);
  for (const std::string& sentence : wrong) {
    std::cout << "wrong: " << sentence << "\n";
  }
  std::cout << "checked " << run.history().size() << " events against "
            << stored.trials.size() << " trials: " << wrong.size()
            << " wrong\n";
  return wrong.empty();
}

absl::StatusOr<ExitCode> Run(Arguments& typed) {
  Settle(typed);
  AdminClient admin(typed.load.connect);
  if (typed.create) RETURN_IF_ERROR(Create(admin, typed));
  const SystemClock clock;
  LoadRun run(typed.load, clock);
  run.Start();
  run.Wait(std::chrono::hours(24 * 365));
  run.Stop();
  std::cout << run.figures().Describe(run.measured());
  if (!typed.history.empty()) {
    std::ofstream file(typed.history);
    WriteHistory(run.history(), file);
  }
  if (!typed.check) return kExitOk;
  ASSIGN_OR_RETURN(const bool fine, Check(admin, run, typed));
  return fine ? kExitOk : kExitFailure;
}

int Main(int argc, char** argv) {
  Arguments typed;
  CLI::App app("A fleet of virtual workers for a running coordinator.",
               "frostline-load");
  DeclareFleet(app, typed);
  DeclareStudy(app, typed);
  DeclareChaos(app, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  const absl::StatusOr<ExitCode> code = Run(typed);
  if (code.ok()) return *code;
  std::cerr << DescribeError(code.status()) << std::endl;
  return ExitCodeOf(code.status());
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) { return frostline::bench::Main(argc, argv); }
