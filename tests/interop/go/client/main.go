// A program such as operators are: it talks to the cluster by client-go alone, and says of each thing whether it worked,
// as `pass NAME` or `FAIL NAME`. The namespace it works in is its argument.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/retry"
)

func report(name string, err error) {
	if err == nil {
		fmt.Println("pass " + name)
		return
	}
	fmt.Printf("FAIL %s: %v\n", name, err)
}

func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// eventually asks again and again, for as long as a busy machine may need.
func eventually(ok func() bool, what string) error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return nil
		}
	}
	return fmt.Errorf("never saw that %s", what)
}

type program struct {
	ctx       context.Context
	config    *rest.Config
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	config.QPS, config.Burst = 200, 400
	p := &program{ctx, config, kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config), os.Args[1]}
	_, err = p.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}, metav1.CreateOptions{})
	report("a namespace", err)
	report("discovery finds the groups", p.discovery())
	report("a REST mapper maps kinds", p.mapping())
	report("informers follow what changes", p.informers())
	report("a filtered informer sees what matches only", p.filtered())
	report("a watch goes on at a version, with bookmarks", p.watches())
	report("lists come in pages", p.pages())
	report("patches of three kinds", p.patches())
	report("apply configurations own fields, and conflict", p.applies())
	report("updates conflict, and are tried again", p.conflicts())
	report("the dynamic client makes, lists, watches and deletes", p.dynamics())
	report("metadata of anything", p.metadataOnly())
	report("one of two is leader, then the other", p.leaders())
	report("events are recorded, and counted up", p.events())
	report("the scale of a deployment", p.scale())
	report("protobuf in both directions", p.protobuf())
	report("a pod runs", p.pod())
	report("exec over WebSocket", p.exec(true))
	report("exec over SPDY", p.exec(false))
	report("logs stream", p.logs())
	report("the pod is deleted", p.client.CoreV1().Pods(p.namespace).Delete(ctx, "shell", *metav1.NewDeleteOptions(0)))
	report("deletecollection", p.client.CoreV1().ConfigMaps(p.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	report("the namespace ends", p.end())
	fmt.Println("done")
}

func (p *program) discovery() error {
	client := discovery.NewDiscoveryClientForConfigOrDie(p.config)
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	groups, resources, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	if _, err = client.OpenAPISchema(); err != nil {
		return fmt.Errorf("OpenAPI v2: %w", err)
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return fmt.Errorf("OpenAPI v3: %w", err)
	}
	for name, path := range paths {
		if _, err = path.Schema("application/json"); err != nil {
			return fmt.Errorf("OpenAPI v3 of %s: %w", name, err)
		}
	}
	return want(version.Minor == "37" && len(groups) > 20 && len(resources) > 20 && len(paths) > 20,
		"version %v, %d groups, %d versions, %d OpenAPI paths", version, len(groups), len(resources), len(paths))
}

func (p *program) mapping() error {
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(p.config))
	if err != nil {
		return err
	}
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	return want(mapping.Resource.Resource == "deployments" && mapping.Scope.Name() == "namespace", "%v", mapping)
}

func (p *program) configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace, Labels: labels}, Data: map[string]string{"a": "1"}}
}

