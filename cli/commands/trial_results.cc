// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_results.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/trial.h"
#include "cli/live/text_plot.h"
#include "cli/term/table.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/outcomes_view.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_values.h"

namespace frostline::cli {

// `frostline trial curves`: what trials measured, side by side.

namespace {

std::string TitleOf(const TrialName& trial) {
  return absl::StrCat(trial.study_id, "/", trial.number);
}

// A table with a column for each trial and metric and a row for each step.
struct Grid {
  std::vector<std::string> titles;
  std::map<std::int64_t, std::map<std::size_t, double>> rows;
};

Grid GridOf(const MeasuredCurves& curves,
            const std::set<std::string>& metrics) {
  Grid grid;
  for (const MeasuredCurve& curve : curves) {
    for (const std::string& metric : metrics) {
      const std::size_t column = grid.titles.size();
      grid.titles.push_back(absl::StrCat(TitleOf(curve.trial), " ", metric));
      for (const v1::Measurement& one : curve.measured.measurements()) {
        const auto found = one.metrics().find(metric);
        if (found == one.metrics().end()) continue;
        grid.rows[one.step()][column] = found->second;
      }
    }
  }
  return grid;
}

}  // namespace

std::set<std::string> MetricsIn(const MeasuredCurves& curves) {
  std::set<std::string> metrics;
  for (const MeasuredCurve& curve : curves) {
    for (const v1::Measurement& one : curve.measured.measurements()) {
      for (const auto& [name, value] : one.metrics()) metrics.insert(name);
    }
  }
  return metrics;
}

std::string CurvesTable(const MeasuredCurves& curves,
                        const std::set<std::string>& metrics, int width) {
  const Grid grid = GridOf(curves, metrics);
  if (grid.rows.empty()) return "";
  std::vector<Column> columns = {{.title = "STEP", .align = Align::kRight}};
  for (const std::string& title : grid.titles) {
    columns.push_back({.title = title, .align = Align::kRight});
  }
  Table table(std::move(columns));
  for (const auto& [step, values] : grid.rows) {
    std::vector<std::string> cells(grid.titles.size() + 1);
    cells[0] = absl::StrCat(step);
    for (const auto& [column, value] : values) {
      cells[column + 1] = FormatNumber(value);
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(width);
}

std::string CurvesCsv(const MeasuredCurves& curves,
                      const std::set<std::string>& metrics) {
  const Grid grid = GridOf(curves, metrics);
  std::vector<std::string> header = {"step"};
  header.insert(header.end(), grid.titles.begin(), grid.titles.end());
  std::string text = CsvLine(header);
  for (const auto& [step, values] : grid.rows) {
    std::vector<std::string> cells(grid.titles.size() + 1);
    cells[0] = absl::StrCat(step);
    for (const auto& [column, value] : values) {
      cells[column + 1] = CsvNumber(value);
    }
    text += CsvLine(cells);
  }
  return text;
}

std::string CurvesJson(MeasuredCurves curves,
                       const std::set<std::string>& metrics) {
  google::protobuf::Struct all;
  auto& list = *(*all.mutable_fields())["curves"].mutable_list_value();
  for (MeasuredCurve& curve : curves) {
    for (v1::Measurement& one : *curve.measured.mutable_measurements()) {
      google::protobuf::Map<std::string, double> kept;
      for (const auto& [name, value] : one.metrics()) {
        if (metrics.contains(name)) kept[name] = value;
      }
      *one.mutable_metrics() = std::move(kept);
    }
    auto& object = *list.add_values()->mutable_struct_value();
    (void)google::protobuf::util::JsonStringToMessage(ToJson(curve.measured),
                                                      &object);
    object.mutable_fields()->erase("next_page_token");
    (*object.mutable_fields())["trial"].set_string_value(
        TrialNameOf(curve.trial.study_id, curve.trial.number));
  }
  return ToJson(all);
}

std::string CurvesPlot(const MeasuredCurves& curves,
                       const std::set<std::string>& metrics, int width) {
  std::string text;
  for (const std::string& metric : metrics) {
    std::vector<Curve> drawn;
    for (const MeasuredCurve& curve : curves) {
      std::map<std::int64_t, double> points;  // a retried step replaces itself
      for (const v1::Measurement& one : curve.measured.measurements()) {
        const auto found = one.metrics().find(metric);
        if (found != one.metrics().end()) points[one.step()] = found->second;
      }
      if (points.empty()) continue;
      drawn.push_back({.name = TitleOf(curve.trial), .points = {}});
      for (const auto& [step, value] : points) {
        drawn.back().points.emplace_back(static_cast<double>(step), value);
      }
    }
    absl::StrAppend(&text, text.empty() ? "" : "\n", metric, " by step\n",
                    PlotCurves(drawn, width, kPlotLines));
  }
  return text;
}

namespace {

struct CurvesArgs {
  std::vector<std::string> words;
  std::string metric;
  Output output = {};
  bool plots = false;
};

absl::StatusOr<MeasuredCurve> FetchCurves(Client& client,
                                          const TrialName& trial) {
  v1::ListMeasurementsRequest request;
  request.set_name(TrialNameOf(trial.study_id, trial.number));
  MeasuredCurve curve{.trial = trial, .measured = {}};
  ASSIGN_OR_RETURN(
      curve.measured,
      client.CallForAll(&v1::StudyService::Stub::ListMeasurements, request));
  return curve;
}

// Returns the wanted metric. It is an error when no trial measured it.
absl::StatusOr<std::set<std::string>> WantedCurve(const MeasuredCurves& curves,
                                                  const std::string& wanted) {
  std::set<std::string> metrics = MetricsIn(curves);
  if (wanted.empty() || metrics.empty()) return metrics;
  if (metrics.contains(wanted)) return std::set<std::string>{wanted};
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("none of them has measured '", wanted, "'"),
                   absl::StrCat("there are: ", absl::StrJoin(metrics, ", ")),
                   "--metric");
}

absl::StatusOr<ExitCode> ShowCurves(Session& session, const CurvesArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<TrialName> trials,
                   TrialNamesFrom(args.words));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  MeasuredCurves curves;
  for (const TrialName& trial : trials) {
    ASSIGN_OR_RETURN(MeasuredCurve curve, FetchCurves(*client, trial));
    curves.push_back(std::move(curve));
  }
  ASSIGN_OR_RETURN(const std::set<std::string> metrics,
                   WantedCurve(curves, args.metric));
  const int width = session.terminal.width;
  if (args.output.format == Format::kJson) {
    std::cout << CurvesJson(std::move(curves), metrics);
  } else if (args.output.format == Format::kCsv) {
    std::cout << CurvesCsv(curves, metrics);
  } else if (metrics.empty()) {
    std::cerr << "no measurements\n";
  } else if (args.plots) {
    std::cout << CurvesPlot(curves, metrics, width == 0 ? kPlotColumns : width);
  } else {
    std::cout << CurvesTable(curves, metrics, width);
  }
  return kExitOk;
}

}  // namespace

void AddTrialCurves(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "curves", "What trials measured at each step, side by side",
              invocation, ShowCurves);
  verb->add_option("TRIAL", args->words,
                   "STUDY and numbers, or STUDY/NUMBER of several studies")
      ->required();
  verb->add_option("--metric", args->metric, "This one alone; else all");
  CLI::Option* const plot = verb->add_flag("--plot", args->plots,
                                           "Draw them, a plot for each metric");
  AddFewFormats(verb, args->output, {"table", "csv", "json"})->excludes(plot);
}

