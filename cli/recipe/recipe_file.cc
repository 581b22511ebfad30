// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_file.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;

constexpr char kOperators[] = "+-*/";
constexpr double kMostWhole = 1e15;  // a double holds it exactly

struct Putter {
  const std::string& file;
  const ValueOf& value_of;

  absl::StatusOr<YamlPtr> Named(const std::string& name,
                                const YamlMark& mark) const;
  absl::StatusOr<YamlPtr> Expression(const std::string& text,
                                     const YamlMark& mark) const;
  absl::StatusOr<YamlPtr> Scalar(const YamlPtr& node) const;
  absl::StatusOr<std::string> Text(const std::string& text,
                                   const YamlMark& mark) const;
  absl::StatusOr<YamlPtr> Map(const YamlPtr& node) const;
  absl::StatusOr<YamlPtr> All(const YamlPtr& node) const;
};

absl::StatusOr<YamlPtr> Putter::Named(const std::string& name,
                                      const YamlMark& mark) const {
  ASSIGN_OR_RETURN(YamlPtr value, value_of(name));
  if (value != nullptr) return value;
  return ErrorAt(ErrorId::kStudyFieldUnknown, file, mark,
                 absl::StrCat("nothing is called '", name, "' here"),
                 "name a value of the scale, of each, of for, or of an earlier "
                 "stage",
                 name);
}

bool IsWhole(double number) {
  return std::abs(number) < kMostWhole && number == std::floor(number);
}

double Computed(char op, double a, double b) {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      break;
  }
  const double quotient = a / b;
  return IsWhole(a) && IsWhole(b) ? std::floor(quotient) : quotient;
}

// Evaluates "layers / 2 - 1": operators with blanks around them, from left to
// right.
absl::StatusOr<YamlPtr> Putter::Expression(const std::string& text,
                                           const YamlMark& mark) const {
  const auto is_operator = [](const std::string& word) {
    return word.size() == 1 && absl::StrContains(kOperators, word);
  };
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  if (words.size() < 3 || !is_operator(words[1])) return Named(text, mark);
  ASSIGN_OR_RETURN(const YamlPtr value, Named(words[0], mark));
  double result = 0.0;
  bool fits = value->kind == Kind::kScalar && words.size() % 2 == 1 &&
              absl::SimpleAtod(value->text, &result);
  for (std::size_t i = 1; fits && i < words.size(); i += 2) {
    double with = 0.0;
    fits = is_operator(words[i]) && absl::SimpleAtod(words[i + 1], &with) &&
           (words[i] != "/" || with != 0.0);
    if (fits) result = Computed(words[i][0], result, with);
  }
  if (fits) return ScalarNode(absl::StrFormat("%.17g", result), mark);
  return ErrorAt(ErrorId::kStudyFileSyntax, file, mark,
                 absl::StrCat("${", text, "} cannot be computed"),
                 "compute with numbers: \"${layers / 2}\"");
}

absl::StatusOr<std::string> Putter::Text(const std::string& text,
                                         const YamlMark& mark) const {
  std::string out;
  std::size_t from = 0;
  while (true) {
    const std::size_t open = text.find("${", from);
    if (open == std::string::npos) return out + text.substr(from);
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      return ErrorAt(ErrorId::kStudyFileSyntax, file, mark,
                     "a ${ is not closed", "close it with }");
    }
    ASSIGN_OR_RETURN(const YamlPtr value,
                     Expression(text.substr(open + 2, close - open - 2), mark));
    if (value->kind != Kind::kScalar) {
      return ErrorAt(ErrorId::kStudyFileSyntax, file, mark,
                     absl::StrCat("within a text stands ", Describe(*value)),
                     "let it be all of the value");
    }
    absl::StrAppend(&out, text.substr(from, open - from), value->text);
    from = close + 1;
  }
}

absl::StatusOr<YamlPtr> Putter::Scalar(const YamlPtr& node) const {
  const std::string& text = node->text;
  const std::size_t open = text.find("${");
  if (open == std::string::npos) return node;
  const bool is_all = open == 0 && text.find('}') == text.size() - 1;
  if (is_all) {
    return Expression(text.substr(2, text.size() - 3), node->mark);
  }
  ASSIGN_OR_RETURN(const std::string put, Text(text, node->mark));
  return ScalarNode(put, node->mark);
}