func (p *program) informers() error {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(p.namespace))
	informer := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int32
	informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if object.(*corev1.ConfigMap).Labels["i"] == "yes" {
				added.Add(1)
			}
		},
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	for kind, ok := range factory.WaitForCacheSync(stop) {
		if !ok {
			return fmt.Errorf("%v does not sync", kind)
		}
	}
	maps := p.client.CoreV1().ConfigMaps(p.namespace)
	for i := range 20 {
		made, err := maps.Create(p.ctx, p.configMap(fmt.Sprintf("informed-%d", i), map[string]string{"i": "yes"}), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Data["a"] = "2"
		if _, err = maps.Update(p.ctx, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if i%2 == 0 {
			if err = maps.Delete(p.ctx, made.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	err := eventually(func() bool { return deleted.Load() == 10 && updated.Load() >= 20 }, "twenty change and ten are deleted")
	if err != nil {
		return err
	}
	listed, err := informer.Lister().ConfigMaps(p.namespace).List(labels.SelectorFromSet(labels.Set{"i": "yes"}))
	if err != nil {
		return err
	}
	return want(len(listed) == 10 && added.Load() == 20 && updated.Load() == 20,
		"%d in cache, %d added, %d updated", len(listed), added.Load(), updated.Load())
}

func (p *program) filtered() error {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "in=yes" }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	maps := p.client.CoreV1().ConfigMaps(p.namespace)
	made, err := maps.Create(p.ctx, p.configMap("filtered", map[string]string{"in": "yes"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err = eventually(func() bool { return len(informer.GetStore().List()) == 1 }, "it comes in"); err != nil {
		return err
	}
	made.Labels["in"] = "no"
	if _, err = maps.Update(p.ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return eventually(func() bool { return len(informer.GetStore().List()) == 0 }, "it goes out")
}

func (p *program) watches() error {
	maps := p.client.CoreV1().ConfigMaps(p.namespace)
	list, err := maps.List(p.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Create(p.ctx, p.configMap("watched", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(p.ctx, "watched", metav1.DeleteOptions{}); err != nil {
		return err
	}
	watcher, err := maps.Watch(p.ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for _, kind := range []watch.EventType{watch.Added, watch.Deleted} {
		select {
		case event := <-watcher.ResultChan():
			if event.Type != kind || event.Object.(*corev1.ConfigMap).Name != "watched" {
				return fmt.Errorf("want %s, got %v", kind, event)
			}
		case <-time.After(10 * time.Second):
			return fmt.Errorf("no %s", kind)
		}
	}
	yes := true
	initial, err := maps.Watch(p.ctx, metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		return fmt.Errorf("streaming list: %w", err)
	}
	defer initial.Stop()
	for {
		select {
		case event := <-initial.ResultChan():
			if event.Type == watch.Bookmark {
				marked := event.Object.(*corev1.ConfigMap).Annotations[metav1.InitialEventsAnnotationKey]
				return want(marked == "true", "a bookmark without %s", metav1.InitialEventsAnnotationKey)
			}
		case <-time.After(10 * time.Second):
			return fmt.Errorf("a streaming list does not end")
		}
	}
}

func (p *program) pages() error {
	maps, seen, options := p.client.CoreV1().ConfigMaps(p.namespace), map[string]bool{}, metav1.ListOptions{Limit: 3}
	for {
		list, err := maps.List(p.ctx, options)
		if err != nil {
			return err
		}
		for _, item := range list.Items {
			if seen[item.Name] {
				return fmt.Errorf("%s comes twice", item.Name)
			}
			seen[item.Name] = true
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return want(len(seen) >= 11, "%d seen", len(seen))
		}
	}
}

func (p *program) patches() error {
	maps := p.client.CoreV1().ConfigMaps(p.namespace)
	if _, err := maps.Create(p.ctx, p.configMap("patched", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	var last *corev1.ConfigMap
	for _, one := range []struct {
		kind types.PatchType
		text string
	}{
		{types.MergePatchType, `{"data":{"b":"2"}}`},
		{types.StrategicMergePatchType, `{"data":{"c":"3","a":null}}`},
		{types.JSONPatchType, `[{"op":"test","path":"/data/b","value":"2"},{"op":"copy","from":"/data/b","path":"/data/d"}]`},
	} {
		var err error
		if last, err = maps.Patch(p.ctx, "patched", one.kind, []byte(one.text), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", one.kind, err)
		}
	}
	got := fmt.Sprint(last.Data)
	return want(got == "map[b:2 c:3 d:2]", "%s", got)
}

func deployment(namespace string, replicas int32) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "applied"}
	return appsapply.Deployment("applied", namespace).WithSpec(appsapply.DeploymentSpec().WithReplicas(replicas).
		WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().
			WithContainers(coreapply.Container().WithName("main").WithImage("nginx")))))
}

func (p *program) applies() error {
	deployments := p.client.AppsV1().Deployments(p.namespace)
	if _, err := deployments.Apply(p.ctx, deployment(p.namespace, 0), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := deployments.Apply(p.ctx, deployment(p.namespace, 1), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .spec.replicas`) {
		return fmt.Errorf("want a conflict about replicas, got %v", err)
	}
	made, err := deployments.Apply(p.ctx, deployment(p.namespace, 0), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	extracted, err := appsapply.ExtractDeployment(made, "one")
	if err != nil {
		return err
	}
	return want(extracted.Spec != nil && *extracted.Spec.Template.Spec.Containers[0].Name == "main", "extracted %v", extracted)
}

func (p *program) conflicts() error {
	maps := p.client.CoreV1().ConfigMaps(p.namespace)
	old, err := maps.Get(p.ctx, "patched", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Patch(p.ctx, "patched", types.MergePatchType, []byte(`{"data":{"e":"5"}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if _, err = maps.Update(p.ctx, old, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("want a conflict, got %v", err)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := maps.Get(p.ctx, "patched", metav1.GetOptions{})
		if err != nil {
			return err
		}
		fresh.Data["f"] = "6"
		_, err = maps.Update(p.ctx, fresh, metav1.UpdateOptions{})
		return err
	})
}

func (p *program) dynamics() error {
	client := p.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(p.namespace)
	watcher, err := client.Watch(p.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "dynamic"}, "stringData": map[string]any{"a": "b"}}}
	if _, err = client.Create(p.ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	list, err := client.List(p.ctx, metav1.ListOptions{FieldSelector: "metadata.name=dynamic"})
	if err != nil || len(list.Items) != 1 {
		return fmt.Errorf("list: %v, %v", list, err)
	}
	if value, _, _ := unstructured.NestedString(list.Items[0].Object, "data", "a"); value != "Yg==" {
		return fmt.Errorf("data is %q", value)
	}
	if event := <-watcher.ResultChan(); event.Type != watch.Added {
		return fmt.Errorf("watch: %v", event)
	}
	return client.Delete(p.ctx, "dynamic", metav1.DeleteOptions{})
}

func (p *program) metadataOnly() error {
	client := metadata.NewForConfigOrDie(p.config)
	list, err := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).
		Namespace(p.namespace).List(p.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	return want(len(list.Items) == 1 && list.Items[0].Name == "applied", "%v", list.Items)
}

func (p *program) leaders() error {
	var leads [2]atomic.Bool
	elect := func(ctx context.Context, who int) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: p.namespace},
				Client: p.client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("candidate-%d", who)}},
			ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads[who].Store(true) },
				OnStoppedLeading: func() { leads[who].Store(false) },
			},
		})
	}
	first, stopFirst := context.WithCancel(p.ctx)
	second, stopSecond := context.WithCancel(p.ctx)
	defer stopSecond()
	go elect(first, 0)
	err := eventually(leads[0].Load, "the first leads")
	go elect(second, 1)
	time.Sleep(time.Second)
	both := leads[1].Load()
	stopFirst()
	if err != nil {
		return err
	}
	if both {
		return fmt.Errorf("two lead at once")
	}
	return eventually(leads[1].Load, "the second leads")
}

func (p *program) events() error {
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedSink{p})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "interop"})
	about, err := p.client.AppsV1().Deployments(p.namespace).Get(p.ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Tested", "said three times")
	}
	return eventually(func() bool {
		list, err := p.client.CoreV1().Events(p.namespace).List(p.ctx, metav1.ListOptions{FieldSelector: "reason=Tested,involvedObject.name=applied"})
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 3
	}, "one event counts three")
}

