// SPDX-License-Identifier: Apache-2.0
#include "cli/view/registry_view.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kClassesShown = 10;
constexpr std::size_t kMaxTextBytes = 1000;
constexpr std::size_t kSumShown = 8;  // hexadecimal digits

using Items = google::protobuf::RepeatedPtrField<v1::StockItem>;

std::string SplitLine(const registry::SplitFacts& split) {
  std::string line =
      absl::StrCat("  ", split.name, ": ", Counted(split.rows, "row"));
  if (!split.labelled) line += ", without labels";
  if (split.left_out > 0) {
    absl::StrAppend(&line, ", ", FormatCount(split.left_out),
                    " more without a label left out");
  }
  if (split.empty_texts > 0) {
    absl::StrAppend(&line, ", of which ", FormatCount(split.empty_texts),
                    " with an empty text");
  }
  return line + "\n";
}

std::string ClassesLine(const registry::DataFacts& facts) {
  if (facts.classes.empty()) return "";
  std::string line = absl::StrCat(
      "  ", FormatCount(static_cast<std::int64_t>(facts.classes.size())),
      facts.task.kind == trainer::TaskKind::kTagging ? " tags" : " classes",
      ": ");
  for (std::size_t i = 0; i < facts.classes.size() && i < kClassesShown; ++i) {
    const auto& [name, rows] = facts.classes[i];
    absl::StrAppend(&line, i == 0 ? "" : ", ",
                    proto::CleanText(name, kMaxTextBytes), " ",
                    FormatCount(rows));
  }
  if (facts.classes.size() > kClassesShown) line += ", …";
  return line + "\n";
}

constexpr std::size_t kManyClasses = 20;
// A class with this share of the rows is nearly right always.
constexpr double kMostOfTheRows = 0.8;

// The task's facts that warnings are about: the training rows by class.
struct ClassFacts {
  std::int64_t rows = 0;
  std::int64_t most = 0;
  std::string largest;
  std::vector<std::string> single;  // classes of one row
};

ClassFacts ClassFactsOf(const registry::DataFacts& facts) {
  ClassFacts of;
  for (const auto& [name, rows] : facts.classes) {
    of.rows += rows;
    const std::string shown =
        absl::StrCat("'", proto::CleanText(name, kMaxTextBytes), "'");
    if (rows > of.most) of.largest = shown;
    of.most = std::max(of.most, rows);
    if (rows == 1 && of.single.size() <= kClassesShown) {
      of.single.push_back(of.single.size() < kClassesShown ? shown : "…");
    }
  }
  return of;
}

std::string WhatOf(const trainer::DatasetEntry& set) {
  std::vector<std::string> splits;
  splits.reserve(set.splits.size());
  for (const auto& [name, split] : set.splits) splits.push_back(name);
  return absl::StrCat(registry::NameOf(registry::TaskOfSet(set)), "; ",
                      absl::StrJoin(splits, ", "));
}

std::string WhatOf(const registry::Registry& registry, const std::string& id) {
  const auto facts = registry::LookAtModel(registry, id);
  if (!facts.ok()) return "not readable";
  return absl::StrCat(facts->kind, ", ", facts->layers, " layers");
}

using Holders = std::map<std::pair<std::string, std::string>,
                         std::vector<std::string>>;  // by id and sum

void Collect(const v1::Worker& worker, const Items& items, Holders& holders) {
  for (const v1::StockItem& item : items) {
    holders[{item.id(), item.sha256()}].push_back(LastPart(worker.name()));
  }
}

void AddHolders(const Holders& holders, const char* kind, std::size_t workers,
                Table& table) {
  for (const auto& [item, names] : holders) {
    const bool all = names.size() == workers && workers > 1;
    table.AddRow({item.first, kind, absl::StrCat(names.size()),
                  item.second.substr(0, kSumShown),
                  all ? "all" : absl::StrJoin(names, ", ")});
  }
}

std::string IdsOf(const Items& items) {
  std::vector<std::string> ids;
  for (const v1::StockItem& item : items) ids.push_back(item.id());
  return ids.empty() ? "none" : absl::StrJoin(ids, ", ");
}

bool IsListedHere(const v1::Worker& worker) {
  return worker.state() != v1::WORKER_STATE_GONE;
}

}  // namespace

