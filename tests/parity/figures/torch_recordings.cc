// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/figures/torch_recordings.h"

#include "worker/trainer/model/safetensors.h"

namespace frostline::test {
namespace {

trainer::HeadSpec HeadOfRecording(const JsonValue& expected) {
  const std::string task = TextAt(expected, "task");
  trainer::HeadSpec head;
  head.outputs = static_cast<std::int64_t>(NumberAt(expected, "num_labels"));
  if (task.starts_with("tok")) head.task = trainer::Task::kTokens;
  if (task == "reg") head.task = trainer::Task::kRegression;
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
