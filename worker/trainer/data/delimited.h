// SPDX-License-Identifier: Apache-2.0
//
// File: delimited.h
//
// In TSV a quote is text. In CSV (RFC 4180) a field that begins with a quote
// ends with one, and may hold delimiters, line ends and "" for a quote. Empty
// lines are passed over; every row has as many fields as the first.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_DELIMITED_H_
#define FROSTLINE_WORKER_TRAINER_DATA_DELIMITED_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/data/line_reader.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

Expected<std::unique_ptr<RowSource>> OpenDelimited(
    LineReader lines, const FileFormat& format,
    const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_DELIMITED_H_
