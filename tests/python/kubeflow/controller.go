// SPDX-License-Identifier: Apache-2.0

// controller katib ADDRESS, or controller trainer ADDRESS ANOTHER: asks what Katib's
// suggestion controller and OptimizationJob's controller ask, in their order, and plays
// the cluster between: trials run, fail and are lost. Prints a line of JSON for each trial.
// What the two controllers would refuse ends it. ANOTHER has to answer every request as
// ADDRESS does, although it has heard of none before.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"time"

	katib "example.com/client/katib"
	trainer "example.com/client/trainer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
)

const (
	parallel = 3
	most     = 24
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// How many trials there are to be once so many have ended.
func wanted(ended int) int {
	if ended+parallel < most {
		return ended + parallel
	}
	return most
}

func dial(address string) *grpc.ClientConn {
	return must(grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials())))
}

// How a trial ends, by its number; its point decides about memory.
func end(number int, point map[string]string) (reason string, value float64) {
	x := must(strconv.ParseFloat(point["--lr"], 64))
	switch {
	case point["batch"] == "64":
		return "OOMKilled", 0
	case number%7 == 5:
		return "Evicted", 0
	}
	return "", math.Pow(math.Log10(x)+3, 2)
}

func say(number int, point map[string]string, reason string, value float64) {
	fmt.Println(string(must(json.Marshal(map[string]any{
		"number": number, "point": point, "reason": reason, "value": value}))))
}

// Katib: a reconciler asks for what is missing, another one makes trials of it, and one
// more notes how they end; so the history lags behind what was suggested.
func runKatib(address string) {
	channel := dial(address)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	probe := &health.HealthCheckRequest{Service: "manager.v1beta1.Suggestion"}
	if must(health.NewHealthClient(channel).Check(ctx, probe)).Status != health.HealthCheckResponse_SERVING {
		log.Fatal("it is not ready")
	}
	service := katib.NewSuggestionClient(channel)
	experiment := &katib.Experiment{Name: "lr", Spec: &katib.ExperimentSpec{
		ParameterSpecs: &katib.ExperimentSpec_ParameterSpecs{Parameters: []*katib.ParameterSpec{
			{Name: "--lr", ParameterType: katib.ParameterType_DOUBLE, FeasibleSpace: &katib.FeasibleSpace{
				Min: "1e-5", Max: "0.1", Distribution: katib.Distribution_LOG_UNIFORM}},
			{Name: "batch", ParameterType: katib.ParameterType_DISCRETE, FeasibleSpace: &katib.FeasibleSpace{
				List: []string{"16", "32", "64"}}},
			{Name: "optimizer", ParameterType: katib.ParameterType_CATEGORICAL, FeasibleSpace: &katib.FeasibleSpace{
				List: []string{"adam", "sgd"}}},
			{Name: "layers", ParameterType: katib.ParameterType_INT, FeasibleSpace: &katib.FeasibleSpace{
				Min: "1", Max: "7", Step: "2"}}}},
		Objective: &katib.ObjectiveSpec{Type: katib.ObjectiveType_MINIMIZE, ObjectiveMetricName: "loss"},
		Algorithm: &katib.AlgorithmSpec{AlgorithmName: "tpe", AlgorithmSettings: []*katib.AlgorithmSetting{
			{Name: "random_state", Value: "3"}}},
		ParallelTrialCount: parallel, MaxTrialCount: most}}
	must(service.ValidateAlgorithmSettings(ctx,
		&katib.ValidateAlgorithmSettingsRequest{Experiment: experiment}, grpc.WaitForReady(true)))
	var suggested []*katib.GetSuggestionsReply_ParameterAssignments
	var trials []*katib.Trial
	for ended := 0; ended < most; {
		if missing := wanted(ended) - len(suggested); missing > 0 {
			reply := must(service.GetSuggestions(ctx, &katib.GetSuggestionsRequest{
				Experiment: experiment, Trials: trials,
				CurrentRequestNumber: int32(missing), TotalRequestNumber: int32(wanted(ended))}))
			if len(reply.ParameterAssignments) != missing {
				log.Fatal("The response contains unexpected trials")
			}
			suggested = append(suggested, reply.ParameterAssignments...)
		}
		if len(trials) < len(suggested) { // one at a time: others wait to be made
			trials = append(trials, &katib.Trial{Name: fmt.Sprintf("lr-%d", len(trials)),
				Spec: &katib.TrialSpec{Objective: experiment.Spec.Objective, Labels: map[string]string{},
					ParameterAssignments: &katib.TrialSpec_ParameterAssignments{
						Assignments: suggested[len(trials)].Assignments}},
				Status: &katib.TrialStatus{Condition: katib.TrialStatus_RUNNING}})
		}
		if len(trials)-ended < 2 && len(trials) < most {
			continue
		}
		trial, point := trials[ended], map[string]string{}
		for _, one := range trial.Spec.ParameterAssignments.Assignments {
			point[one.Name] = one.Value
		}
		reason, value := end(ended, point)
		trial.Status.Condition = katib.TrialStatus_SUCCEEDED
		trial.Status.Observation = &katib.Observation{Metrics: []*katib.Metric{
			{Name: "loss", Value: strconv.FormatFloat(value, 'g', -1, 64)}}}
		if reason != "" {
			trial.Status.Condition = katib.TrialStatus_FAILED
			trial.Status.Observation = &katib.Observation{}
			trial.Spec.Labels["frostline.io/failure-reason"] = reason
		}
		say(ended, point, reason, value)
		ended++
	}
}