namespace {

constexpr int kPiece = 512 * 1024;
constexpr std::size_t kMostAtOnce = 256;

struct OutcomesArgs {
  TrialWords trial;
  std::string set;
  std::string task;
  std::string file;
  std::size_t most = 5;
  bool no_text = false;
  Output output;
};

absl::StatusOr<v1::ExampleOutcomes> FetchOutcomes(Client& client,
                                                  const OutcomesArgs& args) {
  v1::GetExampleOutcomesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  request.set_set(args.set);
  request.set_task(args.task);
  return client.Call(&v1::StudyService::Stub::GetExampleOutcomes, request);
}

absl::StatusOr<ExitCode> ShowConfusion(Session& session,
                                       const OutcomesArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ExampleOutcomes outcomes,
                   FetchOutcomes(*client, args));
  return PrintOneJson(
      session.terminal, args.output, ConfusionToJson(outcomes),
      [&] { return RenderConfusion(outcomes, session.terminal.width); });
}

absl::StatusOr<v1::ReadPredictionsRequest> PredictionsRequest(
    const OutcomesArgs& args) {
  v1::ReadPredictionsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  request.set_set(args.set);
  request.set_task(args.task);
  return request;
}

// Returns the text; a word of a sentence is put in brackets.
std::string ShownOutcomes(const v1::ExampleText& text, bool is_word) {
  if (!is_word) return absl::StrReplaceAll(text.text(), {{"\t", " | "}});
  std::size_t begin = 0;
  for (int i = 0; i < text.word() && begin != std::string::npos; ++i) {
    begin = text.text().find(' ', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return text.text();
  const std::size_t end =
      std::min(text.text().find(' ', begin), text.text().size());
  return absl::StrCat(text.text().substr(0, begin), "[",
                      text.text().substr(begin, end - begin), "]",
                      text.text().substr(end));
}

// Fetches the texts, with further calls for those that did not fit one answer.
absl::StatusOr<std::map<std::int64_t, std::string>> FetchTexts(
    Client& client, const OutcomesArgs& args,
    const std::vector<ExampleGroup>& groups, bool are_words) {
  std::set<std::int64_t> wanted;
  for (const ExampleGroup& group : groups) {
    wanted.insert(group.examples.begin(), group.examples.end());
  }
  std::map<std::int64_t, std::string> texts;
  while (!wanted.empty()) {
    ASSIGN_OR_RETURN(v1::ReadPredictionsRequest request,
                     PredictionsRequest(args));
    for (const std::int64_t example : wanted) {
      if (request.examples_size() == static_cast<int>(kMostAtOnce)) break;
      request.add_examples(example);
    }
    ASSIGN_OR_RETURN(
        const v1::ReadPredictionsReply reply,
        client.Call(&v1::StudyService::Stub::ReadPredictions, request));
    if (reply.examples().empty()) break;  // the file has none of them
    for (const v1::ExampleText& text : reply.examples()) {
      texts[text.example()] = ShownOutcomes(text, are_words);
      wanted.erase(text.example());
    }
  }
  return texts;
}

absl::StatusOr<ExitCode> ShowExamples(Session& session,
                                      const OutcomesArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ExampleOutcomes outcomes,
                   FetchOutcomes(*client, args));
  const ExampleTable table = Unpack(outcomes);
  const std::vector<ExampleGroup> groups = PickExamples(table, args.most);
  std::map<std::int64_t, std::string> texts;
  if (!args.no_text) {
    ASSIGN_OR_RETURN(texts, FetchTexts(*client, args, groups,
                                       !outcomes.sentence_ends().empty()));
  }
  std::cout << RenderExamples(groups, table, texts, session.terminal.width);
  return kExitOk;
}

absl::StatusOr<ExitCode> FetchPredictions(Session& session,
                                          const OutcomesArgs& args) {
  ASSIGN_OR_RETURN(v1::ReadPredictionsRequest request,
                   PredictionsRequest(args));
  request.set_max_bytes(kPiece);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const bool to_output = IsStandardOutput(args.file);
  std::ofstream file;
  std::int64_t size = 0;
  do {
    ASSIGN_OR_RETURN(
        const v1::ReadPredictionsReply reply,
        client->Call(&v1::StudyService::Stub::ReadPredictions, request));
    // Not before there is something to write.
    if (!to_output && !file.is_open()) {
      file.open(args.file, std::ios::binary | std::ios::trunc);
    }
    std::ostream& out = to_output ? std::cout : file;
    out << reply.piece() << std::flush;
    if (!out) {
      const int error = errno;
      const std::string cause =
          absl::StrCat(to_output ? "standard output" : args.file,
                       " cannot be written: ", std::strerror(error));
      return DiskErrorOr(
          error, cause,
          MakeError(ErrorId::kRequestInvalid, cause,
                    "give a file in a folder of yours", "--output"));
    }
    if (reply.piece().empty()) break;
    size = reply.size();
    request.set_offset(request.offset() +
                       static_cast<std::int64_t>(reply.piece().size()));
  } while (request.offset() < size);
  return kExitOk;
}

std::tuple<CLI::App*, OutcomesArgs*> AddOutcomesVerb(
    CLI::App& noun, Invocation& invocation, const std::string& name,
    const std::string& help,
    absl::StatusOr<ExitCode> (*run)(Session&, const OutcomesArgs&)) {
  const auto added = AddTrialVerb(noun, name, help, invocation, run);
  const auto [verb, args] = added;
  verb->add_option("--set", args->set,
                   "test, or the id of a data set; else the validation set");
  verb->add_option("--task", args->task, "Of a study of several tasks");
  return added;
}

}  // namespace

