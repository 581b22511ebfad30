// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/field_splitter.h"

#include "worker/trainer/data/limits.h"

namespace frostline::trainer {

Expected<bool> FieldSplitter::Next(LineReader& lines,
                                   std::vector<std::string_view>& fields) {
  std::string_view line;
  do {
    Expected<bool> more = lines.Next(line);
    if (!more.ok() || !more.value()) return more;
  } while (line.empty());
  line_ = lines.number();
  if (quotes_ && line.find('"') != std::string_view::npos) {
    return SplitQuoted(lines, line, fields);
  }
  SplitPlain(line, fields);
  return true;
}

void FieldSplitter::SplitPlain(std::string_view line,
                               std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t end = line.find(delimiter_);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

Expected<bool> FieldSplitter::SplitQuoted(
    LineReader& lines, std::string_view line,
    std::vector<std::string_view>& fields) {
  unquoted_.clear();
  ends_.clear();
  while (true) {
    if (line.starts_with('"')) {
      Expected<bool> taken = TakeQuoted(lines, line);
      if (!taken.ok()) return taken;
    } else {
      const std::size_t size = line.substr(0, line.find(delimiter_)).size();
      unquoted_ += line.substr(0, size);
      line.remove_prefix(size);
    }
    ends_.push_back(unquoted_.size());
    if (line.empty()) break;
    line.remove_prefix(1);  // the delimiter
  }
  fields.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    fields.push_back(std::string_view(unquoted_).substr(begin, end - begin));
    begin = end;
  }
  return true;
}

// Takes a quoted field from the front of `rest`, which may become a later
// line. What is left is empty or begins with a delimiter.
Expected<bool> FieldSplitter::TakeQuoted(LineReader& lines,
                                         std::string_view& rest) {
  const std::size_t opened = lines.number();
  rest.remove_prefix(1);
  while (true) {
    const std::size_t quote = rest.find('"');
    unquoted_ += rest.substr(0, quote);
    if (unquoted_.size() > kMaxDataLineBytes) {
      return lines.At(opened, FaultKind::kTooLarge,
                      "opens a quote that runs on for more than 1 MiB",
                      "close it; where quotes are text, the format is tsv");
    }
    if (quote == std::string_view::npos) {
      Expected<bool> more = lines.Next(rest);
      if (!more.ok()) return more;
      if (!more.value()) {
        return lines.At(opened, FaultKind::kSyntax,
                        "opens a quote that is never closed",
                        "close it; where quotes are text, the format is tsv");
      }
      unquoted_ += '\n';
      continue;
    }
    rest.remove_prefix(quote + 1);
    if (rest.starts_with('"')) {
      unquoted_ += '"';
      rest.remove_prefix(1);
      continue;
    }
    if (rest.empty() || rest.front() == delimiter_) return true;
    return lines.Here(FaultKind::kSyntax, "goes on behind a closing quote",
                      "double a quote that belongs to the text: \"\"; where "
                      "quotes are text, the format is tsv");
  }
}

}  // namespace frostline::trainer
