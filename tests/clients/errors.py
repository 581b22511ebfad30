#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errors.py HOST:PORT: provokes the errors that the reference of the API lists
for the calls that read, with what reflection tells of them. There is one study,
"imported", whose trials are finished."""
import re
import sys

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.rpc import error_details_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)
from grpc_status import rpc_status

from page import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from api_reference import reference_page  # noqa: E402

THERE, NOT_THERE = "studies/imported", "studies/none"


def contenders(*trials):
    return [{"trials": [trial]} for trial in trials]


METHOD = re.compile(r"^### (\w+Service)\.(\w+)$(.*?)(?=^##)",
                    re.MULTILINE | re.DOTALL)
# error -> fields of a request that provoke it, as far as the request has them
# and they are not set yet.
PROVOKED_BY = {
    "STUDY_NOT_FOUND": {"name": NOT_THERE, "study": NOT_THERE,
                        "parent": NOT_THERE, "first": NOT_THERE,
                        "second": THERE,
                        "contenders": contenders(THERE + "/trials/0",
                                                 NOT_THERE + "/trials/0")},
    "TRIAL_NOT_FOUND": {"name": THERE + "/trials/1000",
                        "contenders": contenders(THERE + "/trials/1000",
                                                 THERE + "/trials/0")},
    "OUTCOMES_MISSING": {},
    "PAGE_TOKEN_INVALID": {"page_token": "no token"},
    "FILTER_INVALID": {"filter": "((("},
    "EVALUATOR_UNKNOWN": {"options": {"evaluator": "none"}},
}
# What the call needs besides.
BESIDES = {"GetPairMarginal": {"first": "layer.0", "second": "layer.1"},
           "CompareStudies": {"first": THERE, "second": THERE},
           "CompareTrials": {"contenders": contenders(THERE + "/trials/0",
                                                      THERE + "/trials/1")},
           "ExplainDifference": {"first_trial": 0, "second_trial": 1},
           "AskPlan": {"trials": 1}, "GetPlanRivals": {"seeds": 2}}
TRIALS = ("GetTrial", "ListMeasurements", "GetExampleOutcomes", "GetTrialLog",
          "ReadPredictions")


def claims():
    """(service, method, error) of each that this program can provoke."""
    for service, method, text in METHOD.findall(reference_page()):
        if "Reads only." in text:
            for error in re.findall(r"\[([A-Z_]+)\]\(errors\.md", text):
                if error in PROVOKED_BY:
                    yield service, method, error


def request_of(method, error):
    fields = {"name": THERE, "study": THERE, "parent": THERE,
              **BESIDES.get(method.name, {})}
    if method.name in TRIALS:
        fields["name"] = THERE + "/trials/0"
    for field, value in PROVOKED_BY[error].items():
        if method.name in TRIALS and error == "STUDY_NOT_FOUND" and \
                isinstance(value, str):
            value += "/trials/0"
        if method.name != "GetPairMarginal" or field not in fields or \
                field == "study":
            fields[field] = value
    known = {field.name for field in method.input_type.fields}
    return message_factory.GetMessageClass(method.input_type)(
        **{name: value for name, value in fields.items() if name in known})


def answer(channel, method, request):
    """The reason of the error that it gets; "" for none."""
    kind = channel.unary_stream if method.server_streaming \
        else channel.unary_unary
    call = kind(f"/{method.containing_service.full_name}/{method.name}",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=lambda data: data)
    try:
        reply = call(request)
        if method.server_streaming:
            next(reply)
            reply.cancel()
    except grpc.RpcError as error:
        info = error_details_pb2.ErrorInfo()
        rpc_status.from_call(error).details[0].Unpack(info)
        return info.reason
    return ""


def main(address):
    wrong = count = 0
    with grpc.insecure_channel(address) as channel:
        pool = descriptor_pool.DescriptorPool(
            ProtoReflectionDescriptorDatabase(channel))
        for service, name, error in claims():
            method = pool.FindMethodByName(f"frostline.v1.{service}.{name}")
            got = answer(channel, method, request_of(method, error))
            count += 1
            if got != error:
                wrong += 1
                print(f"{service}.{name}: {error} is promised, {got or 'OK'} "
                      "is what comes")
    print(f"{count} errors provoked, {wrong} of them others than promised")
    return 1 if wrong or count < 30 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
