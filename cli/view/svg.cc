// SPDX-License-Identifier: Apache-2.0
#include "cli/view/svg.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxText = 1000;

// Colours that the colour-blind can tell apart; all on the card's own ground.
constexpr char kStyle[] =
    "<style>\n"
    "text{font:13px system-ui,sans-serif;fill:#1f2328}\n"
    ".title{font-size:15px;font-weight:600}\n"
    ".small{font-size:11px;fill:#59636e}\n"
    ".end{text-anchor:end}\n"
    ".middle{text-anchor:middle}\n"
    ".card{fill:#ffffff;stroke:#d1d9e0}\n"
    ".bar{fill:#0969da}\n"
    ".faint{fill:#ffffff;stroke:#0969da;stroke-dasharray:3 2}\n"
    ".line{stroke:#1f2328;stroke-width:1.5;fill:none}\n"
    ".thick{stroke:#1f2328;stroke-width:4;fill:none}\n"
    ".grid{stroke:#d1d9e0;stroke-width:1;fill:none}\n"
    ".band{fill:#0969da;fill-opacity:.18}\n"
    ".curve{stroke:#0969da;stroke-width:2;fill:none}\n"
    ".dot{fill:#0969da}\n"
    ".best{fill:#bc4c00}\n"
    ".light{fill:#ffffff}\n"
    ".dark{fill:#1f2328}\n"
    "</style>\n";

std::string SvgNumber(double value) { return absl::StrFormat("%.1f", value); }

// White to blue, by lightness, so that it can be read in grey too.
std::string HeatColour(double heat) {
  const double t = std::clamp(heat, 0.0, 1.0);
  const auto mix = [t](int from, int to) {
    return static_cast<int>(std::lround(from + t * (to - from)));
  };
  return absl::StrFormat("#%02x%02x%02x", mix(246, 9), mix(248, 80),
                         mix(250, 174));
}

std::string Hint(const std::string& text) {
  if (text.empty()) return "";
  return absl::StrCat("<title>", XmlText(text), "</title>");
}

}  // namespace

std::string XmlText(const std::string& text) {
  return absl::StrReplaceAll(proto::CleanText(text, kMaxText),
                             {{"&", "&amp;"},
                              {"<", "&lt;"},
                              {">", "&gt;"},
                              {"\"", "&quot;"},
                              {"'", "&#39;"}});
}

Svg::Svg(double width, double height, const std::string& title)
    : width_(width), height_(height), title_(title) {}

void Svg::Text(double x, double y, const std::string& text,
               const std::string& classes) {
  absl::StrAppend(&body_, "<text class=\"", classes, "\" x=\"", SvgNumber(x),
                  "\" y=\"", SvgNumber(y), "\">", XmlText(text), "</text>\n");
}

void Svg::TextUp(double x, double y, const std::string& text,
                 const std::string& classes) {
  absl::StrAppend(&body_, "<text class=\"", classes,
                  "\" transform=\"translate(", SvgNumber(x), " ", SvgNumber(y),
                  ") rotate(-90)\">", XmlText(text), "</text>\n");
}

void Svg::Rect(double x, double y, double width, double height,
               const std::string& classes, const std::string& hint) {
  if (std::isnan(x + y + width + height)) return;
  absl::StrAppend(&body_, "<rect class=\"", classes, "\" x=\"", SvgNumber(x),
                  "\" y=\"", SvgNumber(y), "\" width=\"",
                  SvgNumber(std::max(0.0, width)), "\" height=\"",
                  SvgNumber(std::max(0.0, height)), "\">", Hint(hint),
                  "</rect>\n");
}

void Svg::Cell(double x, double y, double width, double height, double heat,
               const std::string& hint) {
  if (std::isnan(heat)) return;
  absl::StrAppend(&body_, "<rect x=\"", SvgNumber(x), "\" y=\"", SvgNumber(y),
                  "\" width=\"", SvgNumber(width), "\" height=\"",
                  SvgNumber(height), "\" fill=\"", HeatColour(heat), "\">",
                  Hint(hint), "</rect>\n");
}

void Svg::Line(double x1, double y1, double x2, double y2,
               const std::string& classes) {
  if (std::isnan(x1 + y1 + x2 + y2)) return;
  absl::StrAppend(&body_, "<line class=\"", classes, "\" x1=\"", SvgNumber(x1),
                  "\" y1=\"", SvgNumber(y1), "\" x2=\"", SvgNumber(x2),
                  "\" y2=\"", SvgNumber(y2), "\"/>\n");
}

void Svg::Path(const Points& points, const std::string& classes, bool closed) {
  std::string steps;
  for (const auto& [x, y] : points) {
    if (std::isnan(x + y)) continue;
    absl::StrAppend(&steps, steps.empty() ? "M" : "L", SvgNumber(x), " ",
                    SvgNumber(y));
  }
  if (steps.empty()) return;
  absl::StrAppend(&body_, "<path class=\"", classes, "\" d=\"", steps,
                  closed ? "Z" : "", "\"/>\n");
}

void Svg::Dot(double x, double y, const std::string& classes) {
  if (std::isnan(x + y)) return;
  absl::StrAppend(&body_, "<circle class=\"", classes, "\" cx=\"", SvgNumber(x),
                  "\" cy=\"", SvgNumber(y), "\" r=\"3\"/>\n");
}

std::string Svg::Finish() const {
  const std::string title = XmlText(title_);
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"",
      SvgNumber(width_), "\" height=\"", SvgNumber(height_),
      "\" viewBox=\"0 0 ", SvgNumber(width_), " ", SvgNumber(height_),
      "\" aria-label=\"", title, "\">\n", kStyle,
      "<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"",
      SvgNumber(width_ - 1), "\" height=\"", SvgNumber(height_ - 1),
      "\" rx=\"6\"/>\n", body_, "</svg>\n");
}

}  // namespace frostline::cli
