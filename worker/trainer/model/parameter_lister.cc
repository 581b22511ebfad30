// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/parameter_lister.h"

#include <utility>

namespace frostline::trainer {

void ParameterLister::At(Part part, std::int64_t layer) {
  part_ = part;
  layer_ = layer;
}

void ParameterLister::Embedding(const std::string& name, std::int64_t rows,
                                std::int64_t width) {
  Add(name + ".weight", {rows, width}, Role::kEmbedding);
}

void ParameterLister::Norm(const std::string& name, std::int64_t width,
                           bool bias) {
  Add(name + ".weight", {width}, Role::kNorm);
  if (!bias) return;
  Add(name + ".bias", {width}, Role::kNorm);
  specs_->back().norm_bias = true;
}

void ParameterLister::Linear(const std::string& name, std::int64_t outputs,
                             std::int64_t inputs, HeadAxis axis, bool bias) {
  Add(name + ".weight", {outputs, inputs}, Role::kWeight);
  specs_->back().head_axis = axis;
  if (!bias) return;
  Add(name + ".bias", {outputs}, Role::kBias);
  if (axis == HeadAxis::kRows) specs_->back().head_axis = axis;
}

void ParameterLister::Adapter(const std::string& name, std::int64_t outputs,
                              std::int64_t inputs, std::int64_t rank) {
  Add(LoraANameOf(name), {rank, inputs}, Role::kLoraA);
  Add(LoraBNameOf(name), {outputs, rank}, Role::kLoraB);
}

void ParameterLister::Bottleneck(const std::string& name, std::int64_t width,
                                 std::int64_t size) {
  Add(DownNameOf(name) + ".weight", {size, width}, Role::kDown);
  Add(DownNameOf(name) + ".bias", {size}, Role::kAdapterBias);
  Add(UpNameOf(name) + ".weight", {width, size}, Role::kUp);
  Add(UpNameOf(name) + ".bias", {width}, Role::kAdapterBias);
}

void ParameterLister::Add(std::string name, std::vector<std::int64_t> shape,
                          Role role) {
  ParameterSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.part = part_;
  spec.layer = layer_;
  spec.role = role;
  specs_->push_back(std::move(spec));
}

}  // namespace frostline::trainer
