// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/figures/torch_recordings.h"

#include <stdexcept>

#include "worker/trainer/model/safetensors.h"

namespace frostline::test {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 26;

std::string TextOf(const JsonValue& value) {
  if (!value.is(JsonKind::kString)) {
    throw std::runtime_error(std::string(value.key) + " is no text");
  }
  return std::string(value.text);
}

}  // namespace

RecordedJson::RecordedJson(const std::filesystem::path& file)
    : bytes_(OrThrow(ReadWholeFile(file.string(), kLargest))),
      json_(OrThrow(Json::Parse(bytes_))) {}

bool Has(const JsonValue& object, const std::string& member) {
  return object.Find(member) != nullptr;
}

const JsonValue& At(const JsonValue& object, const std::string& member) {
  const JsonValue* found = object.Find(member);
  if (found == nullptr) throw std::runtime_error("there is no " + member);
  return *found;
}

double NumberOf(const JsonValue& value) {
  if (!value.is(JsonKind::kNumber)) {
    throw std::runtime_error(std::string(value.key) + " is no number");
  }
  return value.number;
}

double NumberAt(const JsonValue& object, const std::string& member) {
  return NumberOf(At(object, member));
}

std::string TextAt(const JsonValue& object, const std::string& member) {
  return TextOf(At(object, member));
}

std::string TextAt(const JsonValue& object, const std::string& member,
                   const std::string& otherwise) {
  return Has(object, member) ? TextAt(object, member) : otherwise;
}

std::vector<const JsonValue*> Elements(const JsonValue& value) {
  std::vector<const JsonValue*> elements;
  for (const JsonValue* at = value.first; at != nullptr; at = at->next) {
    elements.push_back(at);
  }
  return elements;
}

std::set<std::string> TextsAt(const JsonValue& object,
                              const std::string& member) {
  std::set<std::string> texts;
  for (const JsonValue* each : Elements(At(object, member))) {
    texts.insert(TextOf(*each));
  }
  return texts;
}

namespace {

trainer::HeadSpec HeadOfRecording(const JsonValue& expected) {
  const std::string task = TextAt(expected, "task");
  trainer::HeadSpec head;
  head.outputs = static_cast<std::int64_t>(NumberAt(expected, "num_labels"));
  if (task.starts_with("tok")) head.task = trainer::Task::kTokens;
  if (task == "reg") head.task = trainer::Task::kRegression;
  if (task == "lm") head.task = trainer::Task::kAnswers;
  if (task == "pair") {
    head.task = trainer::Task::kRegression;
    head.kind = trainer::HeadKind::kCosine;
    head.pooling = TextAt(expected, "pooling") == "mean"
                       ? trainer::Pooling::kMean
                       : trainer::Pooling::kFirst;
    head.scale = NumberAt(expected, "scale");
  }
  return head;
}

}  // namespace

trainer::Tensors RecordedTensors(const std::filesystem::path& file) {
  const trainer::Safetensors open =
      OrThrow(trainer::Safetensors::Open(file.string()));
  trainer::Tensors tensors;
  for (const trainer::StoredTensor& stored : open.tensors()) {
    tensors.emplace(stored.name, OrThrow(trainer::ReadTensor(open, stored)));
  }
  return tensors;
}

trainer::LoadedModel RecordedModel(const std::filesystem::path& folder) {
  at::set_num_threads(1);
  const RecordedJson expected(folder / "expected.json");
  return OrThrow(
      trainer::LoadModel(folder.string(), HeadOfRecording(expected.root()), 1));
}

void AddSummary(FigureKind kind, const std::string& name,
                const JsonValue& recorded, const at::Tensor& tensor,
                Figures& figures) {
  const at::Tensor all =
      tensor.detach().to(at::kCPU).to(at::kDouble).reshape(-1);
  figures.push_back({kind, name + " sum", NumberAt(recorded, "sum"),
                     all.sum().item<double>()});
  figures.push_back({kind, name + " magnitude", NumberAt(recorded, "abs_sum"),
                     all.abs().sum().item<double>()});
  for (const char* first : {"first4", "first8"}) {
    if (!Has(recorded, first)) continue;
    std::int64_t i = 0;
    for (const JsonValue* value : Elements(At(recorded, first))) {
      figures.push_back({kind, name + " " + first, NumberOf(*value),
                         all[i++].item<double>()});
    }
  }
}

}  // namespace frostline::test
