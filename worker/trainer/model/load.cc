// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/load.h"

#include <set>
#include <utility>

#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

at::ScalarType ScalarOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return at::kFloat;
    case Dtype::kF16:
      return at::kHalf;
    case Dtype::kBF16:
      return at::kBFloat16;
    case Dtype::kI64:
      return at::kLong;
    case Dtype::kI32:
      return at::kInt;
    case Dtype::kU8:
      return at::kByte;
    case Dtype::kBool:
      return at::kBool;
  }
  return at::kFloat;
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

bool IsReplaceable(const ParameterSpec& spec) {
  return spec.part == Part::kHead || spec.part == Part::kPooler;
}

}  // namespace

Expected<ModelFolder> ModelFolder::Open(const std::string& folder,
                                        SavedAdapters adapters) {
  ASSIGN_OR_FAULT(std::string json,
                  ReadWholeFile(folder + "/config.json", kMaxConfigBytes));
  ASSIGN_OR_FAULT(ModelConfig config, ReadModelConfig(json, adapters));
  ASSIGN_OR_FAULT(WeightFiles files, WeightFiles::Open(folder));
  ModelFolder opened(std::move(files));
  opened.config_ = std::move(config);
  opened.config_json_ = std::move(json);
  RETURN_IF_FAULT(opened.FindPlaces());
  return opened;
}

Expected<Done> ModelFolder::FindPlaces() {
  for (const auto& [stored, place] : files_.places()) {
    const std::string name = CurrentName(stored, config_);
    if (!places_.emplace(name, place).second) {
      return Fault{FaultKind::kInconsistent,
                   "the weights have \"" + name + "\" under two names",
                   "save the model again with a current transformers"};
    }
  }
  LoadReport none;
  for (const ParameterSpec& spec : EncoderParametersOf(config_)) {
    RETURN_IF_FAULT(PlaceOf(spec, none));
  }
  return Done{};
}

Expected<std::optional<WeightFiles::Place>> ModelFolder::PlaceOf(
    const ParameterSpec& spec, LoadReport& report) const {
  const auto found = places_.find(spec.name);
  if (found == places_.end()) {
    if (!IsReplaceable(spec)) {
      return Fault{FaultKind::kInconsistent,
                   "the weights lack \"" + spec.name + "\"",
                   "see that config.json and the weights are of one model"};
    }
    report.missing.push_back(spec.name);
    return std::optional<Place>();
  }
  const StoredTensor& tensor = *found->second.tensor;
  if (tensor.shape != spec.shape) {
    if (spec.part != Part::kHead) {
      return Fault{FaultKind::kInconsistent,
                   "\"" + spec.name + "\" has the shape " +
                       ShapeText(tensor.shape) + "; config.json says " +
                       ShapeText(spec.shape),
                   "see that config.json and the weights are of one model"};
    }
    report.reshaped.push_back(spec.name);
    return std::optional<Place>();
  }
  if (tensor.dtype != Dtype::kF32 && tensor.dtype != Dtype::kF16 &&
      tensor.dtype != Dtype::kBF16) {
    return Fault{FaultKind::kUnsupported,
                 "\"" + spec.name + "\" is of the dtype " +
                     std::string(NameOf(tensor.dtype)),
                 "take weights that are F32, F16 or BF16"};
  }
  return std::optional<Place>(found->second);
}

Expected<TransformerEncoder> ModelFolder::ReadEncoder(
    const StopSign& stop) const {
  return CatchTorch([&]() -> Expected<TransformerEncoder> {
    std::vector<Weight> weights;
    for (ParameterSpec& spec : EncoderParametersOf(config_)) {
      RETURN_IF_FAULT(stop.Check());
      const Place& place = places_.at(spec.name);
      ASSIGN_OR_FAULT(at::Tensor value,
                      ReadTensor(files_.file(place), *place.tensor));
      weights.push_back({std::move(spec), std::move(value)});
    }
    return TransformerEncoder(config_, std::move(weights));
  });
}

Expected<LoadedHead> ModelFolder::ReadHead(const HeadSpec& spec,
                                           std::uint64_t seed) const {
  RETURN_IF_FAULT(CheckHead(spec));
  return CatchTorch([&]() -> Expected<LoadedHead> {
    LoadReport report;
    at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
    std::vector<Weight> weights;
    for (ParameterSpec& each : HeadParametersOf(config_, spec)) {
      ASSIGN_OR_FAULT(std::optional<Place> place, PlaceOf(each, report));
      if (!place) {
        report.initialized.push_back(each.name);
        at::Tensor drawn = DrawWeight(each, config_, chance);
        weights.push_back({std::move(each), std::move(drawn)});
        continue;
      }
      ASSIGN_OR_FAULT(at::Tensor value,
                      ReadTensor(files_.file(*place), *place->tensor));
      weights.push_back({std::move(each), std::move(value)});
    }
    ReportTheRest(spec, report);
    return LoadedHead{ModelHead(config_, spec, std::move(weights)),
                      std::move(report)};
  });
}

void ModelFolder::ReportTheRest(const HeadSpec& head,
                                LoadReport& report) const {
  std::map<std::string, Place> rest = places_;
  for (const ParameterSpec& spec : ParametersOf(config_, head)) {
    rest.erase(spec.name);
  }
  for (const auto& [name, place] : rest) {
    const bool known = IsLeftover(name, config_);
    (known ? report.unused : report.unexpected).push_back(place.tensor->name);
  }
}

Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& stored) {
  return CatchTorch([&]() -> Expected<at::Tensor> {
    at::Tensor tensor = at::empty(stored.shape, ScalarOf(stored.dtype));
    RETURN_IF_FAULT(file.Read(stored, tensor.mutable_data_ptr()));
    return tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  });
}

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
  RETURN_IF_FAULT(CheckHead(head));
  ASSIGN_OR_FAULT(ModelFolder opened, ModelFolder::Open(folder));
  ASSIGN_OR_FAULT(LoadedHead top, opened.ReadHead(head, seed));
  ASSIGN_OR_FAULT(TransformerEncoder encoder, opened.ReadEncoder());
  return LoadedModel{Model(std::move(encoder), std::move(top.head)),
                     std::move(top.report), opened.config_json()};
}

}  // namespace frostline::trainer