absl::StatusOr<YamlPtr> Putter::Map(const YamlPtr& node) const {
  std::vector<YamlEntry> entries;
  for (const YamlEntry& entry : node->entries) {
    YamlEntry put = entry;
    ASSIGN_OR_RETURN(put.key, Text(entry.key, entry.key_mark));
    ASSIGN_OR_RETURN(put.value, All(entry.value));
    const bool came_to_nothing =
        put.value->kind == Kind::kNull && entry.value->kind != Kind::kNull;
    if (!came_to_nothing) entries.push_back(std::move(put));
  }
  return MapNode(std::move(entries), node->mark);
}

absl::StatusOr<YamlPtr> Putter::All(const YamlPtr& node) const {
  switch (node->kind) {
    case Kind::kNull:
      return node;
    case Kind::kScalar:
      return Scalar(node);
    case Kind::kMap:
      return Map(node);
    case Kind::kList:
      break;
  }
  std::vector<YamlPtr> items;
  for (const YamlPtr& item : node->items) {
    ASSIGN_OR_RETURN(YamlPtr put, All(item));
    if (put->kind != Kind::kNull) items.push_back(std::move(put));
  }
  return ListNode(std::move(items), node->mark);
}

}  // namespace

absl::StatusOr<YamlPtr> PutValues(const YamlPtr& node, const std::string& file,
                                  const ValueOf& value_of) {
  return Putter{file, value_of}.All(node);
}

absl::StatusOr<YamlPtr> ParseValue(const std::string& text,
                                   const std::string& flag) {
  // A map's value, so that a single word is no document of its own.
  ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml("value: " + text, flag));
  const YamlEntry* const entry = root->Find("value");
  if (entry != nullptr && root->entries.size() == 1) return entry->value;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is no value"),
                   "write NAME=VALUE, e.g. 'seeds=[1, 2]'", flag);
}

ValueOf FromScopes(std::vector<const RecipeValues*> scopes) {
  return [scopes = std::move(scopes)](
             const std::string& name) -> absl::StatusOr<YamlPtr> {
    for (const RecipeValues* scope : scopes) {
      const auto found = scope->find(name);
      if (found != scope->end()) return found->second;
    }
    return YamlPtr();
  };
}

RecipeFields::RecipeFields(const YamlPtr& node, const std::string& file,
                           const std::string& what)
    : node_(node), file_(file), what_(what) {
  if (node_->kind == Kind::kMap) return;
  Fail(node_->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(what_, " is ", Describe(*node_)), "write keys with values");
}

void RecipeFields::Fail(const YamlMark& mark, ErrorId id,
                        const std::string& cause, const std::string& fix,
                        const std::string& field) {
  if (error_.ok()) error_ = ErrorAt(id, file_, mark, cause, fix, field);
}

YamlPtr RecipeFields::Take(const std::string& key) {
  known_.push_back(key);
  const YamlEntry* const entry = node_->Find(key);
  return entry == nullptr ? nullptr : entry->value;
}

YamlPtr RecipeFields::TakeMap(const std::string& key) {
  YamlPtr value = Take(key);
  if (value == nullptr || value->kind == Kind::kMap) return value;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write keys with values", key);
  return nullptr;
}

std::string RecipeFields::TakeText(const std::string& key) {
  const YamlPtr value = Take(key);
  if (value == nullptr || value->kind == Kind::kNull) return "";
  if (value->kind == Kind::kScalar) return value->text;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write a text", key);
  return "";
}

std::string RecipeFields::NeedText(const std::string& key,
                                   const std::string& example) {
  const std::string text = TakeText(key);
  if (text.empty()) {
    Fail(node_->mark, ErrorId::kStudyFieldMissing,
         absl::StrCat(what_, " has no ", key),
         absl::StrCat("add a line such as ", key, ": ", example), key);
  }
  return text;
}

double RecipeFields::TakeNumber(const std::string& key) {
  const YamlPtr value = Take(key);
  if (value == nullptr) return 0.0;
  double number = 0.0;
  const bool is_number = value->kind == Kind::kScalar && !value->quoted &&
                         absl::SimpleAtod(value->text, &number) &&
                         number - number == 0.0;  // finite
  if (is_number) return number;
  Fail(value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is ", Describe(*value)),
       "write a number", key);
  return 0.0;
}

