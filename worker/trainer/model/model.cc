// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model.h"

#include <utility>

namespace frostline::trainer {
namespace {

bool IsOfHead(const ParameterSpec& spec) {
  return spec.part == Part::kPooler || spec.part == Part::kHead;
}

// `values` stand in the order of ParametersOf.
std::vector<Weight> Chosen(const ModelConfig& config, const HeadSpec& head,
                           const std::vector<at::Tensor>& values,
                           bool of_head) {
  std::vector<Weight> chosen;
  std::vector<ParameterSpec> specs = ParametersOf(config, head);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (IsOfHead(specs[i]) != of_head) continue;
    chosen.push_back({std::move(specs[i]), values[i]});
  }
  return chosen;
}

}  // namespace

Model::Model(TransformerEncoder encoder, ModelHead head)
    : encoder_(std::move(encoder)), head_(std::move(head)) {
  const auto add = [this](const std::vector<Weight>& weights, bool adapters) {
    for (const Weight& each : weights) {
      if (each.spec.adapts() == adapters) weights_.push_back(each);
    }
  };
  add(encoder_.weights(), false);
  add(head_.weights(), false);
  add(encoder_.weights(), true);
}

Model::Model(const ModelConfig& config, const HeadSpec& head,
             const std::vector<at::Tensor>& values)
    : Model(TransformerEncoder(config, Chosen(config, head, values, false)),
            ModelHead(config, head, Chosen(config, head, values, true))) {}

Model Model::To(at::Device device) const {
  return Model(encoder_.To(device), head_.To(device));
}

Model Model::Merged() const { return Model(encoder_.Merged(), head_); }

Expected<Done> Model::Check(const Batch& batch) const {
  return CheckBatch(batch, config(), head_.spec());
}

at::Tensor Model::Forward(const Batch& batch, const Pass& pass) const {
  Pass own = pass;
  own.first_token = ReadsFirstToken(config(), head_.spec());
  const at::Tensor boundary = batch.boundary.defined()
                                  ? batch.boundary
                                  : encoder_.Prefix(batch, own);  // [B, N, H]
  return head_.Logits(encoder_.Suffix(boundary, batch, own), batch, own);
}

}  // namespace frostline::trainer
