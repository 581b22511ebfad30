// SPDX-License-Identifier: Apache-2.0
//
// File: svg.h
//
// SVG pictures. A picture is self-contained and without scripts. It has its own
// background, so it can be read on a light or a dark page. All text is escaped.
#ifndef FROSTLINE_CLI_VIEW_SVG_H_
#define FROSTLINE_CLI_VIEW_SVG_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Escapes text for XML. Control characters, which XML forbids, become blanks.
std::string XmlText(const std::string& text);

// A picture under construction. Classes are "title", "name", "small", "end"
// (text that ends at its place), "middle", "light", "dark", "bar", "faint",
// "line", "thick", "grid", "band", "curve", "dot", "best". A shape with a NaN
// coordinate is not drawn.
class Svg {
 public:
  // Screen readers read `title`.
  Svg(double width, double height, const std::string& title);

  void Text(double x, double y, const std::string& text,
            const std::string& classes);
  // Draws text that runs upwards from its place.
  void TextUp(double x, double y, const std::string& text,
              const std::string& classes);
  // `hint` is shown when the mouse points at the shape.
  void Rect(double x, double y, double width, double height,
            const std::string& classes, const std::string& hint = "");
  // Draws a cell of a heat map; `heat` is 0 … 1.
  void Cell(double x, double y, double width, double height, double heat,
            const std::string& hint);
  void Line(double x1, double y1, double x2, double y2,
            const std::string& classes);
  using Points = std::vector<std::pair<double, double>>;
  void Path(const Points& points, const std::string& classes, bool closed);
  void Dot(double x, double y, const std::string& classes);
  // Draws the line of series `index`, of a colour and dashes of its own. Nine
  // and more can be told apart, by colour-blind people and in grey too.
  void Series(const Points& points, std::size_t index);

  std::string Finish() const;

 private:
  double width_;
  double height_;
  std::string title_;
  std::string body_;
};

// Draws a bar for each module in depth order, with 80 and 95 % intervals. The
// bar is hollow beyond the lower end of the 80 % interval, and where the
// importance may be chance.
std::string ImportanceSvg(const v1::ImportanceReport& report);

std::string MarginalsSvg(const v1::GetMarginalsReply& reply);

// Draws a heat map; higher is darker.
std::string PairMarginalSvg(const v1::PairMarginal& table);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_SVG_H_
