# SPDX-License-Identifier: Apache-2.0
# client.py HOST:PORT: creates a study, watches it, imports trials, reads its report.
import sys

import grpc
from frostline.v1 import importance_service_pb2 as questions
from frostline.v1 import importance_service_pb2_grpc as importance
from frostline.v1 import study_service_pb2 as verbs
from frostline.v1 import study_service_pb2_grpc as studies
from google.protobuf import json_format

retries = ("grpc.service_config", open("service_config.json").read())
with grpc.insecure_channel(sys.argv[1], options=[retries]) as channel:
    service = studies.StudyServiceStub(channel)
    create, trials = verbs.CreateStudyRequest(), verbs.ImportTrialsRequest()
    json_format.Parse(open("study.json").read(), create)
    json_format.Parse(open("trials.json").read(), trials)
    name = service.CreateStudy(create).study.name
    events = service.WatchStudy(verbs.WatchStudyRequest(name=name))
    missing = service.ImportTrials(trials).count
    while missing > 0:
        missing -= next(events).HasField("trial")
    report = importance.ImportanceServiceStub(channel).GetReport(
        questions.GetReportRequest(study=name))
for one in report.parameters:
    print(f"{one.parameter} {one.main.value:.2f} ({one.main.lo80:.2f} to {one.main.hi80:.2f})")
print(report.verdict)