void AddTrialOutcomes(CLI::App& noun, Invocation& invocation) {
  const auto [confusion, shown] = AddOutcomesVerb(
      noun, invocation, "confusion",
      "Which class was taken for which, with precision, recall and F1; of "
      "numbers the residuals",
      ShowConfusion);
  AddOneFormats(confusion, shown->output);
  const auto [examples, args] = AddOutcomesVerb(
      noun, invocation, "examples",
      "The right and wrong examples that a trial was most and least sure of; "
      "of numbers the largest residuals",
      ShowExamples);
  examples->add_option("--count", args->most, "At most so many of each kind")
      ->check(CLI::Range(std::size_t{1}, std::size_t{60}));
  examples->add_flag("--no-text", args->no_text,
                     "Without texts, which its worker is asked for otherwise");
  const auto [predictions, fetched] = AddOutcomesVerb(
      noun, invocation, "predictions",
      "Fetch from its worker what a trial predicted of each example, with "
      "texts",
      FetchPredictions);
  predictions->add_option(
      "-o,--output", fetched->file,
      "Into this file; else, or with -, to standard output");
}

// `frostline trial outcomes`: a row for each example with what the trial
// predicted.

namespace {

struct RowsArgs {
  TrialWords trial;
  std::string set;
  std::string task;
  Output output = {};
};

using Row = std::vector<std::string>;

// The outcomes of examples by column.
class OutcomeRows {
 public:
  explicit OutcomeRows(const v1::ExampleOutcomes& outcomes)
      : outcomes_(outcomes), table_(Unpack(outcomes)) {
    titles_ = {"example", has_bits() ? "right" : "score"};
    if (has_classes() || has_numbers()) {
      titles_.insert(titles_.end(), {"true", "predicted"});
    }
    if (!table_.confidence.empty()) titles_.emplace_back("confidence");
  }

