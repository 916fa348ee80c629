// SPDX-License-Identifier: Apache-2.0

// Ask Flyte's own MPI plugin, inside of the manager that propeller puts around it: each request on standard input is a
// decimal length, a line end and as many bytes of JSON; each answer "ok" or "error", the length, a line end and the
// bytes. A request builds the job of a task template, or tells the phase of a job.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golang/protobuf/jsonpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flyteorg/flyte/flyteidl/gen/pb-go/flyteidl/core"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/logs"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/flytek8s/config"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/tasklog"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/plugins/k8s/kfoperators/common"
	_ "github.com/flyteorg/flyte/flyteplugins/go/tasks/plugins/k8s/kfoperators/mpi"
	stdconfig "github.com/flyteorg/flyte/flytestdlib/config"
	"github.com/flyteorg/flyte/flytestdlib/contextutils"
	"github.com/flyteorg/flyte/flytestdlib/logger"
	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
)

type resources struct {
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
}

// What one execution adds; the names are those of the file that `mpijob flyte render --execution` reads.
type execution struct {
	Name                 string                `json:"name"`
	Namespace            string                `json:"namespace"`
	Workflow             string                `json:"workflow"`
	Project              string                `json:"project"`
	Domain               string                `json:"domain"`
	ExecutionName        string                `json:"executionName"`
	Attempt              uint32                `json:"attempt"`
	NodeID               string                `json:"nodeId"`
	ConsoleURL           string                `json:"consoleUrl"`
	TaskProject          string                `json:"taskProject"`
	TaskDomain           string                `json:"taskDomain"`
	TaskName             string                `json:"taskName"`
	TaskVersion          string                `json:"taskVersion"`
	InputPath            string                `json:"inputPath"`
	InputPrefix          string                `json:"inputPrefix"`
	OutputPrefix         string                `json:"outputPrefix"`
	RawOutputPrefix      string                `json:"rawOutputPrefix"`
	CheckpointPrefix     string                `json:"checkpointPrefix"`
	PrevCheckpointPrefix string                `json:"previousCheckpointPrefix"`
	TaskTemplatePath     string                `json:"taskTemplatePath"`
	ServiceAccount       string                `json:"serviceAccount"`
	Image                string                `json:"image"`
	Interruptible        bool                  `json:"interruptible"`
	Labels               map[string]string     `json:"labels"`
	Annotations          map[string]string     `json:"annotations"`
	Environment          map[string]string     `json:"environment"`
	Inputs               map[string]string     `json:"inputs"`
	Resources            *resources            `json:"resources"`
	Platform             *resources            `json:"platformResources"`
	PodTemplate          json.RawMessage       `json:"podTemplate"`
	Extended             json.RawMessage       `json:"extendedResources"`
	Owner                metav1.OwnerReference `json:"owner"`
}

type template struct {
	Name string   `json:"name"`
	URIs []string `json:"uris"`
}

type request struct {
	Task      json.RawMessage    `json:"task"`
	Config    json.RawMessage    `json:"config"`
	Execution execution          `json:"execution"`
	Job       *kubeflowv1.MPIJob `json:"job"`
	Timeout   *int64             `json:"timeout"`
	Logs      []template         `json:"logs"`
}

type link struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
}

type phase struct {
	Phase   string `json:"phase"`
	Reason  string `json:"reason"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Kind    string `json:"kind"`
	Links   []link `json:"links"`
}

func configure(r *request) error {
	cfg := *config.GetK8sPluginConfig()
	given := map[string]json.RawMessage{}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &given); err != nil {
			return err
		}
	}
	if _, ok := given["default-annotations"]; ok {
		cfg.DefaultAnnotations = nil
	}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &cfg); err != nil {
			return err
		}
	}
	return config.SetK8sPluginConfig(&cfg)
}

func configureLogs(r *request) error {
	if r.Timeout != nil {
		set := common.Config{Timeout: stdconfig.Duration{Duration: time.Duration(*r.Timeout) * time.Second}}
		if err := common.SetConfig(&set); err != nil {
			return err
		}
	}
	if r.Logs == nil {
		return nil
	}
	cfg := logs.LogConfig{}
	for _, t := range r.Logs {
		cfg.Templates = append(cfg.Templates, tasklog.TemplateLogPlugin{DisplayName: t.Name, TemplateURIs: t.URIs})
	}
	return logs.SetLogConfig(&cfg)
}

func answer(r *request, m *managed) (any, error) {
	task := &core.TaskTemplate{}
	if err := jsonpb.Unmarshal(bytes.NewReader(r.Task), task); err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	if err := configure(r); err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	if err := configureLogs(r); err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	ctx := context.Background()
	if r.Execution.Workflow != "" {
		ctx = contextutils.WithWorkflowID(ctx, r.Execution.Workflow)
	}
	c, err := newTaskContext(task, &r.Execution)
	if err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	if r.Job == nil {
		return m.launch(ctx, c)
	}
	info, err := m.plugin.GetTaskPhase(ctx, c, r.Job)
	if err != nil {
		return nil, err
	}
	said := phase{Phase: info.Phase().String(), Reason: info.Reason()}
	if e := info.Err(); e != nil {
		said.Code, said.Message, said.Kind = e.GetCode(), e.GetMessage(), e.GetKind().String()
	}
	if info.Info() != nil {
		for _, l := range info.Info().Logs {
			said.Links = append(said.Links, link{l.GetName(), l.GetUri()})
		}
	}
	return said, nil
}

// A bug of the plugin that ends it is an answer too.
func safely(r *request, m *managed) (said any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return answer(r, m)
}

func serve(in *bufio.Reader, out *bufio.Writer, m *managed) error {
	defaults := *config.GetK8sPluginConfig()
	defaultLogs := *logs.GetLogConfig()
	defaultTimeout := *common.GetConfig()
	for {
		var size int
		if _, err := fmt.Fscanf(in, "%d\n", &size); err == io.EOF {
			return out.Flush()
		} else if err != nil {
			return err
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		fresh, freshLogs, freshTimeout := defaults, defaultLogs, defaultTimeout
		_ = config.SetK8sPluginConfig(&fresh)
		_ = logs.SetLogConfig(&freshLogs)
		_ = common.SetConfig(&freshTimeout)
		r := &request{}
		var said any
		err := json.Unmarshal(text, r)
		if err == nil {
			said, err = safely(r, m)
		}
		word, body := "ok", []byte(nil)
		if err == nil {
			body, err = json.Marshal(said)
		}
		if err != nil {
			word, body = "error", []byte(err.Error())
		}
		fmt.Fprintf(out, "%s %d\n%s", word, len(body), body)
	}
}

func main() {
	_ = logger.SetConfig(&logger.Config{Level: logger.PanicLevel, Mute: true})
	for _, entry := range pluginmachinery.PluginRegistry().GetK8sPlugins() {
		if entry.ID == common.MPITaskType {
			m, err := manage(entry)
			if err == nil {
				err = serve(bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout), m)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "the MPI plugin is not registered")
	os.Exit(1)
}
