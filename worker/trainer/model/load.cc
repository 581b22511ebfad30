// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/load.h"

#include <set>
#include <utility>

namespace frostline::trainer {

Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed) {
  const std::set<std::string> drawn(loaded.report.initialized.begin(),
                                    loaded.report.initialized.end());
  const Heads& heads = loaded.model.heads();
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<at::Tensor> values;
  for (const Weight& each : loaded.model.weights()) {
    const at::Tensor value = each.value.detach();
    if (drawn.contains(each.spec.name)) {
      values.push_back(
          DrawWeight(each.spec, config, chance).to(value.device()));
    } else {
      values.push_back(trains[values.size()] ? value.clone() : value);
    }
  }
  // Behind all others: the head is drawn the same without them.
  for (const ParameterSpec& spec : ParametersOf(config, heads)) {
    if (!spec.adapts()) continue;
    values.push_back(
        DrawWeight(spec, config, chance).to(loaded.model.device()));
  }
  return Model(config, heads, values);
}

Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed) {
  Expected<Done> sensible = CheckHead(head);
  if (!sensible.ok()) return sensible.fault();
  Expected<ModelFolder> opened = ModelFolder::Open(folder);
  if (!opened.ok()) return opened.fault();
  Expected<LoadedHead> top = opened.value().ReadHead(head, seed);
  if (!top.ok()) return top.fault();
  Expected<TransformerEncoder> encoder = opened.value().ReadEncoder();
  if (!encoder.ok()) return encoder.fault();
  return LoadedModel{
      Model(std::move(encoder).value(), std::move(top.value().head)),
      std::move(top.value().report), opened.value().config_json()};
}

}  // namespace frostline::trainer
