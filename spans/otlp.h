// SPDX-License-Identifier: Apache-2.0
//
// File: otlp.h
//
// Writes spans as OTLP 1: https://opentelemetry.io/docs/specs/otlp/.
#ifndef FROSTLINE_SPANS_OTLP_H_
#define FROSTLINE_SPANS_OTLP_H_

#include <vector>

#include "grpc/otlp/trace_service.pb.h"
#include "spans/span.h"

namespace frostline::spans {

namespace otlp = opentelemetry::proto::collector::trace::v1;

// `program` describes the sender: service.name and what else identifies it.
otlp::ExportTraceServiceRequest ToOtlp(const Attributes& program,
                                       const std::vector<Span>& spans);

}  // namespace frostline::spans

#endif  // FROSTLINE_SPANS_OTLP_H_
