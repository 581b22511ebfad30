// SPDX-License-Identifier: Apache-2.0
#include "spans/otlp.h"

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"

namespace frostline::spans {
namespace {

constexpr std::uint64_t kNanosPerMicro = 1'000;

std::uint64_t Nanos(WallMicros time) {
  return static_cast<std::uint64_t>(std::max<WallMicros>(time, 0)) *
         kNanosPerMicro;
}

template <typename Fields>
void AddAttributes(const Attributes& attributes, Fields& fields) {
  for (const auto& [key, value] : attributes) {
    otlp::KeyValue& field = *fields.Add();
    field.set_key(key);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      field.mutable_value()->set_string_value(*text);
    } else {
      field.mutable_value()->set_int_value(std::get<std::int64_t>(value));
    }
  }
}

void Fill(const Span& span, otlp::Span& to) {
  to.set_trace_id(absl::HexStringToBytes(span.context.trace_id));
  to.set_span_id(absl::HexStringToBytes(span.context.span_id));
  to.set_parent_span_id(absl::HexStringToBytes(span.parent));
  to.set_name(span.name);
  to.set_kind(otlp::Span::SPAN_KIND_INTERNAL);
  to.set_start_time_unix_nano(Nanos(span.begin));
  // A clock that was set back must not make a span of negative length.
  to.set_end_time_unix_nano(Nanos(std::max(span.begin, span.end)));
  AddAttributes(span.attributes, *to.mutable_attributes());
  for (const TraceContext& link : span.links) {
    otlp::Span::Link& added = *to.add_links();
    added.set_trace_id(absl::HexStringToBytes(link.trace_id));
    added.set_span_id(absl::HexStringToBytes(link.span_id));
  }
  if (span.error.empty()) return;
  to.mutable_status()->set_code(otlp::Status::STATUS_CODE_ERROR);
  to.mutable_status()->set_message(span.error);
}

}  // namespace

otlp::ExportTraceServiceRequest ToOtlp(const Attributes& program,
                                       const std::vector<Span>& spans) {
  otlp::ExportTraceServiceRequest request;
  otlp::ResourceSpans& resource = *request.add_resource_spans();
  AddAttributes(program, *resource.mutable_resource()->mutable_attributes());
  otlp::ScopeSpans& scope = *resource.add_scope_spans();
  scope.mutable_scope()->set_name("frostline");
  for (const Span& span : spans) Fill(span, *scope.add_spans());
  return request;
}

}  // namespace frostline::spans
