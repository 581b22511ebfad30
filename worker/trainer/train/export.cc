// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/export.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/plain/file.h"
#include "base/plain/json.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

std::string ClassName(const ModelConfig& config) {
  return std::string(std::ranges::find(KnownModels(), config.model_type,
                                       &KnownModel::model_type)
                         ->class_name);
}

// A reader that knows nothing of adapters at least finds them unexpected.
std::string AdapterMembers(const BottleneckSpec& spec) {
  if (!spec.any()) return "";
  return ",\n  \"frostline_adapters\": {\"size\": " +
         std::to_string(spec.size) + ", \"activation\": \"" +
         (spec.relu ? "relu" : "gelu") + "\"}";
}

// What the head decides, as members of a config.json.
std::string HeadMembers(const Model& model,
                        const std::vector<std::string>& labels) {
  const HeadSpec& head = model.head().spec();
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
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Fault{FaultKind::kUnreadable,
                 "cannot make " + folder + ": " + error.message(),
                 "name a folder that can be written"};
  }
  Expected<Done> put = CopyTokenizer(source, folder);
  if (put.ok()) put = WriteWeights(folder + "/model.safetensors", model);
  if (!put.ok()) return put.fault();
  return WriteFileAtomically(folder + "/config.json", config);
}

}  // namespace frostline::trainer
