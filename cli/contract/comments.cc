// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/comments.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace frostline::cli {
namespace {

// A blank behind a full stop may be inside of a sentence: "e.g. this".
bool EndsSentence(const std::string& text, std::size_t dot) {
  const std::string before = text.substr(0, dot);
  if (absl::EndsWith(before, "e.g") || absl::EndsWith(before, "i.e")) {
    return false;
  }
  if (dot + 2 >= text.size()) return true;
  return !absl::ascii_islower(static_cast<unsigned char>(text[dot + 2]));
}

}  // namespace

std::string CommentNamed(std::string_view full_name) {
  const CommentRow* const end = kCommentRows + kCommentCount;
  const CommentRow* const found =
      std::lower_bound(kCommentRows, end, full_name,
                       [](const CommentRow& row, std::string_view name) {
                         return row.name < name;
                       });
  if (found == end || found->name != full_name) return "";
  return std::string(found->text);
}

std::string FirstSentence(const std::string& comment) {
  const std::string first = comment.substr(0, comment.find("\n\n"));
  for (std::size_t dot = first.find(". "); dot != std::string::npos;
       dot = first.find(". ", dot + 1)) {
    if (EndsSentence(first, dot)) return first.substr(0, dot + 1);
  }
  return first;
}

}  // namespace frostline::cli
