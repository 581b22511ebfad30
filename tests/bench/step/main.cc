// SPDX-License-Identifier: Apache-2.0
//
// What a training step costs, full and with a frozen prefix, beside a plain
// LibTorch one. Each side has a process and one thread; they take turns, step
// by step, and a figure is the median of processor seconds.
// FROSTLINE_BENCH_CHAPTER=settings measures one chapter alone.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/step/other_process.h"
#include "tests/bench/step/our_steps.h"
#include "tests/bench/step/plain_steps.h"
#include "tests/bench/step/setting_steps.h"
#include "tests/bench/step/whole_trials.h"
#include "worker/trainer/device/device.h"

namespace frostline::bench {
namespace {

using trainer::Device;
using trainer::Precision;

enum What : std::int32_t {
  kTake,
  kStep,
  kLogits,
  kFlops,
  kPeak,
  kEvaluate,
  kAudit,
};

template <typename Side>
std::vector<double> Answer(Side& side, const Question& question) {
  switch (question.what) {
    case kTake:
      side.Take({static_cast<Frozen>(question.how), question.number});
      side.Step();  // the first one after a change pays for it
      return {0.0};
    case kStep:
      return {SecondsOfStep(side)};
    default:
      return side.Logits();
  }
}

double PeakFlops(Precision precision) {
  const Device device = Device::Open("cpu").value();
  return 1e9 * trainer::MeasureGflops(device, precision,
                                      std::chrono::milliseconds(300));
}

OtherProcess::Answer BeginOurs(const Shape& shape, Precision precision) {
  at::set_num_threads(1);
  trainer::KeepFreedMemory();  // as the trainer does
  auto side = std::make_shared<OurSteps>(shape, precision);
  return [side, precision](const Question& question) -> std::vector<double> {
    if (question.what == kFlops) return {side->Flops()};
    if (question.what == kPeak) return {PeakFlops(precision)};
    if (question.what == kEvaluate) {
      const double begun = ProcessorSeconds();
      side->Evaluate();
      return {ProcessorSeconds() - begun};
    }
    if (question.what == kAudit) {
      const double begun = ProcessorSeconds();
      side->Audit();
      return {ProcessorSeconds() - begun};
    }
    return Answer(*side, question);
  };
}

// A question is a study and steps; `how` is 1 + its frozen layers. Answers
// seconds, and the texts that went through them.
OtherProcess::Answer BeginTrials(const Shape& shape) {
  at::set_num_threads(1);
  trainer::KeepFreedMemory();
  auto trials = std::make_shared<WholeTrials>(shape);
  return [trials](const Question& question) -> std::vector<double> {
    const double begun = ProcessorSeconds();
    const trainer::TrialUsage usage = trials->Run(
        "s" + std::to_string(question.what), question.number, question.how - 1);
    return {ProcessorSeconds() - begun,
            static_cast<double>(usage.prefix.misses)};
  };
}

OtherProcess::Answer BeginPlain(const Shape& shape) {
  at::set_num_threads(1);
  auto side = std::make_shared<PlainSteps>(shape);
  return [side](const Question& q) { return Answer(*side, q); };
}

// Two programs that compute different things are not compared.
void MustAgree(OtherProcess& one, OtherProcess& other) {
  const std::vector<double> ours = one.Ask({kLogits, 0, 0});
  const std::vector<double> plain = other.Ask({kLogits, 0, 0});
  double most = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    most = std::max(most, std::abs(ours[i] - plain.at(i)));
  }
  if (most < 1e-4) return;
  std::cerr << "bench step: the two models differ by " << most << "\n";
  std::exit(1);
}

struct Pair {
  double ours = 0.0;
  double plain = 0.0;
};

class StepBench {
 public:
  StepBench(const Bench& bench, const Shape& shape, std::string suffix)
      : bench_(bench),
        suffix_(std::move(suffix)),
        ours_([&] { return BeginOurs(shape, Precision::kFp32); }),
        plain_([&] { return BeginPlain(shape); }) {
    MustAgree(ours_, plain_);
  }

  void Run() {
    const Pair full = Measure({Frozen::kNothing, 0}, "full");
    Tell("full_vs_torch", full.plain / full.ours);
    for (const std::int64_t k : {4, 5, 6}) {
      const std::string at = ".k" + std::to_string(k);
      const Pair lr0 = Measure({Frozen::kLr0, k}, "lr0" + at);
      const Pair hard = Measure({Frozen::kHard, k}, "hard" + at);
      Tell("lr0_vs_torch" + at, lr0.plain / lr0.ours);
      Tell("hard_vs_torch" + at, hard.plain / hard.ours);
      Tell("speedup_skip" + at, lr0.ours / hard.ours);
      const double evaluation = MedianOf(kEvaluate);
      const double cached = MeasureOurs({Frozen::kCached, k}, "cached" + at);
      Tell("speedup_cached" + at, lr0.ours / cached);
      Tell("frozen_eval" + at, MedianOf(kEvaluate) / evaluation);
    }
  }