std::string DescribeModel(const registry::ModelFacts& facts) {
  return absl::StrCat(facts.id, ": ", facts.kind, ", ", facts.layers,
                      " layers, ", facts.heads, " heads, texts to ",
                      FormatCount(facts.longest_text), " tokens");
}

std::string DescribeData(const registry::DataFacts& facts) {
  std::string text =
      absl::StrCat(facts.id, ": ", registry::NameOf(facts.task), "\n");
  for (const registry::SplitFacts& split : facts.splits) {
    text += SplitLine(split);
  }
  return text + ClassesLine(facts);
}

std::string DataWarnings(const registry::DataFacts& facts) {
  if (facts.task.kind == trainer::TaskKind::kTagging) return "";
  const ClassFacts of = ClassFactsOf(facts);
  const auto rows = static_cast<double>(of.rows);
  const std::size_t classes = facts.classes.size();
  if (classes > kManyClasses && static_cast<double>(classes) > 0.5 * rows) {
    return absl::StrCat(
        "warning: ", FormatCount(static_cast<std::int64_t>(classes)),
        " classes of ", Counted(of.rows, "row"),
        ": another column may hold the labels (--label COL), "
        "or they are amounts (--task regression)\n");
  }
  std::string text;
  if (!of.single.empty()) {
    absl::StrAppend(&text, "warning: ", of.single.size() == 1 ? "class " : "",
                    of.single.size() > 1 ? "classes " : "",
                    absl::StrJoin(of.single, ", "),
                    of.single.size() == 1 ? " has" : " have",
                    " one row, too few to learn from and to validate on\n");
  }
  if (classes > 1 && static_cast<double>(of.most) > kMostOfTheRows * rows) {
    absl::StrAppend(
        &text, "warning: ",
        FormatCount(std::lround(100.0 * static_cast<double>(of.most) / rows)),
        " % of the rows are ", of.largest,
        ", so accuracy says little: maximize f1_macro or mcc\n");
  }
  return text;
}

std::string DescribeColumns(const registry::AddedDataSet& added) {
  std::string text;
  for (const auto& [role, column] : added.columns) {
    const bool guessed = std::find(added.guessed.begin(), added.guessed.end(),
                                   role) != added.guessed.end();
    absl::StrAppend(&text, text.empty() ? "" : ", ", role, ": ",
                    proto::CleanText(column, kMaxTextBytes),
                    guessed ? " (guessed)" : "");
  }
  if (added.lacks_header) {
    absl::StrAppend(&text, "; no header",
                    added.is_header_guessed ? " (guessed)" : "");
  }
  return text;
}

Table RegistryTable(const registry::Registry& registry) {
  Table table({{"ID"}, {"KIND"}, {"WHAT"}, {"PATH"}});
  for (const auto& [id, model] : registry.models) {
    table.AddRow({id, "model", WhatOf(registry, id), model.path});
  }
  for (const auto& [id, set] : registry.data_sets) {
    const auto train = set.splits.find("train");
    table.AddRow({id, "data set", WhatOf(set),
                  train == set.splits.end() ? "" : train->second.path});
  }
  return table;
}

Table FleetStockTable(const std::vector<v1::Worker>& workers) {
  Holders models;
  Holders data_sets;
  std::size_t count = 0;
  for (const v1::Worker& worker : workers) {
    if (!IsListedHere(worker)) continue;
    ++count;
    Collect(worker, worker.stock().models(), models);
    Collect(worker, worker.stock().data_sets(), data_sets);
  }
  Table table(
      {{"ID"}, {"KIND"}, {"ON", Align::kRight}, {"SHA-256"}, {"WORKERS"}});
  AddHolders(models, "model", count, table);
  AddHolders(data_sets, "data set", count, table);
  return table;
}

std::string SilentWorkers(const std::vector<v1::Worker>& workers) {
  std::vector<std::string> silent;
  for (const v1::Worker& worker : workers) {
    if (IsListedHere(worker) && !worker.has_stock()) {
      silent.push_back(LastPart(worker.name()));
    }
  }
  if (silent.empty()) return "";
  return absl::StrCat("without a registry, taken to have everything: ",
                      absl::StrJoin(silent, ", "), "\n");
}