// OptimizationJob: names are given before a call, and a call that was lost is repeated.
func runTrainer(address, another string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	first := trainer.NewSearchAlgorithmServiceClient(dial(address))
	second := trainer.NewSearchAlgorithmServiceClient(dial(another))
	float, whole := trainer.ParameterType_PARAMETER_TYPE_FLOAT, trainer.ParameterType_PARAMETER_TYPE_INT
	spec := &trainer.OptimizationSpec{
		Objectives: []*trainer.Objective{{Metric: "loss",
			Direction: trainer.ObjectiveDirection_OBJECTIVE_DIRECTION_MINIMIZE}},
		Parameters: []*trainer.Parameter{
			{Name: "--lr", SearchSpace: &trainer.SearchSpace{Space: &trainer.SearchSpace_LogUniform{
				LogUniform: &trainer.LogUniformSpace{Min: "0.00001", Max: "1e-1", Type: float}}}},
			{Name: "layers", SearchSpace: &trainer.SearchSpace{Space: &trainer.SearchSpace_Uniform{
				Uniform: &trainer.UniformSpace{Min: "1", Max: "7", Type: whole}}}},
			{Name: "batch", SearchSpace: &trainer.SearchSpace{Space: &trainer.SearchSpace_Categorical{
				Categorical: &trainer.CategoricalSpace{Choices: []string{"16", "32", "64"}}}}}}}
	valid := must(first.Validate(ctx, &trainer.ValidateRequest{Spec: spec}, grpc.WaitForReady(true)))
	if len(valid.Issues) > 0 {
		log.Fatal(valid.Issues)
	}
	var trials []*trainer.TrialRecord
	for ended := 0; ended < most; ended++ {
		var names []string
		for n := len(trials); n < wanted(ended); n++ {
			names = append(names, fmt.Sprintf("lr-%d", n))
		}
		if len(names) > 0 {
			ask := &trainer.SuggestRequest{Spec: spec, Trials: trials, TrialNames: names}
			reply := must(first.Suggest(ctx, ask))
			if !proto.Equal(reply, must(second.Suggest(ctx, ask, grpc.WaitForReady(true)))) {
				log.Fatal("the same request, and another answer")
			}
			if len(reply.Suggestions) != len(names) {
				log.Fatal("not one suggestion for each name")
			}
			for i, one := range reply.Suggestions {
				if one.TrialName != names[i] || len(one.Assignments) != len(spec.Parameters) {
					log.Fatal("a suggestion for something else: ", one)
				}
				trials = append(trials, &trainer.TrialRecord{Name: one.TrialName,
					Assignments: one.Assignments, State: trainer.TrialState_TRIAL_STATE_RUNNING})
			}
		}
		trial, point := trials[ended], map[string]string{}
		for _, one := range trial.Assignments {
			point[one.Name] = one.Value
		}
		reason, value := end(ended, point)
		trial.State = trainer.TrialState_TRIAL_STATE_SUCCEEDED
		trial.ObjectiveValues = []*trainer.ObjectiveValue{{Metric: "loss",
			Value: strconv.FormatFloat(value, 'g', -1, 64)}}
		if reason != "" {
			trial.State, trial.ObjectiveValues = trainer.TrialState_TRIAL_STATE_FAILED, nil
			trial.FailureReason = reason
		}
		say(ended, point, reason, value)
	}
}

func main() {
	if os.Args[1] == "katib" {
		runKatib(os.Args[2])
	} else {
		runTrainer(os.Args[2], os.Args[3])
	}
}
