// SPDX-License-Identifier: Apache-2.0
//
// File: otlp.h
//
// Spans as OTLP 1 writes them, https://opentelemetry.io/docs/specs/otlp/.
#ifndef FROSTLINE_SPANS_OTLP_H_
#define FROSTLINE_SPANS_OTLP_H_

#include <vector>

#include "grpc/otlp/trace_service.pb.h"
#include "spans/span.h"

namespace frostline::spans {

namespace otlp = opentelemetry::proto::collector::trace::v1;

// `program` says who sends: service.name and what else tells it from others.
otlp::ExportTraceServiceRequest ToOtlp(const Attributes& program,
                                       const std::vector<Span>& spans);

}  // namespace frostline::spans

#endif  // FROSTLINE_SPANS_OTLP_H_