bool RecipeFields::TakeFlag(const std::string& key) {
  const std::string text = TakeText(key);
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  Fail(node_->Find(key)->value->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat(key, " of ", what_, " is '", text, "'"),
       "write true or false", key);
  return false;
}

std::vector<YamlEntry> RecipeFields::TakeRest() {
  std::vector<YamlEntry> rest;
  for (const YamlEntry& entry : node_->entries) {
    if (std::count(known_.begin(), known_.end(), entry.key) > 0) continue;
    rest.push_back(entry);
  }
  for (const YamlEntry& entry : rest) known_.push_back(entry.key);
  return rest;
}

absl::Status RecipeFields::Finish() {
  for (const YamlEntry& entry : node_->entries) {
    if (std::count(known_.begin(), known_.end(), entry.key) > 0) continue;
    Fail(entry.key_mark, ErrorId::kStudyFieldUnknown,
         absl::StrCat("unknown key '", entry.key, "' in ", what_),
         Suggest(entry.key, known_), entry.key);
  }
  return error_;
}

namespace {

// Checks the format first. In a later format the same keys may have other
// meanings, so nothing else is checked then.
absl::Status CheckFormat(RecipeFields& fields, const std::string& file) {
  const double format = fields.TakeNumber("format");
  if (format <= kRecipeFormat) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(file, " is a recipe of format ", format,
                   "; this version "
                   "reads formats up to ",
                   kRecipeFormat),
      "run it with the version of Frostline that it was written for", "format");
}

absl::StatusOr<std::map<std::string, RecipeNeed>> ReadNeeds(
    const YamlPtr& node, const std::string& file, const std::string& of) {
  std::map<std::string, RecipeNeed> needs;
  if (node == nullptr) return needs;
  for (const YamlEntry& entry : node->entries) {
    RecipeFields fields(entry.value, file, absl::StrCat(of, " ", entry.key));
    RecipeNeed& need = needs[entry.key];
    need.what = fields.NeedText("what", "UD English EWT");
    need.where = fields.NeedText("where", "universaldependencies.org");
    need.add = fields.TakeText("add");
    for (const char* const fact : {"layers", "heads", "no_pooler"}) {
      const YamlPtr value = fields.Take(fact);
      if (value != nullptr) need.facts[fact] = value;
    }
    RETURN_IF_ERROR(fields.Finish());
  }
  return needs;
}

absl::StatusOr<std::vector<RecipeScale>> ReadScales(const YamlPtr& node,
                                                    const std::string& file) {
  std::vector<RecipeScale> scales;
  if (node == nullptr) return scales;
  for (const YamlEntry& entry : node->entries) {
    RecipeFields fields(entry.value, file, absl::StrCat("scale ", entry.key));
    RecipeScale scale;
    scale.name = entry.key;
    scale.about = fields.TakeText("about");
    for (const YamlEntry& value : fields.TakeRest()) {
      scale.values[value.key] = value.value;
    }
    RETURN_IF_ERROR(fields.Finish());
    scales.push_back(std::move(scale));
  }
  return scales;
}

absl::StatusOr<std::optional<RecipeCompare>> ReadCompare(
    const YamlPtr& node, const std::string& file) {
  if (node == nullptr) return std::optional<RecipeCompare>();
  RecipeFields fields(node, file, "compare");
  RecipeCompare compare;
  compare.to = fields.NeedText("to", "all trained");
  compare.metric = fields.TakeText("metric");
  compare.margin = fields.TakeNumber("margin");
  RETURN_IF_ERROR(fields.Finish());
  return std::optional<RecipeCompare>(std::move(compare));
}

absl::StatusOr<std::optional<RecipeAcross>> ReadAcross(
    const YamlPtr& node, const std::string& file) {
  if (node == nullptr) return std::optional<RecipeAcross>();
  RecipeFields fields(node, file, "across");
  RecipeAcross across;
  across.to = fields.NeedText("to", "joined");
  across.margin = fields.TakeText("margin");
  const YamlPtr metrics = fields.Take("metrics");
  RETURN_IF_ERROR(fields.Finish());
  if (metrics == nullptr) return std::optional<RecipeAcross>(across);
  for (const YamlPtr& metric : metrics->items) {
    across.metrics.push_back(metric->text);
  }
  if (!across.metrics.empty()) return std::optional<RecipeAcross>(across);
  return ErrorAt(ErrorId::kStudyFileSyntax, file, metrics->mark,
                 absl::StrCat("metrics of across is ", Describe(*metrics)),
                 "write a list: [accuracy, f1]", "across.metrics");
}

