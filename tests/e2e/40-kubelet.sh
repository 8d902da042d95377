# What the kubelet makes of a pod's spec: volumes, environment, order of containers, probes, hooks, restarts, endings.
if [ -z "${server_pid:-}" ]; then
    images/serve "$work" nginx busybox >/dev/null
    start_server
fi
mkdir -p "$work/host"
k create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Secret
metadata: {name: creds}
stringData: {user: admin, pass: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, file: "line one\n"}
Y
k create -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: full, labels: {app: full}, annotations: {note: hello}}
spec:
  terminationGracePeriodSeconds: 5
  hostname: named
  subdomain: sub
  hostAliases: [{ip: 10.9.8.7, hostnames: [alias.example]}]
  securityContext: {fsGroup: 1234}
  initContainers:
  - {name: first, image: busybox, command: [sh, -c, "echo first > /work/order"], volumeMounts: [{name: work, mountPath: /work}]}
  - {name: side, image: busybox, restartPolicy: Always, command: [sh, -c, "echo side >> /work/order; touch /work/up; trap 'exit 0' TERM; while true; do sleep 0.1; done"],
     startupProbe: {exec: {command: [cat, /work/up]}, periodSeconds: 1}, volumeMounts: [{name: work, mountPath: /work}]}
  - {name: second, image: busybox, command: [sh, -c, "echo second >> /work/order"], volumeMounts: [{name: work, mountPath: /work}]}
  containers:
  - name: main
    image: busybox
    command: [sh, -c]
    args:
    - |
      echo main >> /work/order
      echo "order: \$(cat /work/order | tr '\n' ' ')"
      echo "secret: \$(cat /creds/user)/\$(cat /creds/pass) env \$USER_NAME"
      echo "config: \$(cat /settings/file) \$COLOR \$ALL_color $(echo '$(COLOR)')-expanded"
      echo "labels: \$(cat /down/labels) cpu \$CPU_LIMIT memory \$MEMORY"
      echo "projected: \$(cat /all/user) \$(cat /all/deep/color) \$(cat /all/name) token \$(wc -c < /all/token | tr -d ' ')"
      echo "account: \$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace)"
      echo "sub: \$(cat /one-file)"
      echo "names: \$(hostname) \$(grep -c alias.example /etc/hosts) \$(grep -c 'named.sub' /etc/hosts)"
      echo "dns: \$(grep nameserver /etc/resolv.conf) \$(grep search /etc/resolv.conf)"
      echo "ids: \$(id -u) \$(id -G)"
      echo "ram: \$(df -k /ram | awk 'NR==2 {print \$1, \$2}')"
      echo "from the pod" > /host/written
      trap 'echo bye; exit 0' TERM
      while true; do sleep 0.1; done
    env:
    - {name: USER_NAME, valueFrom: {secretKeyRef: {name: creds, key: user}}}
    - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}
    - {name: CPU_LIMIT, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1Mi}}}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    envFrom: [{configMapRef: {name: settings}, prefix: ALL_}]
    resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {cpu: 250m, memory: 64Mi}}
    lifecycle:
      postStart: {exec: {command: [sh, -c, "echo started > /work/hook"]}}
      preStop: {exec: {command: [sh, -c, "echo stopping > /host/stopping"]}}
    readinessProbe: {exec: {command: [cat, /work/hook]}, periodSeconds: 1}
    livenessProbe: {exec: {command: [test, '!', -e, /work/sick]}, periodSeconds: 1, failureThreshold: 1}
    volumeMounts:
    - {name: work, mountPath: /work}
    - {name: creds, mountPath: /creds, readOnly: true}
    - {name: settings, mountPath: /settings}
    - {name: settings, mountPath: /one-file, subPath: color}
    - {name: down, mountPath: /down}
    - {name: all, mountPath: /all}
    - {name: ram, mountPath: /ram}
    - {name: host, mountPath: /host}
  volumes:
  - {name: work, emptyDir: {}}
  - {name: ram, emptyDir: {medium: Memory, sizeLimit: 8Mi}}
  - {name: creds, secret: {secretName: creds, defaultMode: 0440}}
  - {name: settings, configMap: {name: settings}}
  - {name: host, hostPath: {path: $work/host, type: Directory}}
  - {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - name: all
    projected:
      sources:
      - {secret: {name: creds, items: [{key: user, path: user}]}}
      - {configMap: {name: settings, items: [{key: color, path: deep/color}]}}
      - {downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}
      - {serviceAccountToken: {path: token, expirationSeconds: 600}}
Y
check "a pod with everything gets ready" k wait --for=condition=Ready pod/full --timeout=30s
until_says 10 "the container says all it has to" "ram: " k logs full -c main
log=$(k logs full -c main)
has() { if [[ $log == *"$2"* ]]; then pass "$1"; else fail "$1" "wanted: $2" "got: $log"; fi; }
has "init containers, sidecars and containers start in order" "order: first side second main"
has "secrets are files and variables" "secret: admin/hunter2 env admin"
has "config maps are files and variables, which expand" "config: line one blue blue blue-expanded"
has "the downward API tells labels and limits" 'labels: app="full" cpu 250 memory 32'
has "volumes are projected together" "projected: admin blue full token "
has "the service account is mounted" "account: default"
has "a sub path is mounted" "sub: blue"
has "names are in /etc/hosts" "names: named 1 1"
has "DNS is the cluster's" "dns: nameserver 10.43.0.10 search default.svc.cluster.local svc.cluster.local cluster.local"
has "the group of volumes is the process's" "ids: 0 0 1234"
has "memory is a file system of its size" "ram: tmpfs 8192"
check "a host path is the machine's" test "$(cat "$work/host/written")" = "from the pod"
uid=$(k get pod full -o 'jsonpath={.metadata.uid}')
says "its class is told" "Burstable" k get pod full -o 'jsonpath={.status.qosClass}'
limit() { cat /sys/fs/cgroup/memory/kubepods/burstable/pod$uid/memory.limit_in_bytes \
    /sys/fs/cgroup/kubepods/burstable/pod$uid/memory.max 2>/dev/null; }
shares() { cat /sys/fs/cgroup/cpu/kubepods/burstable/pod$uid/cpu.shares \
    /sys/fs/cgroup/kubepods/burstable/pod$uid/cpu.weight 2>/dev/null; }
check "its cgroup has shares by its requests" test -n "$(shares)"

k patch configmap settings --type merge -p '{"data":{"color":"green"}}' >/dev/null 2>&1 ||
    k replace -f - >/dev/null 2>&1 <<'Y'
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"default"},
 "data":{"color":"green","file":"line one\n"}}
