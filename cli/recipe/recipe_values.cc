// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_values.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "cli/study_file/yaml_sugar.h"

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

// "layers / 2": one operator, with blanks around it.
absl::StatusOr<YamlPtr> Putter::Expression(const std::string& text,
                                           const YamlMark& mark) const {
  for (const char op : std::string(kOperators)) {
    const std::size_t at =
        text.find(absl::StrCat(" ", std::string(1, op), " "));
    if (at == std::string::npos) continue;
    ASSIGN_OR_RETURN(const YamlPtr value, Named(text.substr(0, at), mark));
    double a = 0.0, b = 0.0;
    if (value->kind != Kind::kScalar || !absl::SimpleAtod(value->text, &a) ||
        !absl::SimpleAtod(text.substr(at + 3), &b) || (op == '/' && b == 0.0)) {
      return ErrorAt(ErrorId::kStudyFileSyntax, file, mark,
                     absl::StrCat("${", text, "} cannot be computed"),
                     "compute with numbers: \"${layers / 2}\"");
    }
    return ScalarNode(absl::StrFormat("%.17g", Computed(op, a, b)), mark);
  }
  return Named(text, mark);
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

}  // namespace frostline::cli