  const Row& titles() const { return titles_; }
  bool has_bits() const {
    return outcomes_.encoding() == v1::ExampleOutcomes::PACKED_BITS;
  }
  bool has_classes() const { return !table_.predicted.empty(); }
  bool has_numbers() const { return !table_.predicted_value.empty(); }

  Row At(std::size_t i) const {
    Row row = {absl::StrCat(i), Judged(i)};
    if (has_classes()) {
      row.insert(row.end(),
                 {Class(table_.truth[i]), Class(table_.predicted[i])});
    } else if (has_numbers()) {
      row.insert(row.end(), {CsvNumber(table_.true_value[i]),
                             CsvNumber(table_.predicted_value[i])});
    }
    if (!table_.confidence.empty()) {
      row.push_back(CsvNumber(static_cast<double>(table_.confidence[i])));
    }
    return row;
  }

 private:
  // A word that was cut off has no predicted class.
  std::string Class(std::int32_t index) const {
    return index < 0 ? "" : table_.classes[static_cast<std::size_t>(index)];
  }

  std::string Judged(std::size_t i) const {
    const std::string& data = outcomes_.data();
    if (has_bits()) {
      const std::size_t at = i / 8;
      const bool right =
          at < data.size() &&
          (static_cast<std::uint8_t>(data[at]) >> i % 8 & 1) != 0;
      return right ? "1" : "0";
    }
    const proto::PackedNumbers halves(data, 2);
    if (data.size() < (i + 1) * 2) return "";
    return CsvNumber(static_cast<double>(proto::FromHalf(halves.At(i))));
  }

