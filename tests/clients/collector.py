# SPDX-License-Identifier: Apache-2.0
"""collector.py FILE: an OpenTelemetry collector of the types that OpenTelemetry
publishes. It prints its address, and writes a line of JSON into FILE for each
span that comes."""
import concurrent.futures
import json
import sys

import grpc
from opentelemetry.proto.collector.trace.v1 import (
    trace_service_pb2, trace_service_pb2_grpc)


def value_of(value):
    return getattr(value, value.WhichOneof("value"))


def fields(attributes):
    return {one.key: value_of(one.value) for one in attributes}


def said(resource, span):
    return {
        "from": fields(resource.attributes)["service.name"],
        "trace": span.trace_id.hex(), "id": span.span_id.hex(),
        "parent": span.parent_span_id.hex(), "name": span.name,
        "begin": span.start_time_unix_nano, "end": span.end_time_unix_nano,
        "attributes": fields(span.attributes),
        "links": [link.trace_id.hex() for link in span.links],
        "code": span.status.code, "error": span.status.message}


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, out):
        self.out = out

    def Export(self, request, context):
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    # One write a call of one thread: lines never mix.
                    self.out.write(
                        json.dumps(said(resource.resource, span)) + "\n")
        self.out.flush()
        return trace_service_pb2.ExportTraceServiceResponse()


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(
            Collector(out), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        print(f"127.0.0.1:{port}", flush=True)
        server.wait_for_termination()


if __name__ == "__main__":
    main()
