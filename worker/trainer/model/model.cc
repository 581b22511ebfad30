// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model.h"

#include <set>
#include <string>
#include <utility>

namespace frostline::trainer {
namespace {

bool IsOfHead(const ParameterSpec& spec) {
  return spec.part == Part::kPooler || spec.part == Part::kHead;
}

// `values` stand in the order of ParametersOf(config, heads). Of the head
// `wanted`, or of the encoder where it is null.
std::vector<Weight> Chosen(const ModelConfig& config, const Heads& heads,
                           const std::vector<at::Tensor>& values,
                           const HeadSpec* wanted) {
  std::vector<Weight> chosen;
  std::vector<ParameterSpec> specs = ParametersOf(config, heads);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool fits = wanted == nullptr ? !IsOfHead(specs[i])
                                        : IsOfHead(specs[i]) &&
                                              (specs[i].part == Part::kPooler ||
                                               specs[i].task == wanted->name);
    if (fits) chosen.push_back({std::move(specs[i]), values[i]});
  }
  return chosen;
}

std::vector<ModelHead> HeadsOf(const ModelConfig& config, const Heads& heads,
                               const std::vector<at::Tensor>& values) {
  std::vector<ModelHead> made;
  for (const HeadSpec& head : heads) {
    made.emplace_back(config, head, Chosen(config, heads, values, &head));
  }
  return made;
}

Heads SpecsOf(const std::vector<ModelHead>& heads) {
  std::vector<HeadSpec> specs;
  for (const ModelHead& head : heads) specs.push_back(head.spec());
  return Heads(std::move(specs));
}

}  // namespace

Model::Model(TransformerEncoder encoder, ModelHead head)
    : Model(std::move(encoder), std::vector<ModelHead>{std::move(head)}) {}

Model::Model(TransformerEncoder encoder, std::vector<ModelHead> heads)
    : encoder_(std::move(encoder)),
      heads_(std::move(heads)),
      specs_(SpecsOf(heads_)) {
  std::set<std::string> seen;
  const auto add = [&](const std::vector<Weight>& weights, bool adapters,
                       bool poolers) {
    for (const Weight& each : weights) {
      const bool pools = each.spec.part == Part::kPooler;
      if (each.spec.adapts() != adapters || pools != poolers) continue;
      if (seen.insert(each.spec.name).second) weights_.push_back(each);
    }
  };
  add(encoder_.weights(), false, false);
  for (const bool poolers : {true, false}) {
    for (const ModelHead& head : heads_) add(head.weights(), false, poolers);
  }
  add(encoder_.weights(), true, false);
}

Model::Model(const ModelConfig& config, const Heads& heads,
             const std::vector<at::Tensor>& values)
    : Model(TransformerEncoder(config, Chosen(config, heads, values, nullptr)),
            HeadsOf(config, heads, values)) {}

Model Model::To(at::Device device) const {
  std::vector<ModelHead> moved;
  for (const ModelHead& head : heads_) moved.push_back(head.To(device));
  return Model(encoder_.To(device), std::move(moved));
}

Model Model::Merged() const { return Model(encoder_.Merged(), heads_); }

Expected<Done> Model::Check(const Batch& batch) const {
  return CheckBatch(batch, config(), head(batch.task).spec());
}

at::Tensor Model::Forward(const Batch& batch, const Pass& pass) const {
  Pass own = pass;
  own.first_token = ReadsFirstToken(config(), specs_);
  const at::Tensor boundary = batch.boundary.defined()
                                  ? batch.boundary
                                  : encoder_.Prefix(batch, own);  // [B, N, H]
  return head(batch.task)
      .Logits(encoder_.Suffix(boundary, batch, own), batch, own);
}

}  // namespace frostline::trainer