std::string RenderFleetStock(const std::vector<v1::Worker>& workers,
                             int width) {
  const Table table = FleetStockTable(workers);
  return (table.empty() ? "" : table.Render(width)) + SilentWorkers(workers);
}

Table StockTable(const std::vector<v1::Worker>& workers) {
  Table table({{"ID"},
               {"STATE"},
               {"SLOTS", Align::kRight},
               {"MODELS"},
               {"DATA SETS"},
               {"HOST"},
               {"GPUS", Align::kRight},
               {"CORES", Align::kRight},
               {"VERSION"}});
  for (const v1::Worker& worker : workers) {
    const v1::Hardware& hardware = worker.hardware();
    table.AddRow(
        {LastPart(worker.name()), NameOf(worker.state()),
         absl::StrCat(worker.slots()),
         worker.has_stock() ? IdsOf(worker.stock().models()) : "any",
         worker.has_stock() ? IdsOf(worker.stock().data_sets()) : "any",
         hardware.host(), absl::StrCat(hardware.gpus_size()),
         absl::StrCat(hardware.cpu_cores()), worker.version()});
  }
  return table;
}

v1::Stock StockOf(const registry::Registry& registry) {
  v1::Stock stock;
  for (const auto& [id, model] : registry.models) {
    v1::StockItem* const item = stock.add_models();
    item->set_id(id);
    item->set_sha256(model.sha256);
  }
  for (const auto& [id, set] : registry.data_sets) {
    v1::StockItem* const item = stock.add_data_sets();
    item->set_id(id);
    const auto train = set.splits.find("train");
    if (train != set.splits.end()) item->set_sha256(train->second.sha256);
  }
  return stock;
}

