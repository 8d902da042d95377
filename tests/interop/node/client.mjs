// What programs do with npm's @kubernetes/client-node: says `pass NAME` or `FAIL NAME: why` of each thing. Its argument is a
// namespace.
import * as k8s from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const namespace = process.argv[2];
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const labels = { app: 'node' };

async function eventually(ok, what) {
    for (const end = Date.now() + 30000; Date.now() < end; await sleep(100)) {
        if (await ok()) {
            return;
        }
    }
    throw new Error(`never saw that ${what}`);
}

const map = (name, data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data });

const steps = {
    async 'a namespace'() {
        await core.createNamespace({ body: { metadata: { name: namespace } } });
    },
    async 'makes, lists and reads'() {
        const made = await core.createNamespacedConfigMap({ namespace, body: map('one', { a: '1' }) });
        assert(made.metadata.creationTimestamp instanceof Date);
        const list = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=node' });
        assert.deepEqual(list.items.map((item) => item.metadata.name), ['one']);
        await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'none' }), (error) => error.code === 404);
    },
    async 'watches'() {
        const seen = [];
        const { metadata } = await core.listNamespacedConfigMap({ namespace });
        const ended = new Promise((resolve) => {
            new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`,
                { labelSelector: 'app=node', resourceVersion: metadata.resourceVersion, timeoutSeconds: 20 },
                (type, object) => { seen.push(`${type} ${object.metadata.name}`); seen.length === 2 && resolve(); }, resolve);
        });
        await core.createNamespacedConfigMap({ namespace, body: map('watched') });
        await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
        await ended;
        assert.deepEqual(seen, ['ADDED watched', 'DELETED watched']);
    },
    async 'an informer follows'() {
        const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`,
            () => core.listNamespacedConfigMap({ namespace }));
        const names = new Set();
        informer.on('add', (object) => names.add(object.metadata.name));
        informer.on('delete', (object) => names.delete(object.metadata.name));
        await informer.start();
        await core.createNamespacedConfigMap({ namespace, body: map('informed') });
        await eventually(() => names.has('informed') && names.has('one'), 'it is added');
        await core.deleteNamespacedConfigMap({ namespace, name: 'informed' });
        await eventually(() => !names.has('informed'), 'it is deleted');
        await informer.stop();
    },
    async 'patches'() {
        const patched = await objects.patch(map('one', { b: '2' }), undefined, undefined, undefined, undefined,
            k8s.PatchStrategy.MergePatch);
        assert.deepEqual(patched.data, { a: '1', b: '2' });
    },
    async 'applies, and conflicts'() {
        const apply = (value, manager, force) => objects.patch(map('applied', { a: value }), undefined, undefined, manager, force,
            k8s.PatchStrategy.ServerSideApply);
        await apply('1', 'one', false);
        await assert.rejects(apply('2', 'two', false), (error) => error.code === 409 && String(error.body).includes('conflict with'));
        assert.equal((await apply('2', 'two', true)).data.a, '2');
    },
    async 'executes in a pod'() {
        await core.createNamespacedPod({ namespace, body: { metadata: { name: 'shell' }, spec: { terminationGracePeriodSeconds: 0,
            containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo started; exec sleep 1000'] }] } } });
        await eventually(async () => (await core.readNamespacedPod({ namespace, name: 'shell' })).status.phase === 'Running', 'it runs');
        const [out, errors, input] = [new PassThrough(), new PassThrough(), new PassThrough()];
        let [text, wrong] = ['', ''];
        out.on('data', (data) => { text += data; });
        errors.on('data', (data) => { wrong += data; });
        const status = await new Promise((resolve, reject) => {
            new k8s.Exec(config).exec(namespace, 'shell', 'main', ['sh', '-c', 'read x; echo got $x; echo oops >&2; exit 3'],
                out, errors, input, false, resolve).then(() => input.write('word\n'), reject);
        });
        assert.deepEqual([text, wrong, status.status, status.details.causes[0].message], ['got word\n', 'oops\n', 'Failure', '3']);
        assert.equal(await core.readNamespacedPodLog({ namespace, name: 'shell' }), 'started\n');
    },
    async 'the namespace ends'() {
        await core.deleteNamespace({ name: namespace });
        await eventually(async () => !(await core.listNamespace()).items.some((item) => item.metadata.name === namespace), 'it is gone');
    },
};

for (const [name, step] of Object.entries(steps)) {
    try {
        await step();
        console.log(`pass ${name}`);
    } catch (error) {    // one that fails is a result, and the others still count
        console.log(`FAIL ${name}: ${String(error.stack ?? error).replaceAll('\n', ' | ').slice(0, 900)}`);
    }
}
console.log('done');
process.exit();
