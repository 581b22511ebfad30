// SPDX-License-Identifier: Apache-2.0

// client HOST:PORT: creates a study, watches it, imports trials, reads its report.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	v1 "example.com/client/frostline/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	retries := grpc.WithDefaultServiceConfig(string(must(os.ReadFile("service_config.json"))))
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	channel := must(grpc.NewClient(os.Args[1], plain, retries))
	studies := v1.NewStudyServiceClient(channel)
	create, trials := &v1.CreateStudyRequest{}, &v1.ImportTrialsRequest{}
	must(0, protojson.Unmarshal(must(os.ReadFile("study.json")), create))
	must(0, protojson.Unmarshal(must(os.ReadFile("trials.json")), trials))
	name := must(studies.CreateStudy(ctx, create)).Study.Name
	events := must(studies.WatchStudy(ctx, &v1.WatchStudyRequest{Name: name}))
	for missing := must(studies.ImportTrials(ctx, trials)).Count; missing > 0; {
		if must(events.Recv()).GetTrial() != nil {
			missing--
		}
	}
	ask := &v1.GetReportRequest{Study: name}
	report := must(v1.NewImportanceServiceClient(channel).GetReport(ctx, ask))
	for _, one := range report.Parameters {
		fmt.Printf("%s %.2f (%.2f to %.2f)\n", one.Parameter, one.Main.Value, one.Main.Lo80, one.Main.Hi80)
	}
	fmt.Println(report.Verdict)
}
