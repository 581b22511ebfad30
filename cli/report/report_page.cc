// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr char kHead[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n";

constexpr char kStyle[] =
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:#1f2328;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin-bottom:.2rem}\n"
    "h2{font-size:1.2rem;border-bottom:1px solid #d1d9e0;margin-top:2rem}\n"
    ".about{color:#59636e;margin:0}\n"
    "figure{margin:1rem 0;overflow-x:auto}\n"
    "figcaption{color:#59636e;font-size:.85rem}\n"
    "svg{max-width:100%;height:auto}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{border:1px solid #d1d9e0;padding:.15rem .5rem;text-align:left}\n"
    "th{background:#f6f8fa}\n"
    "pre{background:#f6f8fa;padding:.7rem;overflow-x:auto;font-size:.8rem}\n"
    "@media print{body{max-width:none;margin:0}h2{break-after:avoid}"
    "figure,tr{break-inside:avoid}thead{display:table-header-group}}\n"
    "</style>\n";

std::string HtmlTable(const ReportTable& table) {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& column : table.columns) {
    absl::StrAppend(&html, "<th>", XmlText(column), "</th>");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) {
      absl::StrAppend(&html, "<td>", XmlText(cell), "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string HtmlSection(const ReportSection& section) {
  std::string html = absl::StrCat("<h2>", XmlText(section.heading), "</h2>\n");
  for (const std::string& paragraph : section.paragraphs) {
    absl::StrAppend(&html, "<p>", XmlText(paragraph), "</p>\n");
  }
  for (const ReportFigure& figure : section.figures) {
    absl::StrAppend(&html, "<figure>\n", figure.svg, "<figcaption>",
                    XmlText(figure.caption), "</figcaption>\n</figure>\n");
  }
  for (const ReportTable& table : section.tables) html += HtmlTable(table);
  if (!section.verbatim.empty()) {
    html += "<pre>";
    // Line by line: a text's line ends would become blanks.
    for (std::size_t at = 0; at < section.verbatim.size();) {
      const std::size_t end =
          std::min(section.verbatim.find('\n', at), section.verbatim.size());
      absl::StrAppend(&html, XmlText(section.verbatim.substr(at, end - at)),
                      "\n");
      at = end + 1;
    }
    html += "</pre>\n";
  }
  return html;
}

// Escapes "<" only where it begins a tag: before a letter or one of / ! ?.
// Elsewhere it stays, so that the text is readable on a terminal too.
std::string WithoutTags(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool begins_tag =
        text[i] == '<' &&
        (absl::ascii_isalpha(static_cast<unsigned char>(next)) || next == '/' ||
         next == '!' || next == '?');
    if (begins_tag) {
      plain += "&lt;";
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Escapes characters that have a meaning in Markdown.
std::string Plain(const std::string& text) {
  return absl::StrReplaceAll(WithoutTags(text), {{"\\", "\\\\"},
                                                 {"`", "\\`"},
                                                 {"*", "\\*"},
                                                 {"_", "\\_"},
                                                 {"[", "\\["},
                                                 {"|", "\\|"},
                                                 {"\n", " "}});
}

std::string MarkdownTable(const ReportTable& table) {
  std::string text = "|";
  std::string rule = "|";
  for (const std::string& column : table.columns) {
    absl::StrAppend(&text, " ", Plain(column), " |");
    rule += " --- |";
  }
  absl::StrAppend(&text, "\n", rule, "\n");
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) {
      absl::StrAppend(&text, " ", Plain(cell), " |");
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string ToHtml(const ReportPage& page) {
  std::string html =
      absl::StrCat(kHead, "<title>", XmlText(page.title), "</title>\n", kStyle,
                   "</head>\n<body>\n<h1>", XmlText(page.title), "</h1>\n");
  for (const std::string& line : page.lines) {
    absl::StrAppend(&html, "<p class=\"about\">", XmlText(line), "</p>\n");
  }
  for (const ReportSection& section : page.sections) {
    html += HtmlSection(section);
  }
  return html + "</body>\n</html>\n";
}

std::string ToMarkdown(const ReportPage& page, const std::string& figures) {
  std::string text = absl::StrCat("# ", Plain(page.title), "\n\n");
  for (const std::string& line : page.lines) {
    absl::StrAppend(&text, Plain(line), "  \n");
  }
  for (const ReportSection& section : page.sections) {
    absl::StrAppend(&text, "\n## ", Plain(section.heading), "\n\n");
    for (const std::string& paragraph : section.paragraphs) {
      absl::StrAppend(&text, Plain(paragraph), "\n\n");
    }
    for (const ReportFigure& figure : section.figures) {
      if (figures.empty()) continue;
      absl::StrAppend(&text, "![", Plain(figure.caption), "](", figures, "/",
                      figure.name, ".svg)\n\n");
    }
    for (const ReportTable& table : section.tables)
      text += MarkdownTable(table);
    if (!section.verbatim.empty()) {
      absl::StrAppend(&text, "```\n", section.verbatim, "```\n");
    }
  }
  return text;
}

}  // namespace frostline::cli
