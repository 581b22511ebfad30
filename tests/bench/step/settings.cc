// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/settings.h"

namespace frostline::bench {
namespace {

using namespace frostline::trainer;

constexpr std::int64_t kPrefix = 4;  // layers

StepKind FrozenTo(std::int64_t layers) {
  StepKind kind;
  kind.frozen = layers;
  return kind;
}

StepKind Smoothed(StepKind kind, bool at_boundary) {
  kind.smart.weight = 1.0;
  kind.smart.at_boundary = at_boundary;
  return kind;
}

// Half of the texts are of each task.
StepKind TwoTasks(Surgery surgery) {
  StepKind kind;
  kind.heads = {{.task = Task::kSequence, .outputs = 2, .name = "one"},
                {.task = Task::kSequence, .outputs = 2, .name = "other"}};
  kind.surgery = surgery;
  return kind;
}

StepKind Headed(HeadKind head, bool of_numbers) {
  StepKind kind;
  kind.heads.front() = {
      .task = of_numbers ? Task::kRegression : Task::kSequence,
      .outputs = of_numbers ? 1 : 2,
      .kind = head};
  return kind;
}

void AddWhatTrainsLess(std::vector<Setting>& all) {
  StepKind lora;
  lora.lora = {.rank = 8, .alpha = 16.0};
  all.push_back({"lora", lora, {}});
  StepKind adapters;
  adapters.bottleneck = {.size = 64};
  all.push_back({"adapters", adapters, {}});
  StepKind biases;
  biases.tuned = Tuned::kBiases;
  all.push_back({"biases", biases, {}});
}

// Without a frozen prefix both ways to enter are the same.
void AddSmart(std::vector<Setting>& all) {
  const StepKind prefix = FrozenTo(kPrefix);
  all.push_back({"smart", Smoothed({}, false), {}});
  all.push_back({"smart_embeddings.k4", Smoothed(prefix, false), prefix});
  all.push_back({"smart_boundary.k4", Smoothed(prefix, true), prefix});
}

}  // namespace

std::vector<Setting> AllSettings() {
  std::vector<Setting> all;
  AddWhatTrainsLess(all);
  AddSmart(all);
  const StepKind two = TwoTasks(Surgery::kNone);
  all.push_back({"two_tasks", two, {}});
  all.push_back({"surgery_dominant", TwoTasks(Surgery::kDominant), two});
  all.push_back({"surgery_pcgrad", TwoTasks(Surgery::kPcGrad), two});
  all.push_back({"head_mlp", Headed(HeadKind::kMlp, false), {}});
  all.push_back(
      {"head_inner_product", Headed(HeadKind::kInnerProduct, true), {}});
  all.push_back({"head_cosine", Headed(HeadKind::kCosine, true), {}});
  all.push_back({"head_features", Headed(HeadKind::kFeatures, false), {}});
  StepKind weighed;
  weighed.class_weights = {1.0, 2.5};
  all.push_back({"class_weights", weighed, {}});
  StepKind reported;
  reported.reports = true;
  all.push_back({"report_every_step", reported, {}});
  StepKind halved;
  halved.precision = Precision::kFp16;
  all.push_back({"fp16", halved, {}});
  return all;
}

}  // namespace frostline::bench
