// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	plugins "github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/core"
	"github.com/flyteorg/flyte/flyteplugins/go/tasks/pluginmachinery/k8s"
	"github.com/flyteorg/flyte/flytepropeller/pkg/controller/executors/mocks"
	manager "github.com/flyteorg/flyte/flytepropeller/pkg/controller/nodes/task/k8s"
	"github.com/flyteorg/flyte/flytestdlib/contextutils"
	"github.com/flyteorg/flyte/flytestdlib/promutils"
	"github.com/flyteorg/flyte/flytestdlib/promutils/labeled"
)

// A cluster that keeps what it is told to create.
type catcher struct {
	client.Client
	made client.Object
}

func (c *catcher) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	c.made = object
	return nil
}

func (c *catcher) GetClient() client.Client { return c }
func (c *catcher) GetCache() cache.Cache    { return &mocks.FakeInformers{} }

// What propeller tells a plugin at its start.
type setup struct {
	plugins.SetupContext
	cluster *catcher
}

func (s setup) KubeClient() plugins.KubeClient { return s.cluster }
func (s setup) OwnerKind() string              { return "FlyteWorkflow" }
func (s setup) MetricsScope() promutils.Scope  { return promutils.NewTestScope() }
func (s setup) EnqueueOwner() plugins.EnqueueOwner {
	return func(types.NamespacedName) error { return nil }
}

// Flyte's plugin inside of the manager that propeller puts around it.
type managed struct {
	plugin  k8s.Plugin
	manager *manager.PluginManager
	cluster *catcher
}

func manage(entry k8s.PluginEntry) (*managed, error) {
	labeled.SetMetricKeys(contextutils.NamespaceKey)
	cluster := &catcher{}
	m, err := manager.NewPluginManager(context.Background(), setup{nil, cluster}, entry, manager.NewResourceMonitorIndex(), nil)
	return &managed{entry.Plugin, m, cluster}, err
}

// The object that would be created.
func (m *managed) launch(ctx context.Context, c *taskContext) (any, error) {
	m.cluster.made = nil
	done, err := m.manager.Handle(ctx, c)
	if err != nil {
		return nil, err
	}
	if e := done.Info().Err(); e != nil {
		return nil, errors.New(e.GetMessage())
	}
	return m.cluster.made, nil
}