absl::StatusOr<std::optional<RecipeAnswer>> ReadAnswer(
    const YamlPtr& node, const std::string& file) {
  using As = RecipeAnswer::As;
  static const std::map<std::string, As> kinds = {{"saved", As::kSaved},
                                                  {"better", As::kBetter},
                                                  {"kept", As::kKept},
                                                  {"plan", As::kPlan},
                                                  {"rivals", As::kRivals}};
  if (node == nullptr) return std::optional<RecipeAnswer>();
  RecipeFields fields(node, file, "answer");
  RecipeAnswer answer;
  const std::string as = fields.NeedText("as", "saved");
  const YamlPtr stages = fields.Take("stages");
  RETURN_IF_ERROR(fields.Finish());
  const auto kind = kinds.find(as);
  if (kind == kinds.end()) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                   absl::StrCat("as of answer is '", as, "'"),
                   "write saved, better, kept, plan or rivals", "answer.as");
  }
  answer.as = kind->second;
  if (stages != nullptr) {
    for (const YamlPtr& stage : stages->items) {
      answer.stages.push_back(stage->text);
    }
  }
  if (!answer.stages.empty()) return std::optional<RecipeAnswer>(answer);
  return ErrorAt(ErrorId::kStudyFieldMissing, file, node->mark,
                 "answer names no stages", "write a list: stages: [frozen]",
                 "answer.stages");
}

absl::Status CheckAnswer(const Recipe& recipe, const YamlPtr& root) {
  if (!recipe.answer) return absl::OkStatus();
  for (const std::string& stage : recipe.answer->stages) {
    const bool is_there = std::ranges::any_of(
        recipe.stages,
        [&stage](const RecipeStage& one) { return one.name == stage; });
    if (is_there) continue;
    return ErrorAt(ErrorId::kStudyFileSyntax, recipe.file,
                   root->Find("answer")->key_mark,
                   absl::StrCat("answer names the stage '", stage,
                                "', which the recipe has not"),
                   "name a stage of the recipe", "answer.stages");
  }
  return absl::OkStatus();
}

absl::StatusOr<RecipeStage> ReadStage(const YamlEntry& entry,
                                      const std::string& file) {
  const std::string what = absl::StrCat("stage ", entry.key);
  RecipeFields fields(entry.value, file, what);
  RecipeStage stage;
  stage.name = entry.key;
  stage.about = fields.TakeText("about");
  stage.each = fields.Take("each");
  stage.runs = fields.TakeMap("runs");
  stage.study = fields.TakeMap("study");
  stage.curve = fields.TakeText("curve");
  stage.skip_without_data = fields.TakeFlag("skip_without_data");
  stage.skip_slow_precision = fields.TakeFlag("skip_slow_precision");
  ASSIGN_OR_RETURN(stage.compare, ReadCompare(fields.TakeMap("compare"), file));
  ASSIGN_OR_RETURN(stage.across, ReadAcross(fields.TakeMap("across"), file));
  if (stage.study == nullptr) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFieldMissing,
                absl::StrCat(what, " has no study"),
                "add study: with the keys of a study file", "study");
  }
  if (stage.compare && stage.runs == nullptr) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFileSyntax,
                absl::StrCat(what, " compares, and has no runs"),
                "name runs, or leave compare out", "compare");
  }
  if (stage.across && (stage.runs == nullptr || stage.each == nullptr)) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFileSyntax,
                absl::StrCat(what,
                             " compares across entries, and has none, or "
                             "no runs"),
                "add each and runs, or leave across out", "across");
  }
  if (!CheckId(stage.name, "stage").ok()) {
    fields.Fail(entry.key_mark, ErrorId::kNameInvalid,
                absl::StrCat("'", stage.name, "' cannot be a stage's name"),
                "use lower-case letters, digits and hyphens", "stages");
  }
  RETURN_IF_ERROR(fields.Finish());
  return stage;
}

