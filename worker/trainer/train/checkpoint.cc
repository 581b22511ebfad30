// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/plain/file.h"
#include "base/plain/json.h"
#include "base/plain/sums.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

std::vector<Weight> Marked(const Model& model,
                           const std::vector<bool>& trains) {
  std::vector<Weight> marked;
  for (std::size_t i = 0; i < trains.size(); ++i) {
    if (trains[i]) marked.push_back(model.weights()[i]);
  }
  return marked;
}

}  // namespace

WeightCopies CopyWeights(const Model& model, const std::vector<bool>& trains) {
  WeightCopies copies;
  for (const Weight& each : Marked(model, trains)) {
    copies[each.spec.name] =
        each.value.detach().to(at::kCPU, at::kFloat, /*non_blocking=*/false,
                               /*copy=*/true);
  }
  return copies;
}

Expected<Done> PutBack(const WeightCopies& copies,
                       const std::vector<bool>& trains, Model& model) {
  const std::vector<Weight> marked = Marked(model, trains);
  bool fits = copies.size() == marked.size();
  for (const Weight& each : marked) {
    const auto found = copies.find(each.spec.name);
    fits = fits && found != copies.end() &&
           found->second.sizes() == each.value.sizes();
  }
  if (!fits) {
    return Fault{FaultKind::kInconsistent,
                 "the best evaluation's weights are of another plan",
                 "begin this trial anew"};
  }
  const at::NoGradGuard no_graph;
  for (const Weight& each : marked) {
    each.value.copy_(copies.at(each.spec.name));
  }
  return Done{};
}

namespace {

constexpr char kFormat[] = "frostline-checkpoint-2";
constexpr char kNote[] = "note.";
constexpr char kChecksum[] = "crc32";
constexpr char kLossScale[] = "loss_scale";  // of fp16

// Prefixes of the names of tensors in the file.
constexpr char kWeight[] = "weight.";
constexpr char kFirst[] = "first.";
constexpr char kSecond[] = "second.";
constexpr char kKept[] = "kept.";
constexpr char kMean[] = "mean.";  // SMART's

using Named = std::map<std::string, at::Tensor>;

Fault Unfit(const std::string& path, const std::string& cause) {
  return {FaultKind::kInconsistent, path + ": " + cause,
          "begin this trial anew, or resume from another checkpoint"};
}

// Returns the weights that do not train now but did or will.
Named RestingOf(const Stepper& stepper) {
  Named resting;
  const FreezePlan& plan = stepper.plan();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].rests) continue;
    const Weight& each = stepper.model().weights()[i];
    resting.emplace(kWeight + each.spec.name, each.value.detach());
  }
  return resting;
}

Named TensorsOf(const Stepper& stepper, const WeightCopies& kept) {
  Named tensors = RestingOf(stepper);
  for (const auto& [name, value] : kept) tensors.emplace(kKept + name, value);
  if (stepper.smart()) {
    for (const auto& [name, mean] : stepper.smart()->means()) {
      tensors.emplace(kMean + name, mean);
    }
  }
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    tensors.emplace(kWeight + each.name, each.value.detach());
    if (!each.first.defined()) continue;
    tensors.emplace(kFirst + each.name, each.first);
    if (!each.second.defined()) continue;  // of SGD
    tensors.emplace(kSecond + each.name, each.second);
  }
  return tensors;
}

// Returns the same tensors in main memory, contiguous. Those of a GPU are
// copied.
Named InMainMemory(Named tensors) {
  for (auto& [name, tensor] : tensors) {
    tensor = tensor.to(at::kCPU).contiguous();
  }
  return tensors;
}

// Returns the checksum over all that is written except itself, in the order of
// names.
std::string ChecksumOf(const Named& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::uint32_t crc = 0;
  for (const auto& [key, value] : metadata) {
    if (key == kChecksum) continue;
    crc = Crc32(crc, key.data(), key.size());
    crc = Crc32(crc, value.data(), value.size());
  }
  for (const auto& [name, tensor] : tensors) {
    crc = Crc32(crc, name.data(), name.size());
    crc = Crc32(crc, tensor.const_data_ptr(),
                static_cast<std::size_t>(tensor.nbytes()));
  }
  return std::to_string(crc);
}

// Returns the steps of each tensor. One that had no gradient for a while lags
// behind.
std::string StepsText(const Stepper& stepper) {
  std::string text = "{";
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    if (text.size() > 1) text += ", ";
    text += JsonString(each.name) + ": " + std::to_string(each.steps);
  }
  return text + "}";
}

