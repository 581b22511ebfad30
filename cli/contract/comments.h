// SPDX-License-Identifier: Apache-2.0
//
// File: comments.h
//
// Messages, fields, enums and their values, services and methods have comments;
// `Declared` is any of their descriptors.
#ifndef FROSTLINE_CLI_CONTRACT_COMMENTS_H_
#define FROSTLINE_CLI_CONTRACT_COMMENTS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace frostline::cli {

struct CommentRow {
  std::string_view name;  // "frostline.v1.StudySpec.tasks"
  std::string_view text;
};

// Made at build time, sorted by name.
extern const CommentRow kCommentRows[];
extern const std::size_t kCommentCount;

// "" when there is none. Paragraphs have an empty line between them.
std::string CommentNamed(std::string_view full_name);

template <typename Declared>
std::string CommentOf(const Declared& declared) {
  return CommentNamed(declared.full_name());
}

// With its full stop; abbreviations such as "e.g." end none.
std::string FirstSentence(const std::string& comment);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_COMMENTS_H_
