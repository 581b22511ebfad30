// SPDX-License-Identifier: Apache-2.0
//
// File: filter_fields.h
#ifndef FROSTLINE_SERVER_WIRE_FILTER_FIELDS_H_
#define FROSTLINE_SERVER_WIRE_FILTER_FIELDS_H_

#include <string>

#include "absl/status/status.h"
#include "server/wire/filter_term.h"

namespace frostline::server {

// FILTER_INVALID.
absl::Status InvalidFilter(const std::string& cause);

// Whether the term names a field of T that can hold. It makes the bare name of
// an objective or a parameter whole, reads the number where the field is one,
// and finds where points have the parameter.
template <typename T>
absl::Status CheckTerm(const TrialNames& names, FilterTerm& term);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FILTER_FIELDS_H_
