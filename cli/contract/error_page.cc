// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/error_page.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/contract/explain.h"
#include "cli/term/utf8.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxErrorWord = 100;

const ErrorKind* KindNamed(const std::string& id) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    if (ErrorCode(kind.id) == id) return &kind;
  }
  return nullptr;
}

// The text below the heading of an id; "" where the page has none.
std::string SectionOf(const std::string& id) {
  const std::string pages = kErrorPages;
  const std::size_t heading = pages.find(absl::StrCat("\n### ", id, " "));
  if (heading == std::string::npos) return "";
  const std::size_t begin = pages.find('\n', heading + 1);
  const std::size_t end = pages.find("\n##", begin);
  return pages.substr(begin, end == std::string::npos ? end : end - begin);
}

// Paragraphs are broken anew for the terminal; what is code stays as it is.
std::string Page(const std::string& section, int width) {
  std::string page;
  bool in_code = false;
  for (const auto& part : absl::StrSplit(section, "\n\n")) {
    const std::string block(absl::StripAsciiWhitespace(part));
    if (block.empty()) continue;
    const bool is_code = in_code || absl::StartsWith(block, "```");
    if (absl::StartsWith(block, "```") != absl::EndsWith(block, "```")) {
      in_code = !in_code;
    }
    const bool keeps = is_code || absl::StartsWith(block, "- ") ||
                       absl::StartsWith(block, "|") ||
                       absl::StartsWith(part, "    ");
    absl::StrAppend(
        &page, "\n",
        keeps ? absl::StrCat(block, "\n")
              : WrapText(absl::StrReplaceAll(block, {{"\n", " "}}), width));
  }
  return page;
}

}  // namespace

bool IsErrorId(const std::string& word) {
  return absl::StartsWithIgnoreCase(word, "FL-");
}

absl::StatusOr<std::string> ExplainError(const std::string& id, int width) {
  const std::string name = absl::AsciiStrToUpper(id);
  const ErrorKind* const kind = KindNamed(name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const ErrorKind& known : AllErrorKinds()) {
      names.push_back(ErrorCode(known.id));
    }
    const std::string near = Nearest(name, names);
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("no error is called '",
                                  proto::CleanText(id, kMaxErrorWord), "'"),
                     near.empty()
                         ? "write the id in brackets of an error: FL-2001"
                         : absl::StrCat("did you mean '", near, "'?"));
  }
  const int code = ExitCodeOf(MakeError(kind->id, "", ""));
  return absl::StrCat(name, "  ", kind->reason, " (",
                      absl::StatusCodeToString(kind->code), ")\n",
                      Page(SectionOf(name), width), "\nExit code ", code,
                      "; `frostline help exit-codes` lists them.\n");
}

}  // namespace frostline::cli