namespace {

std::string CleanModelText(const std::string& text) {
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

}  // namespace

bool ExportsModels(const v1::StudySpec& spec) {
  const auto& fields = spec.training().extra().fields();
  const auto word = fields.find("export");
  if (word == fields.end()) return false;
  const std::string& text = word->second.string_value();
  return word->second.bool_value() || text == "best" || text == "all";
}

std::string RenderModelCopy(const v1::Trial& trial, const std::string& folder,
                            std::size_t files, std::int64_t bytes) {
  return absl::StrCat("copied the model of trial ", trial.number(), ": ", files,
                      " files, ", FormatCount(bytes),
                      " bytes, each as its SHA-256 says, to\n  ", folder,
                      "\nNext: transformers loads it, with its tokenizer, by\n"
                      "  from_pretrained(\"",
                      folder, "\")\n");
}

std::string RenderModelElsewhere(const v1::Trial& trial,
                                 const std::string& folder, int width) {
  const v1::TrainedModel& model = trial.usage().model();
  const std::string host = CleanModelText(model.host());
  const std::string from = CleanModelText(model.folder());
  const std::string target = ShellWord(CleanModelText(folder));
  return absl::StrCat(
      KeyLine("trial", CleanModelText(trial.name())), KeyLine("host", host),
      KeyLine("folder", from), KeyLine("bytes", FormatCount(model.bytes())),
      "\n",
      WrapText("The model is on another machine, where it stays while its "
               "trial is the best that this worker has seen. Copy it, and "
               "compare its sums:",
               width),
      // Commands are pasted: they stay on a line.
      "  rsync -a ", ShellWord(absl::StrCat(host, ":", from, "/")), " ", target,
      "/\n  (cd ", target, " && sha256sum -c SHA256SUMS)\n");
}

std::string ModelJson(const v1::Trial& trial, const std::string& to,
                      const std::vector<std::string>& files) {
  const v1::TrainedModel& model = trial.usage().model();
  google::protobuf::Struct json;
  const auto set = [&json](const char* name, const std::string& text) {
    (*json.mutable_fields())[name].set_string_value(text);
  };
  set("trial", trial.name());
  set("host", model.host());
  set("folder", model.folder());
  set("bytes", absl::StrCat(model.bytes()));
  set("sums_sha256", model.sums_sha256());
  set("to", to);
  (*json.mutable_fields())["copied"].set_bool_value(!to.empty());
  auto& list = *(*json.mutable_fields())["files"].mutable_list_value();
  for (const std::string& file : files) {
    list.add_values()->set_string_value(file);
  }
  return ToJson(json);
}

namespace {

constexpr double kSeldom = 0.25;

// Returns the depths at which a prefix is shared: layers frozen on top of the
// embeddings. The embeddings alone are computed faster than they are read.
std::vector<std::int64_t> DepthsOf(const v1::FrozenPrefixes& prefixes) {
  std::vector<std::int64_t> depths;
  for (int frozen = 2; frozen < prefixes.chance_size(); ++frozen) {
    if (prefixes.chance(frozen) > 0) depths.push_back(frozen - 1);
  }
  return depths;
}

double ChanceOfSharing(const v1::FrozenPrefixes& prefixes) {
  double chance = 0.0;
  for (int frozen = 2; frozen < prefixes.chance_size(); ++frozen) {
    chance += prefixes.chance(frozen);
  }
  return chance;
}

std::string ChancesText(const v1::CreateStudyReply& reply) {
  const v1::FrozenPrefixes& prefixes = reply.prefixes();
  const double chance = ChanceOfSharing(prefixes);
  std::string text = absl::StrCat(
      FormatNumber(prefixes.expected()), " of ", prefixes.chance_size() - 1,
      " leading modules (embeddings, layers) are frozen on average; ");
  if (chance == 0.0) {
    return text +
           "no point of the space freezes the embeddings and a layer, "
           "so nothing is shared";
  }
  absl::StrAppend(&text, FormatNumber(100.0 * chance),
                  " % of the space freezes the embeddings and a layer, which "
                  "frostline-trainer shares");
  if (chance < kSeldom && !reply.study().spec().space().has_prefix_depth()) {
    absl::StrAppend(&text,
                    ". Independent rates seldom agree on that: search "
                    "prefix_depth to share more");
  }
  return text;
}

std::string SizesText(const v1::StudySpec& spec,
                      const std::vector<std::int64_t>& depths,
                      const std::optional<registry::BoundaryNeeds>& needs) {
  if (!needs.has_value()) {
    const std::string model = proto::CleanText(spec.model().id(), 100);
    const std::string data = proto::CleanText(spec.data().id(), 100);
    if (model.empty() || data.empty()) {
      return absl::StrCat(
          "how large they are is not known here: the study names no ",
          model.empty() ? "model" : "data", " of a registry");
    }
    return absl::StrCat(
        "how large they are is not known here: no registry was found that has ",
        model, " and ", data, " (--registry DIR)");
  }
  std::int64_t bytes = 0;
  for (const std::int64_t depth : depths) bytes += needs->BytesAt(depth);
  std::string text = absl::StrCat(
      "at most ", FormatBytes(bytes),
      " on a node that sees all of it: ", depths.size(),
      depths.size() == 1 ? " depth, " : " depths, ", FormatCount(needs->texts),
      " texts of up to ", FormatCount(needs->tokens), " tokens, ",
      FormatCount(needs->hidden), " numbers of ", needs->number_bytes,
      " bytes each");
  if (needs->top_is_one_token && depths.back() == needs->layers) {
    absl::StrAppend(&text, "; with all layers frozen, of one token");
  }
  return text + ". The worker's --prefix-bytes bounds it";
}

}  // namespace

std::string RenderPrefixes(const v1::CreateStudyReply& reply,
                           const std::optional<registry::BoundaryNeeds>& needs,
                           int width) {
  if (!reply.has_prefixes()) return "";
  const v1::StudySpec& spec = reply.study().spec();
  if (spec.freeze().mode() == v1::FreezeSemantics::LR0) {
    return "prefixes: nothing is shared, as lr0 computes frozen modules\n";
  }
  std::string text = WrapText("prefixes: " + ChancesText(reply), width);
  const std::vector<std::int64_t> depths = DepthsOf(reply.prefixes());
  if (depths.empty()) return text;
  const bool hf = spec.freeze().prefix_dropout() == v1::FreezeSemantics::HF;
  text += WrapText(absl::StrCat("boundaries: ",
                                hf ? "of evaluations alone (prefix_dropout "
                                     "hf), "
                                   : "",
                                SizesText(spec, depths, needs)),
                   width);
  return text;
}

}  // namespace frostline::cli
