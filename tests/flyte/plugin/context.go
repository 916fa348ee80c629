// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/golang/protobuf/jsonpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flyteorg/flyte/flyteidl/gen/pb-go/flyteidl/core"
	plugins "github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/core"
	pluginio "github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/io"
	"github.com/flyteorg/flyte/flytestdlib/storage"
)

// What the plugin asks of propeller, answered from one request. A question that is not foreseen here ends in a panic,
// which is then the answer.
type taskContext struct {
	plugins.TaskExecutionContext
	task      *core.TaskTemplate
	execution *execution
	pod       *core.K8SPod
	extended  *core.ExtendedResources
}

func newTaskContext(task *core.TaskTemplate, e *execution) (*taskContext, error) {
	c := &taskContext{task: task, execution: e}
	if given(e.PodTemplate) {
		c.pod = &core.K8SPod{}
		if err := jsonpb.Unmarshal(bytes.NewReader(e.PodTemplate), c.pod); err != nil {
			return nil, err
		}
	}
	if given(e.Extended) {
		c.extended = &core.ExtendedResources{}
		if err := jsonpb.Unmarshal(bytes.NewReader(e.Extended), c.extended); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func given(text json.RawMessage) bool {
	return len(text) > 0 && string(text) != "null"
}

func (c *taskContext) TaskReader() plugins.TaskReader                       { return reader{c} }
func (c *taskContext) InputReader() pluginio.InputReader                    { return inputs{c} }
func (c *taskContext) OutputWriter() pluginio.OutputWriter                  { return outputs{nil, c.execution} }
func (c *taskContext) TaskExecutionMetadata() plugins.TaskExecutionMetadata { return metadata{nil, c} }
func (c *taskContext) PluginStateReader() plugins.PluginStateReader         { return state{} }
func (c *taskContext) PluginStateWriter() plugins.PluginStateWriter         { return forgetful{} }

type state struct{ plugins.PluginStateReader }

func (state) Get(any) (uint8, error) { return 0, nil }

type forgetful struct{ plugins.PluginStateWriter }

func (forgetful) Put(uint8, any) error { return nil }

type reader struct{ c *taskContext }

func (r reader) Read(context.Context) (*core.TaskTemplate, error) { return r.c.task, nil }
func (r reader) Path(context.Context) (storage.DataReference, error) {
	return storage.DataReference(r.c.execution.TaskTemplatePath), nil
}

type inputs struct{ c *taskContext }

func (i inputs) GetInputPrefixPath() storage.DataReference {
	return storage.DataReference(i.c.execution.InputPrefix)
}

func (i inputs) GetInputPath() storage.DataReference {
	return storage.DataReference(i.c.execution.InputPath)
}

func (i inputs) Get(context.Context) (*core.LiteralMap, error) {
	if i.c.execution.Inputs == nil {
		return nil, nil
	}
	literals := map[string]*core.Literal{}
	for name, value := range i.c.execution.Inputs {
		primitive := &core.Primitive{Value: &core.Primitive_StringValue{StringValue: value}}
		scalar := &core.Scalar{Value: &core.Scalar_Primitive{Primitive: primitive}}
		literals[name] = &core.Literal{Value: &core.Literal_Scalar{Scalar: scalar}}
	}
	return &core.LiteralMap{Literals: literals}, nil
}

type outputs struct {
	pluginio.OutputWriter
	e *execution
}

func (o outputs) GetOutputPrefixPath() storage.DataReference {
	return storage.DataReference(o.e.OutputPrefix)
}

func (o outputs) GetRawOutputPrefix() storage.DataReference {
	return storage.DataReference(o.e.RawOutputPrefix)
}

func (o outputs) GetCheckpointPrefix() storage.DataReference {
	return storage.DataReference(o.e.CheckpointPrefix)
}

func (o outputs) GetPreviousCheckpointsPrefix() storage.DataReference {
	return storage.DataReference(o.e.PrevCheckpointPrefix)
}

type metadata struct {
	plugins.TaskExecutionMetadata
	c *taskContext
}

func (m metadata) GetTaskExecutionID() plugins.TaskExecutionID { return identity{nil, m.c.execution} }
func (m metadata) GetNamespace() string                        { return m.c.execution.Namespace }
func (m metadata) GetOverrides() plugins.TaskOverrides         { return overrides{m.c} }
func (m metadata) GetLabels() map[string]string                { return m.c.execution.Labels }
func (m metadata) GetAnnotations() map[string]string           { return m.c.execution.Annotations }
func (m metadata) GetK8sServiceAccount() string                { return m.c.execution.ServiceAccount }
func (m metadata) GetSecurityContext() core.SecurityContext    { return core.SecurityContext{} }
func (m metadata) IsInterruptible() bool                       { return m.c.execution.Interruptible }
func (m metadata) GetEnvironmentVariables() map[string]string  { return m.c.execution.Environment }
func (m metadata) GetConsoleURL() string                       { return m.c.execution.ConsoleURL }
func (m metadata) GetOwnerReference() metav1.OwnerReference    { return m.c.execution.Owner }

func (m metadata) GetPlatformResources() *corev1.ResourceRequirements {
	return requirements(m.c.execution.Platform)
}

func requirements(r *resources) *corev1.ResourceRequirements {
	if r == nil {
		return &corev1.ResourceRequirements{}
	}
	return &corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
}

type overrides struct{ c *taskContext }

func (o overrides) GetResources() *corev1.ResourceRequirements {
	return requirements(o.c.execution.Resources)
}
func (o overrides) GetExtendedResources() *core.ExtendedResources { return o.c.extended }
func (o overrides) GetContainerImage() string                     { return o.c.execution.Image }
func (o overrides) GetPodTemplate() *core.K8SPod                  { return o.c.pod }
func (o overrides) GetConfig() *corev1.ConfigMap                  { return nil }

type identity struct {
	plugins.TaskExecutionID
	e *execution
}

func (i identity) GetGeneratedName() string { return i.e.Name }
func (i identity) GetUniqueNodeID() string  { return i.e.NodeID }

func (i identity) GetID() core.TaskExecutionIdentifier {
	id := core.TaskExecutionIdentifier{RetryAttempt: i.e.Attempt}
	if i.e.TaskName != "" {
		id.TaskId = &core.Identifier{Project: i.e.TaskProject, Domain: i.e.TaskDomain, Name: i.e.TaskName,
			Version: i.e.TaskVersion}
	}
	if i.e.ExecutionName != "" {
		id.NodeExecutionId = &core.NodeExecutionIdentifier{NodeId: i.e.NodeID,
			ExecutionId: &core.WorkflowExecutionIdentifier{Project: i.e.Project, Domain: i.e.Domain, Name: i.e.ExecutionName}}
	}
	return id
}
