// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {
namespace {

// The cosine of two equal texts stays 1 when both are moved in the same way,
// and not when one of them stands still.
TEST(Smart, BothTextsOfAPairMayBeMovedTogether) {
  const Model bert = LoadFixture("models/bert-seq2").model;
  const HeadSpec cosine = {
      .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kCosine};
  std::map<std::string, at::Tensor> known;
  for (const Weight& each : bert.weights()) {
    known[each.spec.name] = each.value.detach();
  }
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(bert.config(), cosine)) {
    const auto found = known.find(spec.name);
    const bool map = spec.shape.size() == 2;
    values.push_back(found != known.end() ? found->second
                     : map                ? at::eye(spec.shape.front())
                                          : at::zeros(spec.shape));
  }
  const Model model(bert.config(), cosine, values);
  Batch pair;
  pair.ids = at::arange(5, 13, at::kLong).unsqueeze(0).repeat({2, 1});
  pair.mask = at::ones({2, 8}, at::kLong);
  pair.labels = at::ones({1}, at::kFloat);

  SmartOptions options;
  options.weight = 1.0;
  options.steps = 0;
  options.begin = [](const at::Tensor& x, const Batch&) {
    return at::arange(x.size(1) * x.size(2), at::kFloat)
        .sin()
        .reshape({1, x.size(1), x.size(2)})
        .repeat({2, 1, 1});
  };
  const auto added = [&] {
    return Smart(options).TermsOf(model, pair, {}).added.item<double>();
  };
  EXPECT_GT(added(), 0.01);
  options.pairs_together = true;
  EXPECT_LT(added(), 1e-8);
}

}  // namespace
}  // namespace frostline::trainer
