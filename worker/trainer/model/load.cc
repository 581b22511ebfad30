// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/load.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/stored_names.h"

namespace frostline {
namespace {

using Place = WeightFiles::Place;
using PlacesByName = std::map<std::string, Place>;

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

Expected<PlacesByName> CurrentNames(const WeightFiles& files,
                                    const ModelConfig& config) {
  PlacesByName places;
  for (const auto& [stored, place] : files.places()) {
    const std::string name = CurrentName(stored, config);
    if (!places.emplace(name, place).second) {
      return Fault{FaultKind::kInconsistent,
                   "the weights have \"" + name + "\" under two names",
                   "save the model again with a current transformers"};
    }
  }
  return places;
}

// The place of a weight that can be taken over; nothing when it must be drawn
// anew; a fault when it may not be.
Expected<std::optional<Place>> PlaceOf(const ParameterSpec& spec,
                                       const PlacesByName& places,
                                       LoadReport& report) {
  const auto found = places.find(spec.name);
  if (found == places.end()) {
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

// As transformers does: normal weights, biases of 0, LayerNorms of 1 and 0; and
// as peft does: A as nn.Linear's weights, B of 0.
at::Tensor Draw(const ParameterSpec& spec, const ModelConfig& config,
                at::Generator& chance) {
  const at::Tensor value = at::zeros(spec.shape, at::kFloat);
  if (spec.role == Role::kNorm && !spec.norm_bias) value.fill_(1.0);
  if (spec.role == Role::kWeight || spec.role == Role::kEmbedding) {
    value.normal_(0.0, config.initializer_range, chance);
  }
  if (spec.role == Role::kLoraA) {
    const double most = 1.0 / std::sqrt(static_cast<double>(spec.shape[1]));
    value.uniform_(-most, most, chance);
  }
  return value;
}

void ReportTheRest(PlacesByName places, const std::vector<ParameterSpec>& specs,
                   const ModelConfig& config, LoadReport& report) {
  for (const ParameterSpec& spec : specs) places.erase(spec.name);
  for (const auto& [name, place] : places) {
    const bool known = IsLeftover(name, config);
    (known ? report.unused : report.unexpected).push_back(place.tensor->name);
  }
}

Expected<LoadedModel> Assemble(const WeightFiles& files,
                               const ModelConfig& config, const HeadSpec& head,
                               std::uint64_t seed) {
  Expected<PlacesByName> places = CurrentNames(files, config);
  if (!places.ok()) return places.fault();
  const std::vector<ParameterSpec> specs = ParametersOf(config, head);
  LoadReport report;
  std::vector<std::optional<Place>> sources;
  for (const ParameterSpec& spec : specs) {  // all before any memory is taken
    Expected<std::optional<Place>> place =
        PlaceOf(spec, places.value(), report);
    if (!place.ok()) return place.fault();
    sources.push_back(place.value());
  }
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<at::Tensor> values;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!sources[i]) {
      report.initialized.push_back(specs[i].name);
      values.push_back(Draw(specs[i], config, chance));
      continue;
    }
    Expected<at::Tensor> value =
        ReadTensor(files.file(*sources[i]), *sources[i]->tensor);
    if (!value.ok()) return value.fault();
    values.push_back(std::move(value).value());
  }
  ReportTheRest(std::move(places).value(), specs, config, report);
  return LoadedModel{Model(config, head, std::move(values)), std::move(report),
                     ""};
}

}  // namespace

Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& stored) {
  return CatchTorch([&]() -> Expected<at::Tensor> {
    at::Tensor tensor = at::empty(stored.shape, ScalarOf(stored.dtype));
    Expected<Done> read = file.Read(stored, tensor.mutable_data_ptr());
    if (!read.ok()) return read.fault();
    return tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  });
}

Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed) {
  const std::set<std::string> drawn(loaded.report.initialized.begin(),
                                    loaded.report.initialized.end());
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<at::Tensor> values;
  for (const Parameter& each : loaded.model.parameters()) {
    const at::Tensor value = each.value.detach();
    if (drawn.contains(each.spec.name)) {
      values.push_back(Draw(each.spec, config, chance).to(value.device()));
    } else {
      values.push_back(trains[values.size()] ? value.clone() : value);
    }
  }
  // Behind all others: the head is drawn the same without them.
  for (const ParameterSpec& spec : ParametersOf(config, loaded.model.head())) {
    if (!spec.adapts()) continue;
    values.push_back(Draw(spec, config, chance).to(loaded.model.device()));
  }
  return Model(config, loaded.model.head(), std::move(values));
}

Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed) {
  Expected<Done> sensible = CheckHead(head);
  if (!sensible.ok()) return sensible.fault();
  Expected<std::string> json =
      ReadWholeFile(folder + "/config.json", kMaxConfigBytes);
  if (!json.ok()) return json.fault();
  Expected<ModelConfig> config = ReadModelConfig(json.value());
  if (!config.ok()) return config.fault();
  Expected<WeightFiles> files = WeightFiles::Open(folder);
  if (!files.ok()) return files.fault();
  Expected<LoadedModel> loaded = CatchTorch(
      [&] { return Assemble(files.value(), config.value(), head, seed); });
  if (loaded.ok()) loaded.value().config_json = std::move(json).value();
  return loaded;
}

}  // namespace frostline