std::map<std::string, std::string> MetadataOf(const Stepper& stepper,
                                              const Notes& notes) {
  std::map<std::string, std::string> metadata = {
      {"format", kFormat},
      {"steps", std::to_string(stepper.steps())},
      {"tensor_steps", StepsText(stepper)}};
  if (stepper.loss_scale()) {
    metadata[kLossScale] = stepper.loss_scale()->Print();
  }
  for (const auto& [key, value] : notes) metadata[kNote + key] = value;
  return metadata;
}

Expected<Done> ReadSteps(const std::string& path, const std::string& text,
                         std::map<std::string, std::int64_t>& steps) {
  Expected<Json> json = Json::Parse(text);
  if (!json.ok()) return Unfit(path, json.fault().cause);
  const JsonValue& root = json.value().root();
  for (const JsonValue* at = root.first; at != nullptr; at = at->next) {
    const std::optional<std::int32_t> count = at->Index();
    if (!count) return Unfit(path, "a number of steps that is none");
    steps.emplace(at->key, *count);
  }
  return Done{};
}

// Returns the tensors whose shapes the file's tensors under kKept must have.
WeightCopies KeptLike(const Safetensors& file, const Model& model) {
  WeightCopies kept;
  for (const Weight& each : model.weights()) {
    if (file.Find(kKept + each.spec.name) == nullptr) continue;
    kept.emplace(each.spec.name, each.value.detach());
  }
  return kept;
}

// The contents of a file, checked against what a stepper expects.
struct Saved {
  Named tensors;
  std::map<std::string, std::int64_t> tensor_steps;
  std::int64_t steps = 0;
  Notes notes;
};

Expected<Done> ReadHeader(const Safetensors& file, Saved& saved) {
  const std::map<std::string, std::string>& metadata = file.metadata();
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != kFormat) {
    return Unfit(file.path(), "it is no checkpoint of this version");
  }
  for (const char* key : {"steps", "tensor_steps", kChecksum}) {
    if (!metadata.contains(key)) {
      return Unfit(file.path(), std::string("it has no ") + key);
    }
  }
  const std::string& steps = metadata.at("steps");
  const auto [end, error] =
      std::from_chars(steps.data(), steps.data() + steps.size(), saved.steps);
  if (error != std::errc() || end != steps.data() + steps.size() ||
      saved.steps < 0) {
    return Unfit(file.path(), "a number of steps that is none");
  }
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(kNote)) continue;
    saved.notes.emplace(key.substr(std::string_view(kNote).size()), value);
  }
  return ReadSteps(file.path(), metadata.at("tensor_steps"),
                   saved.tensor_steps);
}

Expected<Done> ReadTensors(const Safetensors& file, const Named& expected,
                           Saved& saved) {
  if (file.tensors().size() != expected.size()) {
    return Unfit(file.path(), "other tensors were trained");
  }
  for (const auto& [name, like] : expected) {
    const StoredTensor* stored = file.Find(name);
    if (stored == nullptr || stored->shape != like.sizes().vec() ||
        stored->dtype != Dtype::kF32) {
      return Unfit(file.path(), "\"" + name + "\" is missing or different");
    }
    ASSIGN_OR_FAULT(at::Tensor tensor, ReadTensor(file, *stored));
    saved.tensors.emplace(name, std::move(tensor));
  }
  if (ChecksumOf(saved.tensors, file.metadata()) !=
      file.metadata().at(kChecksum)) {
    return Unfit(file.path(), "its checksum is wrong");
  }
  return Done{};
}

void TakeOver(const Saved& saved, Stepper& stepper) {
  const at::NoGradGuard no_graph;
  for (TrainedTensor& each : stepper.optimizer().tensors()) {
    each.value.copy_(saved.tensors.at(kWeight + each.name));
    each.steps = saved.tensor_steps.at(each.name);
    if (!each.first.defined()) continue;
    each.first.copy_(saved.tensors.at(kFirst + each.name));
    if (!each.second.defined()) continue;
    each.second.copy_(saved.tensors.at(kSecond + each.name));
  }
  for (auto& [name, value] : RestingOf(stepper)) {
    value.copy_(saved.tensors.at(name));
  }
  if (stepper.smart()) {
    for (const auto& [name, mean] : stepper.smart()->means()) {
      mean.copy_(saved.tensors.at(kMean + name));
    }
  }
  stepper.Resume(saved.steps);
}