  const v1::ExampleOutcomes& outcomes_;
  const ExampleTable table_;
  Row titles_;
};

// Returns JSON. Numbers stay numbers; classes are text even if they look like
// numbers.
std::string JsonLine(const OutcomeRows& rows, std::size_t i) {
  const Row row = rows.At(i);
  google::protobuf::Struct object;
  for (std::size_t c = 0; c < row.size(); ++c) {
    google::protobuf::Value value;
    const bool is_class = rows.has_classes() && (c == 2 || c == 3);
    double number = 0.0;
    if (row[c].empty()) {
      value.set_null_value(google::protobuf::NULL_VALUE);
    } else if (c == 1 && rows.has_bits()) {
      value.set_bool_value(row[c] == "1");
    } else if (!is_class && absl::SimpleAtod(row[c], &number) &&
               std::isfinite(number)) {
      value.set_number_value(number);
    } else {
      value.set_string_value(row[c]);
    }
    (*object.mutable_fields())[rows.titles()[c]] = value;
  }
  std::string line;
  (void)google::protobuf::util::MessageToJsonString(object, &line);
  return line + "\n";
}

void PrintOutcomes(const OutcomeRows& rows, std::size_t count, Format format,
                   int width) {
  if (format == Format::kJsonLines) {
    for (std::size_t i = 0; i < count; ++i) std::cout << JsonLine(rows, i);
    return;
  }
  if (format == Format::kCsv) {
    std::cout << CsvLine(rows.titles());
    for (std::size_t i = 0; i < count; ++i) std::cout << CsvLine(rows.At(i));
    return;
  }
  std::vector<Column> columns;
  for (const std::string& title : rows.titles()) {
    columns.push_back({.title = absl::AsciiStrToUpper(title)});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < count; ++i) table.AddRow(rows.At(i));
  std::cout << table.Render(width);
}

absl::StatusOr<ExitCode> ShowOutcomeRows(Session& session,
                                         const RowsArgs& args) {
  v1::GetExampleOutcomesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  request.set_set(args.set);
  request.set_task(args.task);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ExampleOutcomes outcomes,
      client->Call(&v1::StudyService::Stub::GetExampleOutcomes, request));
  PrintOutcomes(OutcomeRows(outcomes),
                static_cast<std::size_t>(outcomes.count()), args.output.format,
                session.terminal.width);
  return kExitOk;
}

}  // namespace

void AddTrialOutcomeRows(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddTrialVerb(
      noun, "outcomes", "What a trial said of each example, a row each",
      invocation, ShowOutcomeRows);
  verb->add_option("--set", args->set,
                   "test, or the id of a data set; else the validation set");
  verb->add_option("--task", args->task, "Of a study of several tasks");
  AddFewFormats(verb, args->output, {"table", "csv", "jsonl"});
}

}  // namespace frostline::cli
