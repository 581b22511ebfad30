// SPDX-License-Identifier: Apache-2.0
//
// File: svg.h
//
// A picture is self-contained, without scripts, on a card of its own that can
// be read on any page, light or dark. All text is escaped.
#ifndef FROSTLINE_CLI_VIEW_SVG_H_
#define FROSTLINE_CLI_VIEW_SVG_H_

#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Escapes; control characters, which no XML file may hold, become blanks.
std::string XmlText(const std::string& text);

// Classes are "title", "name", "small", "end" (text that ends at its place),
// "middle", "light", "dark", "bar", "faint", "line", "thick", "grid", "band",
// "curve", "dot", "best". Where a number is NaN nothing is drawn.
class Svg {
 public:
  // Screen readers say `title`.
  Svg(double width, double height, const std::string& title);

  void Text(double x, double y, const std::string& text,
            const std::string& classes);
  // Upwards, from its place on.
  void TextUp(double x, double y, const std::string& text,
              const std::string& classes);
  // `hint` is shown to who points at it.
  void Rect(double x, double y, double width, double height,
            const std::string& classes, const std::string& hint = "");
  // Draws one of a heat map: `heat` is 0 … 1.
  void Cell(double x, double y, double width, double height, double heat,
            const std::string& hint);
  void Line(double x1, double y1, double x2, double y2,
            const std::string& classes);
  using Points = std::vector<std::pair<double, double>>;
  void Path(const Points& points, const std::string& classes, bool closed);
  void Dot(double x, double y, const std::string& classes);

  std::string Finish() const;

 private:
  double width_;
  double height_;
  std::string title_;
  std::string body_;
};

// Draws a bar for each module in depth order, with 80 and 95 % intervals; it is
// hollow beyond the lower end of the former, and where it may be chance.
std::string ImportanceSvg(const v1::ImportanceReport& report);

std::string MarginalsSvg(const v1::GetMarginalsReply& reply);

// Draws a heat map: the darker the higher.
std::string PairMarginalSvg(const v1::PairMarginal& table);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_SVG_H_