// Restores the loss scale. Returns false unless the file and the stepper both
// have one or both have none.
bool RestoreScale(const Safetensors& file, Stepper& stepper) {
  const auto found = file.metadata().find(kLossScale);
  const bool has = found != file.metadata().end();
  if (!has || !stepper.loss_scale())
    return has == stepper.loss_scale().has_value();
  return stepper.loss_scale()->Restore(found->second);
}

}  // namespace

Expected<CheckpointCopy> CopyForCheckpoint(const Stepper& stepper,
                                           const Notes& notes,
                                           const WeightCopies& kept) {
  return CatchTorch([&]() -> Expected<CheckpointCopy> {
    CheckpointCopy copy = {TensorsOf(stepper, kept),
                           MetadataOf(stepper, notes)};
    for (auto& [name, tensor] : copy.tensors) {
      tensor = tensor.is_cpu() ? tensor.clone().contiguous()
                               : tensor.to(at::kCPU).contiguous();
    }
    return copy;
  });
}

Expected<Done> WriteCheckpoint(const std::string& path, CheckpointCopy copy) {
  return CatchTorch([&]() -> Expected<Done> {
    std::vector<TensorBytes> bytes;
    for (const auto& [name, tensor] : copy.tensors) {
      bytes.push_back(
          {name, Dtype::kF32, tensor.sizes().vec(), tensor.const_data_ptr()});
    }
    copy.metadata[kChecksum] = ChecksumOf(copy.tensors, copy.metadata);
    return WriteSafetensors(path, std::move(bytes), copy.metadata);
  });
}

Expected<Done> SaveCheckpoint(const std::string& path, const Stepper& stepper,
                              const Notes& notes, const WeightCopies& kept) {
  return CatchTorch([&]() -> Expected<Done> {
    return WriteCheckpoint(path, {InMainMemory(TensorsOf(stepper, kept)),
                                  MetadataOf(stepper, notes)});
  });
}

Expected<Notes> LoadCheckpoint(const std::string& path, Stepper& stepper,
                               WeightCopies* kept) {
  return CatchTorch([&]() -> Expected<Notes> {
    ASSIGN_OR_FAULT(Safetensors file, Safetensors::Open(path));
    Saved saved;
    Expected<Done> read = ReadHeader(file, saved);
    const WeightCopies like =
        kept == nullptr ? WeightCopies() : KeptLike(file, stepper.model());
    if (read.ok()) {
      read = ReadTensors(file, TensorsOf(stepper, like), saved);
    }
    if (!read.ok()) return read.fault();
    for (const TrainedTensor& each : stepper.optimizer().tensors()) {
      if (!saved.tensor_steps.contains(each.name)) {
        return Unfit(path, "it has no steps of \"" + each.name + "\"");
      }
    }
    if (!RestoreScale(file, stepper)) {
      return Unfit(path, "it has another precision, or a damaged loss scale");
    }
    TakeOver(saved, stepper);
    if (kept == nullptr) return saved.notes;
    kept->clear();
    for (const auto& [name, unused] : like) {
      kept->emplace(name, saved.tensors.at(kKept + name));
    }
    return saved.notes;
  });
}

Expected<Notes> ReadNotes(const std::string& path) {
  ASSIGN_OR_FAULT(const Safetensors file, Safetensors::Open(path));
  Saved saved;
  RETURN_IF_FAULT(ReadHeader(file, saved));
  return std::move(saved.notes);
}

void CheckpointWriter::Begin(const std::string& name, std::int64_t step,
                             std::function<Expected<Done>()> write) {
  name_ = name;
  step_ = step;
  written_ = std::async(std::launch::async, std::move(write));
}

