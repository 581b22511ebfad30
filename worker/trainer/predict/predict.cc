// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/predict.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "worker/trainer/data/token_store.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/predict/say.h"
#include "worker/trainer/text/tokenizer_folder.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

Expected<ExportedModel> OpenExportedModel(const std::string& folder) {
  ASSIGN_OR_FAULT(ModelFolder opened,
                  ModelFolder::Open(folder, SavedAdapters::kTake));
  ASSIGN_OR_FAULT(ExportedFacts facts, ReadExportedFacts(opened.config_json()));
  ASSIGN_OR_FAULT(LabelSet labels, LabelSet::FromList(facts.labels));
  HeadSpec head = {.task = facts.task};
  const bool classes =
      head.task == Task::kSequence || head.task == Task::kTokens;
  head.outputs = classes ? static_cast<std::int64_t>(labels.size()) : 1;
  ASSIGN_OR_FAULT(LoadedHead top, opened.ReadHead(head, 0));
  if (!top.report.initialized.empty()) {
    return Fault{FaultKind::kInconsistent,
                 folder + ": the weights have no trained head: \"" +
                     top.report.initialized.front() +
                     "\" is not there, or of another shape",
                 "name a folder that training.extra.export wrote"};
  }
  ASSIGN_OR_FAULT(TransformerEncoder encoder, opened.ReadEncoder());
  return ExportedModel{Model(std::move(encoder), std::move(top.head)),
                       std::move(labels), facts.texts};
}

namespace {

// What an answer stands on.
struct Material {
  ExportedModel exported;
  DataPart part;
  std::shared_ptr<const TokenStore> tokens;
  Tokenizer tokenizer;
  std::int64_t longest;  // tokens of a text
};

// A decoder chooses where the file has choices, else it says its answers.
TaskKind PredictKindOf(Task task, const ColumnMap& columns) {
  if (task == Task::kTokens) return TaskKind::kTagging;
  if (task == Task::kAnswers) {
    return columns.contains("choices") ? TaskKind::kChoices
                                       : TaskKind::kAnswers;
  }
  return task == Task::kRegression ? TaskKind::kRegression
                                   : TaskKind::kClassification;
}

Expected<DataPart> ReadRows(const PredictRequest& request,
                            const ExportedModel& exported) {
  ASSIGN_OR_FAULT(InputFile file, InputFile::Open(request.file));
  const TaskKind task =
      PredictKindOf(exported.model.head().spec().task, request.columns);
  DatasetReader reader(task);
  reader.WithForm({.lowercase = exported.texts.lowercase,
                   .strip_accents = exported.texts.strip_accents,
                   .chat = exported.texts.chat});
  if (HasClasses(task)) reader.WithLabels(exported.labels);
  if (!request.labelled) reader.WithoutLabels();
  ASSIGN_OR_FAULT(Dataset data, reader.Read(std::move(file), request.format,
                                            request.columns));
  DataPart part;
  part.rows = data.AllRows();
  part.data = std::make_shared<const Dataset>(std::move(data));
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
  ASSIGN_OR_FAULT(ExportedModel exported, OpenExportedModel(request.model));
  ASSIGN_OR_FAULT(DataPart part, ReadRows(request, exported));
  ASSIGN_OR_FAULT(std::int64_t longest, LongestTextOf(request, exported));
  ASSIGN_OR_FAULT(Tokenizer tokenizer, LoadTokenizer(request.model));
  EndAnswersOf(exported.model.config(), tokenizer);
  ASSIGN_OR_FAULT(TokenStore tokens,
                  Tokenize(*part.data, part.rows, tokenizer,
                           {.max_length = static_cast<std::size_t>(longest)},
                           PairForm::kJoined, {}));
  return Material{std::move(exported), std::move(part),
                  std::make_shared<const TokenStore>(std::move(tokens)),
                  std::move(tokenizer), longest};
}

// Trains nothing: it is there for its forward pass.
Expected<Stepper> MakeAnswerer(Model& model, Precision precision) {
  ModuleRates none;
  for (const std::string& module : ModuleNames(model.config(), model.heads())) {
    none[module] = 0.0;
  }
  ASSIGN_OR_FAULT(FreezePlan plan,
                  MakeFreezePlan(model.config(), model.heads(), none, {}));
  StepOptions options;
  options.schedule.total_steps = 1;
  options.precision = precision;
  return Stepper::Make(model, plan, options);
}

Expected<Done> Answer(const Stepper& stepper, const TokenStore& tokens,
                      BatchMaker& maker, Scores& scores) {
  const BatchPlanner planner(
      maker.lengths(),
      {.batch_tokens = EvaluationTokens(stepper.model().device().is_cpu())});
  for (const RowBatch& rows : planner.Ordered()) {
    const Expected<Done> added = CatchTorch([&]() -> Expected<Done> {
      const Batch batch = maker.Make(rows);
      ASSIGN_OR_FAULT(Prediction prediction, stepper.Predict(batch));
      scores.Add(rows, batch, prediction);
      return Done{};
    });
    if (!added.ok()) return added;
  }
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto unread = tokens.unread(row);
    if (!unread.empty()) scores.AddUnread(row, unread);
  }
  scores.NoteAnswers(tokens);
  return Done{};
}

