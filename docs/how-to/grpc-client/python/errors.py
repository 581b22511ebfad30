# SPDX-License-Identifier: Apache-2.0
# errors.py HOST:PORT: asks for a study that there is not, and shows what comes back.
import sys

import grpc
from frostline.v1 import study_service_pb2 as verbs
from frostline.v1 import study_service_pb2_grpc as studies
from google.rpc import error_details_pb2
from grpc_status import rpc_status

with grpc.insecure_channel(sys.argv[1]) as channel:
    try:
        studies.StudyServiceStub(channel).GetStudy(verbs.GetStudyRequest(name="studies/none"))
    except grpc.RpcError as error:
        print(f"{error.code().name}: {error.details()}")
        for detail in rpc_status.from_call(error).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                print(f"{info.metadata['id']} {info.reason} at {info.metadata['field']}")
                print(f"fix: {info.metadata['fix']}")
