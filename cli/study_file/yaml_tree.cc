// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_tree.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/text.h"
#include "cli/study_file/yaml_builder.h"
#include "cli/term/utf8.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxQuotedBytes = 60;

absl::Status CheckText(const std::string& text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return ErrorAt(ErrorId::kFieldTooLarge, file, {},
                   absl::StrCat("the file has ", text.size(),
                                " bytes; the limit is ", kMaxYamlBytes),
                   "a study is a few kilobytes: is this the right file?");
  }
  const auto broken = FirstInvalidByte(text);
  const std::size_t zero = text.find('\0');
  if (!broken.has_value() && zero == std::string::npos) return absl::OkStatus();
  const std::size_t at = std::min(broken.value_or(text.size()), zero);
  const std::string before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return ErrorAt(
      ErrorId::kStudyFileSyntax, file,
      {static_cast<int>(lines) + 1, DisplayWidth(before.substr(start)) + 1},
      "a byte that is no UTF-8 text", "save the file as UTF-8 text");
}

// The last line up to `line` that a tab indents: yaml-cpp takes it for a blank
// between words, and stumbles over what comes next.
std::optional<int> TabbedLine(const std::string& text, int line) {
  std::istringstream lines(text);
  std::optional<int> found;
  std::string one;
  for (int i = 1; i <= line && std::getline(lines, one); ++i) {
    const std::size_t word = one.find_first_not_of(" \t");
    if (one.substr(0, word).find('\t') != std::string::npos) found = i;
  }
  return found;
}

// yaml-cpp's words are those of its grammar; the usual slips get plain ones.
absl::Status SyntaxError(const std::string& text, const std::string& file,
                         const YAML::Exception& error) {
  std::string cause = error.msg;
  std::string fix = "correct the YAML at this place";
  YamlMark mark = MarkOf(error.mark);
  const std::optional<int> tab = TabbedLine(text, mark.line);
  if (tab.has_value()) {
    mark = {*tab, 1};
    cause = "a tab cannot indent in YAML";
    fix = "indent with blanks";
  } else if (absl::StrContains(cause, "end of map flow")) {
    cause = "a { is not closed";
    fix = "close it with }; is the file cut off?";
  } else if (absl::StrContains(cause, "end of sequence flow")) {
    cause = "a [ is not closed";
    fix = "close it with ]; is the file cut off?";
  }
  return ErrorAt(ErrorId::kStudyFileSyntax, file, mark, cause, fix);
}

}  // namespace

absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field) {
  return MakeError(
      id, absl::StrCat(file, ":", mark.line, ":", mark.column, ": ", cause),
      fix, field);
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return absl::StrCat("'", proto::CleanText(node.text, kMaxQuotedBytes), "'");
}

absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file) {
  RETURN_IF_ERROR(CheckText(text, file));
  YamlBuilder builder(file);
  std::istringstream stream(text);
  // yaml-cpp throws; it ends here.
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    RETURN_IF_ERROR(builder.error());  // an earlier mistake explains more
    return SyntaxError(text, file, error);
  }
  RETURN_IF_ERROR(builder.error());
  if (builder.root() == nullptr) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, {}, "the file is empty",
                   "see docs/reference/study-file.md for an example");
  }
  return builder.root();
}

}  // namespace frostline::cli
