// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/freezing_check.h"

#include <cstddef>
#include <string>
#include <utility>

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

Expected<Done> FreezingCheck::Begin() {
  return CatchTorch([&]() -> Expected<Done> {
    const auto& weights = trained_.model().weights();
    const auto& shared = setup_.pretrained->loaded.model.weights();
    WeightSums& sums = setup_.pretrained->findings->sums;
    sums.resize(shared.size());
    // A copy, or what was drawn, is this trial's own.
    const auto is_shared = [&](std::size_t i) {
      return i < shared.size() && weights[i].value.const_data_ptr() ==
                                      shared[i].value.const_data_ptr();
    };
    WeightSums known(weights.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (is_shared(i)) known[i] = sums[i];
    }
    auditor_.emplace(trained_.model(), trained_.trains(), std::move(known));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (is_shared(i)) sums[i] = auditor_->sums()[i];
    }
    return Done{};
  });
}

void FreezingCheck::NoteStep(const std::vector<Batch>& parts) {
  for (const Batch& part : parts) {
    if (largest_ && part.ids.numel() <= largest_->ids.numel()) continue;
    largest_ = part;
  }
}

std::vector<std::int64_t> FreezingCheck::Activations() const {
  if (!largest_) return {};  // the attempt took no step
  Expected<std::vector<std::int64_t>> measured =
      MeasureActivations(trained_.stepper(), *largest_);
  if (measured.ok()) return std::move(measured).value();
  listener_.Log("activations were not measured: " +
                FaultText(measured.fault()));
  return {};
}

Expected<FreezeAudit> FreezingCheck::Audit() const {
  std::vector<std::int64_t> activations = Activations();
  Expected<FreezeAudit> audit = CatchTorch([&]() -> Expected<FreezeAudit> {
    const Model before = trained_.AsItBegan();
    return auditor_->Audit({.stepper = trained_.stepper(),
                            .before = before,
                            .rates = trained_.rates(),
                            .plan = trained_.whole_plan(),
                            .waiting = trained_.Waiting(),
                            .activations = std::move(activations)});
  });
  if (!audit.ok()) return audit;
  for (const std::string& odd : audit.value().odd) listener_.Log(odd);
  if (!audit.value().wrong.empty()) setup_.pretrained->findings->spoilt = true;
  return audit;
}

}  // namespace frostline::trainer