absl::StatusOr<PublishedStage> ReadPublished(const YamlEntry& entry,
                                             const std::string& file) {
  RecipeFields fields(entry.value, file, absl::StrCat("published ", entry.key));
  PublishedStage published;
  published.examples = static_cast<std::int64_t>(fields.TakeNumber("examples"));
  const YamlPtr runs = fields.TakeMap("runs");
  RETURN_IF_ERROR(fields.Finish());
  if (runs == nullptr) return published;
  for (const YamlEntry& run : runs->entries) {
    RecipeFields metrics(run.value, file, absl::StrCat("published ", run.key));
    for (const YamlEntry& metric : run.value->entries) {
      published.runs[run.key][metric.key] = metrics.TakeNumber(metric.key);
    }
    RETURN_IF_ERROR(metrics.Finish());
  }
  return published;
}

absl::Status CheckComplete(const Recipe& recipe, const YamlPtr& root,
                           RecipeFields& fields) {
  if (recipe.scales.empty() || recipe.stages.empty()) {
    const char* const lacks = recipe.scales.empty() ? "scales" : "stages";
    fields.Fail(root->mark, ErrorId::kStudyFieldMissing,
                absl::StrCat("the recipe has no ", lacks),
                absl::StrCat("add ", lacks,
                             ": as docs/reference/recipe-file.md "
                             "shows"),
                lacks);
  }
  return fields.Finish();
}

}  // namespace

absl::StatusOr<Recipe> ParseRecipe(const std::string& text,
                                   const std::string& file) {
  ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml(text, file));
  RecipeFields fields(root, file, "the recipe");
  RETURN_IF_ERROR(CheckFormat(fields, file));
  Recipe recipe;
  recipe.file = file;
  recipe.text = text;
  recipe.name = fields.NeedText("recipe", "elsa");
  recipe.title = fields.NeedText("title", "How many layers are enough");
  recipe.question = fields.NeedText("question", "What is lost?");
  recipe.source = fields.TakeText("source");
  recipe.found = fields.TakeText("found");
  recipe.adds = fields.TakeText("adds");
  ASSIGN_OR_RETURN(recipe.answer, ReadAnswer(fields.TakeMap("answer"), file));
  recipe.highest_layer_rate = fields.TakeNumber("highest_layer_rate");
  ASSIGN_OR_RETURN(recipe.models,
                   ReadNeeds(fields.TakeMap("models"), file, "model"));
  ASSIGN_OR_RETURN(recipe.data,
                   ReadNeeds(fields.TakeMap("data"), file, "data set"));
  ASSIGN_OR_RETURN(recipe.scales, ReadScales(fields.TakeMap("scales"), file));
  if (const YamlPtr stages = fields.TakeMap("stages")) {
    for (const YamlEntry& entry : stages->entries) {
      ASSIGN_OR_RETURN(RecipeStage stage, ReadStage(entry, file));
      recipe.stages.push_back(std::move(stage));
    }
  }
  if (const YamlPtr published = fields.TakeMap("published")) {
    for (const YamlEntry& entry : published->entries) {
      ASSIGN_OR_RETURN(recipe.published[entry.key], ReadPublished(entry, file));
    }
  }
  RETURN_IF_ERROR(CheckComplete(recipe, root, fields));
  RETURN_IF_ERROR(CheckAnswer(recipe, root));
  return recipe;
}

absl::StatusOr<const RecipeScale*> FindScale(const Recipe& recipe,
                                             const std::string& name) {
  std::vector<std::string> names;
  for (const RecipeScale& scale : recipe.scales) {
    if (scale.name == name) return &scale;
    names.push_back(scale.name);
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("recipe ", recipe.name, " has no scale '", name, "'"),
      absl::StrCat("take one of ", absl::StrJoin(names, ", ")), "--scale");
}

absl::StatusOr<Recipe> OpenRecipe(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const KnownRecipe& known : KnownRecipes()) {
    if (known.name == name_or_file) {
      return ParseRecipe(known.text,
                         absl::StrCat("recipes/", known.name, "/recipe.yaml"));
    }
    names.push_back(known.name);
  }
  const bool is_file = absl::StrContains(name_or_file, "/") ||
                       absl::EndsWith(name_or_file, ".yaml");
  if (!is_file) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("no recipe is called '", name_or_file, "'"),
                     Suggest(name_or_file, names), "NAME");
  }
  ASSIGN_OR_RETURN(const std::string text,
                   ReadTextFile(name_or_file, kMaxYamlBytes));
  return ParseRecipe(text, name_or_file);
}

}  // namespace frostline::cli