std::optional<WrittenCheckpoint> CheckpointWriter::Take() {
  if (!writes() ||
      written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return WrittenCheckpoint{name_, step_, written_.get()};
}

std::optional<WrittenCheckpoint> CheckpointWriter::Await() {
  if (writes()) written_.wait();
  return Take();
}

namespace {

std::string ClassName(const ModelConfig& config) {
  return std::string(std::ranges::find(KnownModels(), config.model_type,
                                       &KnownModel::model_type)
                         ->class_name);
}

// Returns what config.json says about bottlenecks. A reader that does not know
// them at least finds an unexpected member.
std::string AdapterMembers(const BottleneckSpec& spec) {
  if (!spec.any()) return "";
  return ",\n  \"frostline_adapters\": {\"size\": " +
         std::to_string(spec.size) + ", \"activation\": \"" +
         (spec.relu ? "relu" : "gelu") + "\"}";
}

// Returns the members of config.json that the head decides.
std::string HeadMembers(const Model& model,
                        const std::vector<std::string>& labels) {
  const HeadSpec& head = model.head().spec();
  if (head.task == Task::kAnswers) {
    return "  \"architectures\": [\"" + ClassName(model.config()) +
           "ForCausalLM\"],\n  \"dtype\": \"float32\"";
  }
  const bool tokens = head.task == Task::kTokens;
  std::string names;
  std::string ids;
  for (std::int64_t i = 0; i < head.outputs; ++i) {
    const std::string number = std::to_string(i);
    const std::string label =
        JsonString(labels.empty() ? "LABEL_" + number
                                  : labels[static_cast<std::size_t>(i)]);
    if (i > 0) names += ", ", ids += ", ";
    names += JsonString(number) + ": " + label;
    ids += label + ": " + number;
  }
  std::string members = "  \"architectures\": [\"" + ClassName(model.config()) +
                        "For" + (tokens ? "Token" : "Sequence") +
                        "Classification\"],\n  \"dtype\": \"float32\",\n"
                        "  \"id2label\": {" +
                        names +
                        "},\n"
                        "  \"label2id\": {" +
                        ids + "}";
  if (!tokens) {
    members += ",\n  \"problem_type\": \"";
    members += head.task == Task::kRegression ? "regression"
                                              : "single_label_classification";
    members += '"';
  }
  return members;
}

Expected<Done> CopyTokenizer(const std::string& source,
                             const std::string& folder) {
  for (const std::string& name : TokenizerFilesOf(source)) {
    ASSIGN_OR_FAULT(std::string bytes,
                    ReadWholeFile(source + "/" + name, kMaxTokenizerBytes));
    RETURN_IF_FAULT(WriteFileAtomically(folder + "/" + name, bytes));
  }
  return Done{};
}

Expected<Done> WriteWeights(const std::string& path, const Model& model) {
  return CatchTorch([&] {
    std::vector<at::Tensor> kept;  // alive until they are written
    std::vector<TensorBytes> bytes;
    const Model whole = model.Merged();
    for (const Weight& each : whole.weights()) {
      kept.push_back(each.value.detach().to(at::kCPU).contiguous());
      bytes.push_back({each.spec.name, Dtype::kF32, each.spec.shape,
                       kept.back().const_data_ptr()});
    }
    return WriteSafetensors(path, std::move(bytes), {{"format", "pt"}});
  });
}

Expected<Done> MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return Done{};
  return Fault{FaultKind::kUnreadable,
               "cannot make " + folder + ": " + error.message(),
               "name a folder that can be written"};
}

}  // namespace

Expected<std::string> ExportedConfig(std::string_view original,
                                     const Model& model,
                                     const std::vector<std::string>& labels,
                                     const TextReading& texts) {
  const HeadSpec& head = model.head().spec();
  if (head.kind != HeadKind::kLinear || head.apart() ||
      head.pooling != Pooling::kUsual || model.heads().size() > 1) {
    return Fault{FaultKind::kUnsupported,
                 "transformers has no model with such a head, or with several",
                 "resume from the checkpoint instead"};
  }
  if (!labels.empty() &&
      static_cast<std::int64_t>(labels.size()) != head.outputs) {
    return Fault{FaultKind::kMisuse, "as many labels as outputs are needed",
                 "name every class, or none"};
  }
  ASSIGN_OR_FAULT(Json json, Json::Parse(original));
  const std::set<std::string_view> replaced = {
      "architectures", "dtype",      "torch_dtype",  "id2label",
      "label2id",      "num_labels", "problem_type", kTextsMember};
  std::string config = "{\n";
  const JsonValue& root = json.root();
  for (const JsonValue* at = root.first; at != nullptr; at = at->next) {
    if (replaced.contains(at->key)) continue;
    config += "  " + JsonString(at->key) + ": " + JsonText(*at) + ",\n";
  }
  return config + HeadMembers(model, labels) +
         AdapterMembers(model.config().bottleneck) + TextsMember(texts) +
         "\n}\n";
}

Expected<Done> ExportModel(const std::string& folder, const Model& model,
                           const std::string& source,
                           const std::vector<std::string>& labels,
                           const TextReading& texts) {
  ASSIGN_OR_FAULT(std::string original,
                  ReadWholeFile(source + "/config.json", kMaxConfigBytes));
  ASSIGN_OR_FAULT(std::string config,
                  ExportedConfig(original, model, labels, texts));
  RETURN_IF_FAULT(MakeFolder(folder));
  Expected<Done> put = CopyTokenizer(source, folder);
  if (put.ok()) put = WriteWeights(folder + "/model.safetensors", model);
  if (!put.ok()) return put.fault();
  return WriteFileAtomically(folder + "/config.json", config);
}

