// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/torch_recordings.h"

#include "worker/trainer/model/safetensors.h"

namespace frostline {
namespace {

HeadSpec HeadOfRecording(const nlohmann::json& expected) {
  const std::string task = expected.at("task");
  HeadSpec head;
  head.outputs = expected.at("num_labels");
  if (task.starts_with("tok")) head.task = Task::kTokens;
  if (task == "reg") head.task = Task::kRegression;
  if (task == "pair") {
    head.task = Task::kPairCosine;
    head.pooling =
        expected.at("pooling") == "mean" ? Pooling::kMean : Pooling::kFirst;
    head.scale = expected.at("scale");
  }
  return head;
}

}  // namespace

Tensors RecordedTensors(const std::filesystem::path& file) {
  const Safetensors open = OrThrow(Safetensors::Open(file.string()));
  Tensors tensors;
  for (const StoredTensor& stored : open.tensors()) {
    tensors.emplace(stored.name, OrThrow(ReadTensor(open, stored)));
  }
  return tensors;
}

LoadedModel RecordedModel(const std::filesystem::path& folder) {
  at::set_num_threads(1);
  const nlohmann::json expected = ReadJson((folder / "expected.json").string());
  return OrThrow(LoadModel(folder.string(), HeadOfRecording(expected), 1));
}

void CompareFigures(const std::string& name, const nlohmann::json& recorded,
                    const at::Tensor& tensor, double tolerance,
                    ParityResult& result) {
  const at::Tensor all = tensor.detach().to(at::kDouble).reshape(-1);
  result.Near(name + " sum", recorded.at("sum"), all.sum().item<double>(),
              tolerance);
  result.Near(name + " magnitude", recorded.at("abs_sum"),
              all.abs().sum().item<double>(), tolerance);
  for (const char* first : {"first4", "first8"}) {
    if (!recorded.contains(first)) continue;
    std::int64_t i = 0;
    for (const double value : recorded.at(first)) {
      result.Near(name + " " + first, value, all[i++].item<double>(),
                  tolerance);
    }
  }
}

}  // namespace frostline