// typedSink writes events as components of Kubernetes do.
type typedSink struct{ p *program }

func (s *typedSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.p.client.CoreV1().Events(s.p.namespace).CreateWithEventNamespaceWithContext(s.p.ctx, event)
}

func (s *typedSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.p.client.CoreV1().Events(s.p.namespace).UpdateWithEventNamespaceWithContext(s.p.ctx, event)
}

func (s *typedSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return s.p.client.CoreV1().Events(s.p.namespace).PatchWithEventNamespaceWithContext(s.p.ctx, event, data)
}

func (p *program) scale() error {
	deployments := p.client.AppsV1().Deployments(p.namespace)
	scale, err := deployments.GetScale(p.ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = 1
	if _, err = deployments.UpdateScale(p.ctx, "applied", scale, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = eventually(func() bool {
		got, err := deployments.Get(p.ctx, "applied", metav1.GetOptions{})
		return err == nil && got.Status.AvailableReplicas == 1
	}, "a replica is available"); err != nil {
		return err
	}
	foreground := metav1.DeletePropagationForeground
	if err = deployments.Delete(p.ctx, "applied", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	return eventually(func() bool {
		var got *appsv1.Deployment
		got, err = deployments.Get(p.ctx, "applied", metav1.GetOptions{})
		return apierrors.IsNotFound(err) && got != nil
	}, "the deployment goes, after what it owns")
}

// protobuf is what components of Kubernetes speak with the server.
func (p *program) protobuf() error {
	config := rest.CopyConfig(p.config)
	config.AcceptContentTypes, config.ContentType = "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	made, err := client.CoreV1().ConfigMaps(p.namespace).Create(p.ctx, p.configMap("proto", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return want(made.Data["a"] == "1", "%v", made.Data)
}

func (p *program) pod() error {
	zero := int64(0)
	_, err := p.client.CoreV1().Pods(p.namespace).Create(p.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shell"},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &zero, Containers: []corev1.Container{{Name: "main", Image: "busybox",
			Command: []string{"sh", "-c", "echo started; exec sleep 1000"}}}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return eventually(func() bool {
		pod, err := p.client.CoreV1().Pods(p.namespace).Get(p.ctx, "shell", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	}, "the pod runs")
}

func (p *program) exec(websocket bool) error {
	request := p.client.CoreV1().RESTClient().Post().Namespace(p.namespace).Resource("pods").Name("shell").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"sh", "-c", "cat; echo on stderr >&2; exit 7"}, Stdin: true, Stdout: true, Stderr: true},
			scheme.ParameterCodec)
	var executor remotecommand.Executor
	var err error
	if websocket {
		executor, err = remotecommand.NewWebSocketExecutor(p.config, "GET", request.URL().String())
	} else {
		executor, err = remotecommand.NewSPDYExecutor(p.config, "POST", request.URL())
	}
	if err != nil {
		return err
	}
	input := strings.Repeat("0123456789abcdef", 1<<14)
	var out, errs bytes.Buffer
	err = executor.StreamWithContext(p.ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs})
	var code interface{ ExitStatus() int }
	if err == nil || !asExit(err, &code) || code.ExitStatus() != 7 {
		return fmt.Errorf("want exit 7, got %v", err)
	}
	return want(out.String() == input && errs.String() == "on stderr\n", "%d bytes of %d came back, stderr %q", out.Len(), len(input), errs.String())
}

func asExit(err error, code *interface{ ExitStatus() int }) bool {
	found, ok := err.(interface{ ExitStatus() int })
	*code = found
	return ok
}

func (p *program) logs() error {
	text, err := p.client.CoreV1().Pods(p.namespace).GetLogs("shell", &corev1.PodLogOptions{}).DoRaw(p.ctx)
	if err != nil {
		return err
	}
	return want(string(text) == "started\n", "%q", text)
}

func (p *program) end() error {
	if err := p.client.CoreV1().Namespaces().Delete(p.ctx, p.namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(func() bool {
		_, err := p.client.CoreV1().Namespaces().Get(p.ctx, p.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, "the namespace is gone")
}
