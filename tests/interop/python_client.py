"""What scripts do with PyPI's `kubernetes`: says `pass NAME` or `FAIL NAME: why` of each thing. Its argument is a namespace."""
import datetime
import sys
import threading
import time
import traceback

from kubernetes import client, config, dynamic, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from kubernetes.stream import stream

NAMESPACE = sys.argv[1]
config.load_kube_config()
core, apps, batch = client.CoreV1Api(), client.AppsV1Api(), client.BatchV1Api()
LABELS = {'app': 'py'}


def eventually(ok, what):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if ok():
            return
        time.sleep(0.1)
    raise AssertionError('never saw that ' + what)


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=LABELS), data=data)


def namespace():
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))


def versions():
    assert client.VersionApi().get_code().minor == '37'
    assert 'apps' in [group.name for group in client.ApisApi().get_api_versions().groups]


def makes_lists_and_reads():
    made = core.create_namespaced_config_map(NAMESPACE, config_map('one', a='1'))
    assert isinstance(made.metadata.creation_timestamp, datetime.datetime)
    listed = core.list_namespaced_config_map(NAMESPACE, label_selector='app=py')
    assert [item.metadata.name for item in listed.items] == ['one'], listed
    assert core.read_namespaced_config_map('one', NAMESPACE).data == {'a': '1'}
    try:
        core.read_namespaced_config_map('none', NAMESPACE)
    except client.ApiException as error:
        assert error.status == 404 and error.reason == 'Not Found', error
        return
    raise AssertionError('found what is not there')


def patches():
    core.patch_namespaced_config_map('one', NAMESPACE, {'data': {'b': '2'}})
    got = core.patch_namespaced_config_map('one', NAMESPACE, [{'op': 'remove', 'path': '/data/a'}])
    assert got.data == {'b': '2'}, got.data


def watches():
    listed = core.list_namespaced_config_map(NAMESPACE)

    def change():
        time.sleep(0.5)
        core.create_namespaced_config_map(NAMESPACE, config_map('watched'))
        core.patch_namespaced_config_map('watched', NAMESPACE, {'data': {'x': 'y'}})
        core.delete_namespaced_config_map('watched', NAMESPACE)
    changer, seen = threading.Thread(target=change), []
    changer.start()
    watcher = watch.Watch()
    for event in watcher.stream(core.list_namespaced_config_map, NAMESPACE, timeout_seconds=20, label_selector='app=py',
                                resource_version=listed.metadata.resource_version):
        seen.append(event['type'])
        if event['type'] == 'DELETED':
            watcher.stop()
    changer.join()
    assert seen == ['ADDED', 'MODIFIED', 'DELETED'], seen


def applies():
    dynamics = dynamic.DynamicClient(client.ApiClient())
    maps = dynamics.resources.get(api_version='v1', kind='ConfigMap')
    body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'applied'}, 'data': {'a': '1'}}
    dynamics.server_side_apply(maps, body, namespace=NAMESPACE, field_manager='one')
    body['data']['a'] = '2'
    try:
        dynamics.server_side_apply(maps, body, namespace=NAMESPACE, field_manager='two')
        raise AssertionError('no conflict')
    except dynamic.exceptions.ConflictError as error:
        assert 'conflict with \\"one\\"' in str(error.body) or 'conflict with "one"' in str(error.body), error.body
    got = dynamics.server_side_apply(maps, body, namespace=NAMESPACE, field_manager='two', force_conflicts=True)
    assert got.data.a == '2', got


def dynamics():
    deployments = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version='apps/v1', kind='Deployment')
    assert deployments.namespaced and 'scale' in str(deployments.subresources), deployments.subresources
    deployments.create(namespace=NAMESPACE, body={'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'web'}, 'spec': {
        'replicas': 2, 'selector': {'matchLabels': LABELS}, 'template': {'metadata': {'labels': LABELS}, 'spec': {
            'terminationGracePeriodSeconds': 0, 'containers': [{'name': 'main', 'image': 'nginx'}]}}}})
    eventually(lambda: apps.read_namespaced_deployment('web', NAMESPACE).status.available_replicas == 2, 'two are available')
    apps.patch_namespaced_deployment_scale('web', NAMESPACE, {'spec': {'replicas': 0}})
    eventually(lambda: apps.read_namespaced_deployment_status('web', NAMESPACE).status.replicas is None, 'none are left')
    apps.delete_namespaced_deployment('web', NAMESPACE, propagation_policy='Foreground')


def leads():
    led = threading.Event()
    candidate = electionconfig.Config(LeaseLock('leader', NAMESPACE, 'me'), lease_duration=5, renew_deadline=4, retry_period=1,
                                      onstarted_leading=led.set, onstopped_leading=None)
    threading.Thread(target=leaderelection.LeaderElection(candidate).run, daemon=True).start()
    assert led.wait(10), 'does not lead'


def runs_a_job():
    batch.create_namespaced_job(NAMESPACE, {'metadata': {'name': 'job'}, 'spec': {'template': {'spec': {'restartPolicy': 'Never', 'containers': [
        {'name': 'main', 'image': 'busybox', 'command': ['echo', 'done here']}]}}}})
    eventually(lambda: batch.read_namespaced_job('job', NAMESPACE).status.succeeded == 1, 'the job succeeds')
    name = core.list_namespaced_pod(NAMESPACE, label_selector='job-name=job').items[0].metadata.name
    text = core.read_namespaced_pod_log(name, NAMESPACE)
    assert text == 'done here\n', text


def executes():
    core.create_namespaced_pod(NAMESPACE, {'metadata': {'name': 'shell'}, 'spec': {'terminationGracePeriodSeconds': 0, 'containers': [
        {'name': 'main', 'image': 'busybox', 'command': ['sleep', '1000']}]}})
    eventually(lambda: core.read_namespaced_pod('shell', NAMESPACE).status.phase == 'Running', 'the pod runs')
    inside = stream(core.connect_get_namespaced_pod_exec, 'shell', NAMESPACE, command=['sh', '-c', 'read x; echo got $x; echo oops >&2; exit 3'],
                    stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    inside.write_stdin('word\n')
    inside.run_forever(timeout=20)
    out, errors = inside.read_stdout(), inside.read_stderr()
    assert (out, errors, inside.returncode) == ('got word\n', 'oops\n', 3), (out, errors, inside.returncode)


def ends():
    core.delete_namespace(NAMESPACE)
    eventually(lambda: NAMESPACE not in [item.metadata.name for item in core.list_namespace().items], 'the namespace is gone')


for step in (namespace, versions, makes_lists_and_reads, patches, watches, applies, dynamics, leads, runs_a_job, executes, ends):
    name = step.__name__.replace('_', ' ')
    try:
        step()
        print('pass ' + name, flush=True)
    except Exception:    # one that fails is a result, and the others still count
        print('FAIL %s: %s' % (name, traceback.format_exc().strip().replace('\n', ' | ')[-900:]), flush=True)
print('done', flush=True)
