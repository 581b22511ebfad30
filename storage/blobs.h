// SPDX-License-Identifier: Apache-2.0
//
// File: blobs.h
//
// Numbers keep every bit here, where SQLite turns NaN to NULL and -0.0 to 0.0.
//   doubles       8 bytes each, little endian IEEE 754
//   metrics       in rising order of names: length of the name (4 bytes, little
//                 endian), the name, the value as above
//   measurement   elapsed_s as above, then the metrics
#ifndef FROSTLINE_STORAGE_BLOBS_H_
#define FROSTLINE_STORAGE_BLOBS_H_

#include <string>
#include <vector>

#include "study/history.h"

namespace frostline::storage {

std::string EncodeDoubles(const std::vector<double>& values);
std::string EncodeMetrics(const Metrics& metrics);
std::string EncodeMeasurement(const Measurement& measurement);

// Answers false for other bytes; the target is then unspecified.
bool DecodeDoubles(const std::string& bytes, std::vector<double>& values);
bool DecodeMetrics(const std::string& bytes, Metrics& metrics);
// Leaves the step alone.
bool DecodeMeasurement(const std::string& bytes, Measurement& measurement);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_BLOBS_H_
