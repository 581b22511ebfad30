// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/device/model_checks.h"

#include <algorithm>
#include <cmath>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/device/autocast.h"
#include "worker/trainer/model/loss.h"

namespace frostline {
namespace {

// Whether the name says which head it has.
bool IsKnown(const std::string& name) {
  for (const char* head : {"-seq2", "-seq5", "-reg", "-tok17"}) {
    if (name.ends_with(head)) return true;
  }
  return false;
}

double Sum(const at::Tensor& tensor) { return tensor.sum().item<double>(); }

// How far a gradient is from sums and first numbers, where not all of it was
// recorded.
double OffSummary(const at::Tensor& gradient, const JsonValue& recorded) {
  const at::Tensor all = gradient.to(at::kDouble).reshape(-1);
  const double magnitude = recorded.Find("abs_sum")->number;
  const double scale = std::max(1.0, magnitude);
  double off = std::abs(Sum(all) - recorded.Find("sum")->number) / scale;
  off = std::max(off, std::abs(Sum(all.abs()) - magnitude) / scale);
  std::int64_t i = 0;
  for (const double value : Numbers(*recorded.Find("first8"))) {
    off = std::max(off, std::abs(all[i++].item<double>() - value));
  }
  return off;
}

class RecordedModel {
 public:
  RecordedModel(const std::string& name, const Device& device)
      : name_("models/" + name),
        expected_(FixturePath(name_ + "/expected.json")),
        io_(ReadTensors(FixturePath(name_ + "/io.safetensors"))),
        model_(LoadFixture(name_).model.To(device.torch())),
        device_(device) {}

  void CheckForward(const Limits& limits, Verdicts& verdicts) {
    const at::NoGradGuard no_graph;
    const JsonValue* recorded = expected_["batches"].first;
    for (const std::string b : {"b0", "b1"}) {
      const at::Tensor logits = Logits(b, Precision::kFp32);
      verdicts.Near(name_ + " " + b + " logits", OffLogits(b, logits),
                    limits.forward);
      const double loss =
          LossOf(model_.head(), logits, Labels(b), 0.0).item<double>();
      verdicts.Near(name_ + " " + b + " loss",
                    std::abs(loss - recorded->Find("loss")->number),
                    limits.forward);
      recorded = recorded->next;
    }
    const at::Tensor rounded = Logits("b0", Precision::kBf16);
    const double largest = io_.at("b0.logits").abs().max().item<double>();
    verdicts.Near(name_ + " b0 logits in bf16", OffLogits("b0", rounded),
                  limits.bf16 * std::max(1.0, largest));
  }

  void CheckBackward(const Limits& limits, Verdicts& verdicts) {
    for (Parameter& each : model_.parameters()) {
      each.value.set_requires_grad(true);
    }
    LossOf(model_.head(), Logits("b0", Precision::kFp32), Labels("b0"), 0.0)
        .backward();
    const JsonValue* summary = expected_.root().Find("grads_b0");
    Tensors full;
    if (summary == nullptr) {
      full = ReadTensors(FixturePath(name_ + "/grads_b0.safetensors"));
    }
    double off = 0.0;
    double squares = 0.0;
    for (const Parameter& each : model_.parameters()) {
      if (!each.value.grad().defined()) continue;
      const at::Tensor gradient = each.value.grad().to(at::kCPU);
      squares += Sum(gradient.to(at::kDouble).pow(2));
      off = std::max(
          off, summary == nullptr
                   ? Furthest(gradient, full.at(each.spec.name))
                   : OffSummary(gradient, *summary->Find(each.spec.name)));
    }
    verdicts.Near(name_ + " gradients", off, limits.backward);
    verdicts.Near(name_ + " norm of the gradients",
                  std::abs(std::sqrt(squares) - expected_["grad_norm"].number),
                  limits.backward);
  }

 private:
  Batch BatchHere(const std::string& b) const {
    return MoveTo(BatchOf(io_, b), device_.torch());
  }
  at::Tensor Labels(const std::string& b) const { return BatchHere(b).labels; }

  at::Tensor Logits(const std::string& b, Precision precision) const {
    const Autocast autocast(precision, device_.torch());
    return model_.Forward(BatchHere(b), {});
  }

  double OffLogits(const std::string& b, const at::Tensor& logits) const {
    return Furthest(logits.to(at::kCPU), io_.at(b + ".logits"));
  }

  std::string name_;
  JsonFixture expected_;
  Tensors io_;
  Model model_;
  const Device& device_;
};

}  // namespace

void CheckModel(const std::string& name, const Device& device,
                const Limits& limits, Verdicts& verdicts) {
  if (!IsKnown(name)) {
    return verdicts.Skip("models/" + name, "a kind that is not read here");
  }
  RecordedModel model(name, device);
  model.CheckForward(limits, verdicts);
  model.CheckBackward(limits, verdicts);
}

}  // namespace frostline