// Lets the model say the answer to each prompt.
Expected<std::vector<std::string>> SayAnswers(const Model& model,
                                              const Material& material,
                                              Precision precision) {
  const TokenStore& tokens = *material.tokens;
  SayOptions options = {.longest = material.longest, .precision = precision};
  for (const std::int64_t end : model.config().ends) {
    options.ends.insert(static_cast<std::int32_t>(end));
  }
  if (const auto end = material.tokenizer.end()) options.ends.insert(*end);
  std::vector<std::uint32_t> lengths;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    lengths.push_back(static_cast<std::uint32_t>(tokens.prompt(row).size()));
  }
  const BatchPlanner planner(
      std::move(lengths),
      {.batch_tokens = EvaluationTokens(model.device().is_cpu())});
  std::vector<std::string> said(tokens.size());
  for (const RowBatch& rows : planner.Ordered()) {
    std::vector<std::span<const std::int32_t>> prompts;
    for (const std::uint32_t row : rows) prompts.push_back(tokens.prompt(row));
    ASSIGN_OR_FAULT(const std::vector<TokenIds> ids,
                    Say(model, prompts, options));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      said[rows[i]] = material.tokenizer.Decode(ids[i]);
    }
  }
  return said;
}

// Returns the share of rows whose answer was said as it stands there.
double ExactMatch(const DataPart& part, const std::vector<std::string>& said) {
  std::size_t exact = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    exact += said[i] == (*part.data)[part.rows[i]].second ? 1 : 0;
  }
  return static_cast<double>(exact) / static_cast<double>(said.size());
}

}  // namespace

Expected<PredictReport> Predict(const PredictRequest& request,
                                const Device& device) {
  ASSIGN_OR_FAULT(Precision precision, device.Choose(request.precision));
  device.Multiply(precision);
  ASSIGN_OR_FAULT(Material material, Gather(request));
  const auto& [exported, part, tokens, tokenizer, longest] = material;
  Expected<Model> model = CatchTorch(
      [&]() -> Expected<Model> { return exported.model.To(device.torch()); });
  if (!model.ok()) return model.fault();
  ASSIGN_OR_FAULT(Stepper stepper, MakeAnswerer(model.value(), precision));
  HeadSpec head = exported.model.head().spec();
  head.chooses = part.data->task() == TaskKind::kChoices;
  BatchMaker maker(tokens, exported.model.config(), head, device.is_cpu());
  Scores scores(head, exported.labels, maker.size());
  Expected<Done> done = Answer(stepper, *tokens, maker, scores);
  std::vector<std::string> said;
  if (done.ok() && part.data->task() == TaskKind::kAnswers) {
    ASSIGN_OR_FAULT(said, SayAnswers(model.value(), material, precision));
    scores.NoteSaid(said);
  }
  if (done.ok()) done = WritePredictions(request.output, part, scores);
  if (!done.ok()) return done.fault();
  PredictReport report;
  report.examples = part.size();
  if (request.labelled) report.metrics = scores.Compute();
  if (request.labelled && !said.empty()) {
    report.metrics["exact_match"] = ExactMatch(part, said);
  }
  return report;
}

}  // namespace frostline::trainer
