// SPDX-License-Identifier: Apache-2.0
//
// What the command line takes without a coordinator: its start, and writing the
// answer of `trial list` of 5,000 trials.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "cli/view/trial_view.h"
#include "frostline/v1/study_service.pb.h"
#include "tests/bench/bench_main.h"

namespace frostline::bench {
namespace {

constexpr int kTrials = 5000;
constexpr int kLayers = 12;

v1::ListTrialsReply ManyTrials() {
  v1::ListTrialsReply reply;
  for (int i = 0; i < kTrials; ++i) {
    v1::Trial& trial = *reply.add_trials();
    trial.set_name(absl::StrCat("studies/imdb/trials/", i));
    trial.set_number(i);
    trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
    trial.set_worker(absl::StrCat("workers/gpu", i % 8));
    trial.add_values(0.9 + i * 1e-6);
    (*trial.mutable_metrics())["accuracy"] = trial.values(0);
    trial.mutable_start_time()->set_seconds(1'700'000'000 + i);
    trial.mutable_end_time()->set_seconds(1'700'000'060 + i);
    for (int layer = 0; layer < kLayers; ++layer) {
      v1::ParameterValue& value = *trial.add_parameters();
      value.set_name(absl::StrCat("layer.", layer));
      value.mutable_value()->set_number_value((i + layer) % 7 * 1e-5);
    }
  }
  return reply;
}

// The best of several calls.
template <typename Work>
double Milliseconds(const Bench& bench, const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < (bench.quick() ? 3 : 10); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count());
  }
  return best;
}

void MeasureStart(const Bench& bench) {
  for (const std::string word : {"version", "help"}) {
    const std::string command =
        absl::StrCat(FROSTLINE_PROGRAM, " --", word, " >/dev/null");
    bench.Figure(absl::StrCat("cli.start_ms.", word),
                 Milliseconds(bench, [&command] {
                   if (std::system(command.c_str()) != 0) std::exit(1);
                 }));
  }
}

void MeasureTrials(const Bench& bench) {
  const v1::ListTrialsReply reply = ManyTrials();
  const cli::Trials& trials = reply.trials();
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  const auto measure = [&bench](const char* what, const auto& work) {
    bench.Figure(absl::StrCat("cli.trials_ms_5000.", what),
                 Milliseconds(bench, [&work] { Keep(work()); }));
  };
  measure("json", [&] { return cli::ToJson(reply); });
  measure("yaml", [&] { return cli::ToYaml(reply); });
  measure("json_protobuf", [&] { return cli::ProtobufJson(reply, true); });
  measure("table",
          [&] { return cli::TrialTable(trials, spec, false).Render(120); });
  measure("csv", [&] { return cli::TrialTable(trials, spec, true).Csv(); });
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  const frostline::bench::Bench bench(argc, argv);
  frostline::bench::MeasureStart(bench);
  frostline::bench::MeasureTrials(bench);
}