Y
data="$work/data/kubelet/pods/$uid/volumes/kubernetes.io~configmap/settings/color"
if [ "$(k get configmap settings -o 'jsonpath={.data.color}')" = green ]; then
    until_says 10 "a changed config map changes its volume" green cat "$data"
fi
# The liveness probe finds this file of the emptyDir.
touch "$work/data/kubelet/pods/$uid/volumes/kubernetes.io~empty-dir/work/sick"
until_says 15 "a failing liveness probe is told" "Liveness probe failed" k describe pod full
until_says 15 "and the container is killed for it" "Container main failed liveness probe, will be restarted" \
    k describe pod full
rm -f "$work/data/kubelet/pods/$uid/volumes/kubernetes.io~empty-dir/work/sick"
until_says 30 "and started again" "restarts: 1" k get pod full -o 'jsonpath=restarts: {.status.containerStatuses[0].restartCount}'
check "it gets ready again" k wait --for=condition=Ready pod/full --timeout=30s
rm -f "$work/host/stopping"
k delete pod full >/dev/null
until_says 20 "a deleted pod goes" "not found" k get pod full
check "its preStop hook ran" test "$(cat "$work/host/stopping" 2>/dev/null)" = stopping
check "its directory is gone" test ! -e "$work/data/kubelet/pods/$uid"
check "its cgroup is gone" test -z "$(limit)$(shares)"
check "what it wrote on the machine stays" test -s "$work/host/written"

# Endings.
k create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: done}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo result > /dev/termination-log; exit 0"]}
---
apiVersion: v1
kind: Pod
metadata: {name: broken}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo last words; exit 7"], terminationMessagePolicy: FallbackToLogsOnError}
---
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo once more; exit 1"]}
---
apiVersion: v1
kind: Pod
metadata: {name: late}
spec:
  activeDeadlineSeconds: 3
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: busybox, command: [sleep, "1000"]}
---
apiVersion: v1
kind: Pod
metadata: {name: unset}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: busybox, command: [sleep, "1000"], env: [{name: X, valueFrom: {secretKeyRef: {name: nope, key: x}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: unmounted}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: busybox, command: [sleep, "1000"]}
  volumes: [{name: v, configMap: {name: nope}}]
Y
until_says 20 "a pod that is done has succeeded" "Succeeded" k get pod done -o 'jsonpath={.status.phase}'
says "with its message" "result" k get pod done -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}'
until_says 20 "a pod that failed has failed" "Failed" k get pod broken -o 'jsonpath={.status.phase}'
says "with its code" "7" k get pod broken -o 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}'
says "and its last words" "last words" k get pod broken -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}'
says "its log can still be read" "last words" k logs broken
until_says 30 "a crashing pod is held back" "CrashLoopBackOff" k get pod crashing
until_says 10 "and that is told" "Back-off restarting failed container main in pod crashing_default" k describe pod crashing
says "the log of the last try can be read" "once more" k logs crashing
until_says 20 "a pod past its deadline has failed" "DeadlineExceeded" k get pod late -o 'jsonpath={.status.reason}'
until_says 20 "a missing secret is told" 'secret "nope" not found' k describe pod unset
says "and is a container's state" "CreateContainerConfigError" k get pod unset
until_says 20 "a missing config map is told" 'MountVolume.SetUp failed for volume "v" : configmap "nope" not found' \
    k describe pod unmounted
k create secret generic nope --from-literal=x=y >/dev/null 2>&1 || k create -f - >/dev/null <<'Y'
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"nope"},"stringData":{"x":"y"}}
Y
check "the pod starts when the secret is there" k wait --for=condition=Ready pod/unset --timeout=30s
k delete pod done broken crashing late unset unmounted >/dev/null
until_says 45 "all are gone" "No resources found" k get pods --field-selector=metadata.name!=nginx -l '!run'