 private:
  Pair Measure(const Freeze& freeze, const std::string& name) {
    const auto how = static_cast<std::int32_t>(freeze.how);
    ours_.Ask({kTake, how, freeze.k});
    plain_.Ask({kTake, how, freeze.k});
    std::vector<double> ours;
    std::vector<double> plain;
    for (int i = 0; i < Times(); ++i) {
      ours.push_back(ours_.Ask({kStep, 0, 0}).at(0));
      plain.push_back(plain_.Ask({kStep, 0, 0}).at(0));
    }
    const Pair pair = {Median(ours), Median(plain)};
    Tell("step_ms.ours." + name, 1e3 * pair.ours);
    Tell("step_ms.torch." + name, 1e3 * pair.plain);
    return pair;
  }

  // Measures what plain LibTorch cannot do.
  double MeasureOurs(const Freeze& freeze, const std::string& name) {
    ours_.Ask({kTake, static_cast<std::int32_t>(freeze.how), freeze.k});
    const double seconds = MedianOf(kStep);
    Tell("step_ms.ours." + name, 1e3 * seconds);
    return seconds;
  }

  double MedianOf(What what) {
    std::vector<double> seconds;
    for (int i = 0; i < Times(); ++i) {
      seconds.push_back(ours_.Ask({what, 0, 0}).at(0));
    }
    return Median(seconds);
  }

  int Times() const { return bench_.quick() ? 5 : 15; }

  void Tell(const std::string& key, double value) const {
    bench_.Figure(key + suffix_, value);
  }

  const Bench& bench_;
  const std::string suffix_;
  OtherProcess ours_;
  OtherProcess plain_;
};

// The share of what this machine multiplies at most, full training.
void RunPeak(const Bench& bench, const Shape& shape, Precision precision,
             const std::string& key) {
  OtherProcess ours([&] { return BeginOurs(shape, precision); });
  const double flops = ours.Ask({kFlops, 0, 0}).at(0);
  std::vector<double> shares;
  ours.Ask({kStep, 0, 0});
  for (int i = 0; i < (bench.quick() ? 3 : 9); ++i) {
    const double peak = ours.Ask({kPeak, 0, 0}).at(0);
    shares.push_back(flops / ours.Ask({kStep, 0, 0}).at(0) / peak);
  }
  bench.Figure(key, Median(shares));
}

// What a trial costs beyond its steps where its model is on the shelf, and what
// frozen layers cost the second of two studies.
void RunTrials(const Bench& bench, const Shape& shape) {
  constexpr std::int64_t kSteps = 5;
  OtherProcess trials([&] { return BeginTrials(shape); });
  trials.Ask({0, 0, 1});  // loads
  std::vector<double> overheads;
  for (int i = 0; i < (bench.quick() ? 5 : 15); ++i) {
    const double one = trials.Ask({0, 0, 1}).at(0);
    const double many = trials.Ask({0, 0, kSteps}).at(0);
    overheads.push_back(one - (many - one) / (kSteps - 1));
  }
  bench.Figure("trial_overhead_ms", 1e3 * Median(overheads));
  trials.Ask({1, 1 + 4, 1});
  bench.Figure("second_study_prefix_forwards",
               trials.Ask({2, 1 + 4, kSteps}).at(1));
}

// What the audit of a trial's freezing costs, once a trial, beside a step.
void RunAudit(const Bench& bench, const Shape& shape) {
  OtherProcess ours([&] { return BeginOurs(shape, Precision::kFp32); });
  for (const std::int64_t k : {0, 4}) {
    const std::string at = k == 0 ? ".full" : ".k" + std::to_string(k);
    const Frozen how = k == 0 ? Frozen::kNothing : Frozen::kHard;
    ours.Ask({kTake, static_cast<std::int32_t>(how), k});
    std::vector<double> steps;
    std::vector<double> audits;
    for (int i = 0; i < (bench.quick() ? 5 : 15); ++i) {
      steps.push_back(ours.Ask({kStep, 0, 0}).at(0));
      audits.push_back(ours.Ask({kAudit, 0, 0}).at(0));
    }
    bench.Figure("audit_ms" + at, 1e3 * Median(audits));
    bench.Figure("audit_in_steps" + at, Median(audits) / Median(steps));
  }
}

bool Wanted(const std::string& chapter) {
  const char* const only = std::getenv("FROSTLINE_BENCH_CHAPTER");
  return only == nullptr || only == chapter;
}

void Run(const Bench& bench) {
  const Shape small;
  Shape wide;
  wide.hidden = 768;
  if (Wanted("trials")) RunTrials(bench, small);
  if (Wanted("steps")) StepBench(bench, small, "").Run();
  if (Wanted("peak")) {
    RunPeak(bench, small, Precision::kFp32, "fp32_peak");
    RunPeak(bench, small, Precision::kBf16, "bf16_peak");
  }
  if (Wanted("audit")) RunAudit(bench, small);
  if (Wanted("settings")) RunSettings(bench, small);
  if (bench.quick()) return;
  if (Wanted("steps")) StepBench(bench, wide, ".h768").Run();
  if (Wanted("peak")) RunPeak(bench, wide, Precision::kBf16, "bf16_peak.h768");
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "", frostline::bench::Run);
}
