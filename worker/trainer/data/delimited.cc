// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/delimited.h"

#include <optional>
#include <string_view>
#include <utility>

#include "worker/trainer/data/column_names.h"
#include "worker/trainer/data/field_splitter.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

class Delimited : public RowSource {
 public:
  Delimited(LineReader lines, const FileFormat& format)
      : lines_(std::move(lines)),
        splitter_(
            format.kind == FileFormat::Kind::kTsv ? '\t' : format.delimiter,
            format.kind == FileFormat::Kind::kCsv) {}

  // Reads the header, or looks at the first row, and finds the columns.
  Expected<Done> Bind(const FileFormat& format,
                      const std::vector<std::string>& columns) {
    Expected<bool> more = splitter_.Next(lines_, fields_);
    if (!more.ok()) return more.fault();
    std::vector<std::string> names = format.names;
    if (!more.value()) return Empty();
    width_ = fields_.size();
    if (width_ > kMaxColumns) {
      return Here(FaultKind::kTooLarge, "has more than 1,000 columns",
                  "is the delimiter right?");
    }
    if (format.header) {
      names.assign(fields_.begin(), fields_.end());
    } else {
      pending_ = true;
      if (!names.empty() && names.size() != width_) return WrongNames(names);
    }
    for (const std::string& column : columns) {
      const std::optional<std::size_t> index =
          FindColumn(names, width_, column);
      if (!index) {
        return MissingColumn(lines_.name(), column, names, width_);
      }
      wanted_.push_back(*index);
    }
    return Done{};
  }

  Expected<bool> Next(Row& row) override {
    if (!pending_) {
      Expected<bool> more = splitter_.Next(lines_, fields_);
      if (!more.ok() || !more.value()) return more;
    }
    pending_ = false;
    if (fields_.size() != width_) {
      return Here(FaultKind::kSyntax,
                  "has " + std::to_string(fields_.size()) +
                      " columns, the first line " + std::to_string(width_),
                  "correct the line; where a field holds delimiters or line "
                  "ends, quote it and use the format csv");
    }
    row.cells.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      row.cells[i] = Cell{.text = fields_[wanted_[i]], .items = {}};
    }
    return true;
  }

  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const override {
    return lines_.At(splitter_.line(), kind, what, fix);
  }

 private:
  Fault Empty() const {
    return Fault{FaultKind::kInconsistent, lines_.name() + ": has no rows",
                 "give a file with at least one row"};
  }
  Fault WrongNames(const std::vector<std::string>& names) const {
    return Here(FaultKind::kInconsistent,
                "has " + std::to_string(width_) + " columns, the registry " +
                    "names " + std::to_string(names.size()),
                "correct `names` in the registry");
  }

  LineReader lines_;
  FieldSplitter splitter_;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> wanted_;
  std::size_t width_ = 0;
  bool pending_ = false;  // fields_ hold a row that was not given out yet
};

}  // namespace

Expected<std::unique_ptr<RowSource>> OpenDelimited(
    LineReader lines, const FileFormat& format,
    const std::vector<std::string>& columns) {
  auto source = std::make_unique<Delimited>(std::move(lines), format);
  Expected<Done> bound = source->Bind(format, columns);
  if (!bound.ok()) return bound.fault();
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace frostline::trainer
