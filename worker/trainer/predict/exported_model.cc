// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/exported_model.h"

#include <utility>

#include "worker/trainer/model/model_folder.h"

namespace frostline::trainer {

Expected<ExportedModel> OpenExportedModel(const std::string& folder) {
  Expected<ModelFolder> opened =
      ModelFolder::Open(folder, SavedAdapters::kTake);
  if (!opened.ok()) return opened.fault();
  Expected<ExportedFacts> facts =
      ReadExportedFacts(opened.value().config_json());
  if (!facts.ok()) return facts.fault();
  Expected<LabelSet> labels = LabelSet::FromList(facts.value().labels);
  if (!labels.ok()) return labels.fault();
  HeadSpec head = {.task = facts.value().task};
  head.outputs = head.task == Task::kRegression
                     ? 1
                     : static_cast<std::int64_t>(labels.value().size());
  Expected<LoadedHead> top = opened.value().ReadHead(head, 0);
  if (!top.ok()) return top.fault();
  if (!top.value().report.initialized.empty()) {
    return Fault{FaultKind::kInconsistent,
                 folder + ": the weights have no trained head: \"" +
                     top.value().report.initialized.front() +
                     "\" is not there, or of another shape",
                 "name a folder that training.extra.export wrote"};
  }
  Expected<TransformerEncoder> encoder = opened.value().ReadEncoder();
  if (!encoder.ok()) return encoder.fault();
  return ExportedModel{
      Model(std::move(encoder).value(), std::move(top.value().head)),
      std::move(labels).value(), facts.value().texts};
}

}  // namespace frostline::trainer