namespace {

constexpr std::string_view kLoraAEnd = ".lora_A.weight";

// A map with an adapter, and how strongly that counts.
struct AdaptedMap {
  std::string name;
  std::int64_t rank;
  double alpha;
};

std::vector<AdaptedMap> AdaptedMaps(const Model& model) {
  std::vector<AdaptedMap> maps;
  for (const Weight& each : model.weights()) {
    if (each.spec.role != Role::kLoraA) continue;
    const std::int64_t rank = each.spec.shape[0];
    const std::string& name = each.spec.name;
    maps.push_back(
        {name.substr(0, name.size() - kLoraAEnd.size()), rank,
         model.config().lora.ScaleOf(rank) * static_cast<double>(rank)});
  }
  return maps;
}

std::string JsonListOf(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + JsonString(word);
  }
  return "[" + text + "]";
}

// Returns adapter_config.json: r and lora_alpha of the first map, and patterns
// for those that differ from it.
std::string AdapterConfig(const std::vector<AdaptedMap>& maps,
                          const std::set<std::string>& saved,
                          const Model& model, const std::string& base) {
  std::set<std::string> targets;
  std::string ranks;
  std::string alphas;
  const AdaptedMap& first = maps.front();
  for (const AdaptedMap& map : maps) {
    targets.insert(map.name);
    const std::string begin = JsonString(map.name) + ": ";
    if (map.rank != first.rank) {
      ranks += (ranks.empty() ? "" : ", ") + begin + std::to_string(map.rank);
    }
    if (map.alpha != first.alpha) {
      alphas += (alphas.empty() ? "" : ", ") + begin + JsonNumber(map.alpha);
    }
  }
  const Task task = model.head().spec().task;
  const char* const kind = task == Task::kAnswers  ? "CAUSAL_LM"
                           : task == Task::kTokens ? "TOKEN_CLS"
                                                   : "SEQ_CLS";
  return "{\n  \"peft_type\": \"LORA\",\n  \"task_type\": \"" +
         std::string(kind) +
         "\",\n  \"base_model_name_or_path\": " + JsonString(base) +
         ",\n  \"r\": " + std::to_string(first.rank) +
         ",\n  \"lora_alpha\": " + JsonNumber(first.alpha) +
         ",\n  \"lora_dropout\": " + JsonNumber(model.config().lora.dropout) +
         ",\n  \"bias\": \"none\",\n  \"inference_mode\": true,\n"
         "  \"target_modules\": " +
         JsonListOf(targets) + ",\n  \"rank_pattern\": {" + ranks +
         "},\n  \"alpha_pattern\": {" + alphas +
         "},\n  \"modules_to_save\": " + JsonListOf(saved) + "\n}\n";
}

}  // namespace

Expected<bool> ExportAdapters(const std::string& folder, const Model& model,
                              const std::set<std::string>& trained,
                              const std::string& base) {
  const std::vector<AdaptedMap> maps = AdaptedMaps(model);
  if (maps.empty()) return false;
  RETURN_IF_FAULT(MakeFolder(folder));
  std::set<std::string> saved;
  const auto module_of = [](const std::string& name) {
    return name.substr(0, name.rfind('.'));
  };
  for (const Weight& each : model.weights()) {
    const bool on_top =
        each.spec.part == Part::kHead || each.spec.part == Part::kPooler;
    const bool whole = on_top || trained.contains(each.spec.name);
    if (whole && !each.spec.adapts()) saved.insert(module_of(each.spec.name));
  }
  RETURN_IF_FAULT(CatchTorch([&] {
    std::vector<at::Tensor> kept;  // alive until they are written
    std::vector<TensorBytes> bytes;
    for (const Weight& each : model.weights()) {
      if (!each.spec.adapts() && !saved.contains(module_of(each.spec.name))) {
        continue;
      }
      kept.push_back(each.value.detach().to(at::kCPU).contiguous());
      bytes.push_back({"base_model.model." + each.spec.name, Dtype::kF32,
                       each.spec.shape, kept.back().const_data_ptr()});
    }
    return WriteSafetensors(folder + "/adapter_model.safetensors",
                            std::move(bytes), {{"format", "pt"}});
  }));
  RETURN_IF_FAULT(WriteFileAtomically(folder + "/adapter_config.json",
                                      AdapterConfig(maps, saved, model, base)));
  return true;
}

}  // namespace frostline::trainer
