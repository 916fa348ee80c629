// SPDX-License-Identifier: Apache-2.0

// The other half of bench/http/run: the same work by client-go, its limits raised, and the same line of JSON.
//
//	bench-client-go create KUBECONFIG NAMESPACE COUNT IN_FLIGHT POD
//	bench-client-go cache KUBECONFIG NAMESPACE
//
// With BENCH_WIRE=json in the environment it speaks JSON, as it must for MPIJobs; else protobuf, its default for pods.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func need(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func procKiB(path string, names ...string) (sum int64) {
	file, err := os.Open(path)
	need(err)
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		for _, name := range names {
			if rest, found := strings.CutPrefix(scanner.Text(), name+":"); found {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				need(err)
				sum += kib
			}
		}
	}
	return sum
}

func privateKiB() int64 { return procKiB("/proc/self/smaps_rollup", "Private_Dirty", "Private_Clean") }

func peakKiB() int64 {
	return procKiB("/proc/self/status", "VmHWM") - procKiB("/proc/self/status", "RssFile")
}

func sockets() (count int64) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:") {
			count++
		}
	}
	return count
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	need(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func connect(kubeconfig string) *kubernetes.Clientset {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	need(err)
	config.QPS, config.Burst = -1, 0
	if os.Getenv("BENCH_WIRE") == "json" {
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	need(err)
	return client
}

func create(client *kubernetes.Clientset, namespace string, count, inFlight int64, file string) {
	text, err := os.ReadFile(file)
	need(err)
	var pod corev1.Pod
	need(json.Unmarshal(text, &pod))
	prefix := strings.TrimSuffix(pod.Name, "NUMBER")
	var next, done, open atomic.Int64
	var group sync.WaitGroup
	wall, cpu := time.Now(), cpuTime()
	for range inFlight {
		group.Go(func() {
			for i := next.Add(1) - 1; i < count; i = next.Add(1) - 1 {
				mine := pod.DeepCopy()
				mine.Name = prefix + strconv.FormatInt(i, 10)
				_, err := client.CoreV1().Pods(namespace).Create(context.Background(), mine, metav1.CreateOptions{})
				need(err)
				if done.Add(1) == count/2 {
					open.Store(sockets())
				}
			}
		})
	}
	group.Wait()
	fmt.Printf("{\"wall\": %.1f, \"cpu\": %.1f, \"private\": %d, \"connections\": %d}\n", ms(time.Since(wall)),
		ms(cpuTime()-cpu), peakKiB(), open.Load())
}

func list(client *kubernetes.Clientset, namespace string) {
	_, err := client.CoreV1().Namespaces().Get(context.Background(), namespace, metav1.GetOptions{})
	need(err)
	var events atomic.Int64
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { events.Add(1) }})
	need(err)
	debug.FreeOSMemory()
	before := privateKiB()
	wall, cpu := time.Now(), cpuTime()
	stop := make(chan struct{})
	factory.Start(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	elapsed, used := time.Since(wall), cpuTime()-cpu
	cached := len(informer.GetStore().ListKeys())
	// What is garbage is not counted against the cache.
	runtime.GC()
	debug.FreeOSMemory()
	fmt.Printf("{\"wall\": %.1f, \"cpu\": %.1f, \"private\": %d, \"events\": %d, \"cached\": %d}\n", ms(elapsed), ms(used),
		privateKiB()-before, events.Load(), cached)
	close(stop)
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	need(err)
	return value
}

func main() {
	if len(os.Args) == 7 && os.Args[1] == "create" {
		create(connect(os.Args[2]), os.Args[3], number(os.Args[4]), number(os.Args[5]), os.Args[6])
	} else if len(os.Args) == 4 && os.Args[1] == "cache" {
		list(connect(os.Args[2]), os.Args[3])
	} else {
		log.Fatal("usage: bench-client-go create KUBECONFIG NAMESPACE COUNT IN_FLIGHT POD | cache KUBECONFIG NAMESPACE")
	}
}
