// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/predict.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/load.h"
#include "worker/trainer/text/tokenizer_folder.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/workbench.h"

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

namespace {

// What an answer stands on.
struct Material {
  ExportedModel exported;
  DataPart part;
  std::shared_ptr<const TokenStore> tokens;
};

TaskKind PredictKindOf(Task task) {
  if (task == Task::kTokens) return TaskKind::kTagging;
  return task == Task::kRegression ? TaskKind::kRegression
                                   : TaskKind::kClassification;
}

Expected<DataPart> ReadRows(const PredictRequest& request,
                            const ExportedModel& exported) {
  Expected<InputFile> file = InputFile::Open(request.file);
  if (!file.ok()) return file.fault();
  const TaskKind task = PredictKindOf(exported.model.head().spec().task);
  DatasetReader reader(task);
  reader.WithForm({.lowercase = exported.texts.lowercase,
                   .strip_accents = exported.texts.strip_accents});
  if (task != TaskKind::kRegression) reader.WithLabels(exported.labels);
  if (!request.labelled) reader.WithoutLabels();
  Expected<Dataset> data =
      reader.Read(std::move(file).value(), request.format, request.columns);
  if (!data.ok()) return data.fault();
  DataPart part;
  part.rows = data.value().AllRows();
  part.data = std::make_shared<const Dataset>(std::move(data).value());
  return part;
}

Expected<std::int64_t> LongestTextOf(const PredictRequest& request,
                                     const ExportedModel& exported) {
  TrainingSettings reading;
  reading.max_length =
      request.max_length > 0 ? request.max_length : exported.texts.max_length;
  const std::int64_t longest = LongestText(reading, exported.model.config());
  const std::int64_t most = exported.model.config().longest_text();
  if (longest <= most) return longest;
  return Fault{FaultKind::kMisuse,
               "texts of " + std::to_string(longest) +
                   " tokens, and the model reads at most " +
                   std::to_string(most),
               "give --max-length of at most that"};
}

Expected<Material> Gather(const PredictRequest& request) {
  Expected<ExportedModel> exported = OpenExportedModel(request.model);
  if (!exported.ok()) return exported.fault();
  Expected<DataPart> part = ReadRows(request, exported.value());
  if (!part.ok()) return part.fault();
  Expected<std::int64_t> longest = LongestTextOf(request, exported.value());
  if (!longest.ok()) return longest.fault();
  Expected<Tokenizer> tokenizer = LoadTokenizer(request.model);
  if (!tokenizer.ok()) return tokenizer.fault();
  Expected<TokenStore> tokens =
      Tokenize(*part.value().data, part.value().rows, tokenizer.value(),
               {.max_length = static_cast<std::size_t>(longest.value())},
               PairForm::kJoined, {});
  if (!tokens.ok()) return tokens.fault();
  return Material{
      std::move(exported).value(), std::move(part).value(),
      std::make_shared<const TokenStore>(std::move(tokens).value())};
}

// Trains nothing: it is there for its forward pass.
Expected<Stepper> MakeAnswerer(Model& model, Precision precision) {
  ModuleRates none;
  for (const std::string& module : ModuleNames(model.config(), model.heads())) {
    none[module] = 0.0;
  }
  Expected<FreezePlan> plan =
      MakeFreezePlan(model.config(), model.heads(), none, {});
  if (!plan.ok()) return plan.fault();
  StepOptions options;
  options.schedule.total_steps = 1;
  options.precision = precision;
  return Stepper::Make(model, plan.value(), options);
}

Expected<Done> Answer(const Stepper& stepper, const TokenStore& tokens,
                      BatchMaker& maker, Scores& scores) {
  const BatchPlanner planner(
      maker.lengths(),
      {.batch_tokens = EvaluationTokens(stepper.model().device().is_cpu())});
  for (const RowBatch& rows : planner.Ordered()) {
    const Expected<Done> added = CatchTorch([&]() -> Expected<Done> {
      const Batch batch = maker.Make(rows);
      Expected<Prediction> prediction = stepper.Predict(batch);
      if (!prediction.ok()) return prediction.fault();
      scores.Add(rows, batch, prediction.value());
      return Done{};
    });
    if (!added.ok()) return added;
  }
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto unread = tokens.unread(row);
    if (!unread.empty()) scores.AddUnread(row, unread);
  }
  return Done{};
}

}  // namespace

Expected<PredictReport> Predict(const PredictRequest& request,
                                const Device& device) {
  Expected<Precision> precision = device.Choose(request.precision);
  if (!precision.ok()) return precision.fault();
  device.Multiply(precision.value());
  Expected<Material> material = Gather(request);
  if (!material.ok()) return material.fault();
  const auto& [exported, part, tokens] = material.value();
  Expected<Model> model = CatchTorch(
      [&]() -> Expected<Model> { return exported.model.To(device.torch()); });
  if (!model.ok()) return model.fault();
  Expected<Stepper> stepper = MakeAnswerer(model.value(), precision.value());
  if (!stepper.ok()) return stepper.fault();
  const HeadSpec& head = exported.model.head().spec();
  BatchMaker maker(tokens, exported.model.config(), head, device.is_cpu());
  Scores scores(head, exported.labels, maker.size());
  Expected<Done> done = Answer(stepper.value(), *tokens, maker, scores);
  if (done.ok()) done = WritePredictions(request.output, part, scores);
  if (!done.ok()) return done.fault();
  PredictReport report;
  report.examples = maker.size();
  if (request.labelled) report.metrics = scores.Compute();
  return report;
}

}  // namespace frostline::trainer
