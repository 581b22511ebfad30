// SPDX-License-Identifier: Apache-2.0

// keda ADDRESS CA CERT KEY [KEY=VALUE ...]: asks an external scaler as KEDA 2.20
// does for a trigger external-push of a ScaledJob, in its order of calls and on its
// one connection, written from what KEDA's client is seen to do.
//
// Beside the calls of KEDA 2.20 there is StreamMetricSpec, which later ones ask.
//
// A line "poll" on standard input is one poll: GetMetricSpec, then for the metric
// GetMetrics and IsActive. Beside it StreamIsActive and StreamMetricSpec are held,
// and opened again as KEDA does, with a pause that doubles. Everything that is
// heard is a line of JSON.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "example.com/client/externalscaler"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// KEDA's are 2 s and 60 s.
const firstPause, longestPause = 200 * time.Millisecond, 6 * time.Second

const trigger = 0 // KEDA puts "s0-" before the names of the first trigger's metrics

type heard map[string]any

var printing sync.Mutex

func say(what heard) {
	printing.Lock()
	defer printing.Unlock()
	line, err := json.Marshal(what)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func sayError(where string, err error) {
	say(heard{where: status.Code(err).String(), "message": status.Convert(err).Message()})
}

// connections counts those that were ever made.
type connections struct{ made atomic.Int64 }

func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c *connections) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *connections) HandleConn(_ context.Context, event stats.ConnStats) {
	if _, begins := event.(*stats.ConnBegin); begins {
		c.made.Add(1)
	}
}

func read(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	return text
}

func dial(address, ca, cert, key string, made *connections) *grpc.ClientConn {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(read(ca))
	if cert != "-" {
		pair, err := tls.X509KeyPair(read(cert), read(key))
		if err != nil {
			log.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	connection, err := grpc.NewClient(address, grpc.WithStatsHandler(made),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin":{}}]}`),
		grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		log.Fatal(err)
	}
	return connection
}

// poll is what KEDA does every pollingInterval.
func poll(ctx context.Context, scaler pb.ExternalScalerClient, object *pb.ScaledObjectRef, made *connections) {
	specs, err := scaler.GetMetricSpec(ctx, object)
	if err != nil {
		sayError("poll", err)
		return
	}
	for _, spec := range specs.MetricSpecs {
		target := float64(spec.TargetSize)
		if spec.TargetSizeFloat > 0 {
			target = spec.TargetSizeFloat
		}
		known := fmt.Sprintf("s%d-%s", trigger, spec.MetricName)
		asked := &pb.GetMetricsRequest{ScaledObjectRef: object,
			MetricName: strings.TrimPrefix(known, fmt.Sprintf("s%d-", trigger))}
		metrics, err := scaler.GetMetrics(ctx, asked)
		if err != nil {
			sayError("poll", err)
			return
		}
		for _, metric := range metrics.MetricValues {
			activity, err := scaler.IsActive(ctx, object)
			if err != nil {
				sayError("poll", err)
				return
			}
			say(heard{"poll": "OK", "metric": known, "target": target,
				"value": metric.MetricValue, "float": metric.MetricValueFloat,
				"active": activity.Result, "connections": made.made.Load()})
		}
	}
}

// hold opens a stream again and again, as KEDA does: a pause that doubles with each
// try, and is short again after a clean end.
func hold(where string, once func() error) {
	for pause := firstPause; ; pause = min(pause*2, longestPause) {
		err := once()
		if errors.Is(err, io.EOF) {
			pause = firstPause
			say(heard{where: "EOF"})
		} else {
			sayError(where, err)
		}
		if where == "specs" && status.Code(err) == codes.Unimplemented {
			return
		}
		time.Sleep(pause)
	}
}

func min(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

func main() {
	made := &connections{}
	connection := dial(os.Args[1], os.Args[2], os.Args[3], os.Args[4], made)
	scaler := pb.NewExternalScalerClient(connection)
	object := &pb.ScaledObjectRef{Name: "frostline-worker", Namespace: "frostline",
		ScalerMetadata: map[string]string{"scalerAddress": os.Args[1]}}
	for _, entry := range os.Args[5:] {
		key, value, _ := strings.Cut(entry, "=")
		object.ScalerMetadata[key] = value
	}
	ctx := context.Background()
	go hold("specs", func() error {
		// KEDA 2.20 does not ask this yet, so it has no stub.
		method := "/externalscaler.ExternalScaler/StreamMetricSpec"
		stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
		if err == nil {
			err = stream.SendMsg(object)
		}
		if err == nil {
			err = stream.RecvMsg(&pb.GetMetricSpecResponse{})
		}
		return err
	})
	go hold("stream", func() error {
		stream, err := scaler.StreamIsActive(ctx, object)
		for err == nil {
			var news *pb.IsActiveResponse
			if news, err = stream.Recv(); err == nil {
				say(heard{"stream": news.Result})
			}
		}
		return err
	})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		poll(ctx, scaler, object, made)
	}
}
