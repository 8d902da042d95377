# A pod whose RuntimeClass asks for Debian's runc.
if [ -z "${server_pid:-}" ]; then
    images/serve "$work" nginx busybox >/dev/null
    start_server
fi
k create -f - >/dev/null <<'Y'
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: stock}
handler: runc
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: missing}
handler: nobody
---
apiVersion: v1
kind: Pod
metadata: {name: by-runc}
spec:
  runtimeClassName: stock
  terminationGracePeriodSeconds: 5
  containers:
  - name: main
    image: busybox
    command: [sh, -c, "trap 'exit 0' TERM; echo said by $HOSTNAME; touch /started; while :; do sleep 0.1; done"]
    readinessProbe: {exec: {command: [test, -e, /started]}, periodSeconds: 1}
    resources: {limits: {memory: 64Mi}}
---
apiVersion: v1
kind: Pod
metadata: {name: by-nobody}
spec:
  runtimeClassName: missing
  containers: [{name: main, image: busybox, command: [sleep, "1000"]}]
Y
check "a pod made by runc gets ready" k wait --for=condition=Ready pod/by-runc --timeout=30s
says "its log" "said by by-runc" k logs by-runc
says "runc made it" "state.json" find "$work/data" -path '*/oci/*' -name state.json
says "exec in it" "67108864" k exec by-runc -- sh -c 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null'
id=$(k get pod by-runc -o 'jsonpath={.status.containerStatuses[0].containerID}')
kill -9 $(pids_of cri) $(pids_of kubelet)
until_says 20 "exec after the runtime was killed" "alive" k exec by-runc -- echo alive
check "it is the same container" test "$id" = "$(k get pod by-runc -o 'jsonpath={.status.containerStatuses[0].containerID}')"
kill -9 "$(pgrep -x c8s-oci)"
until_says 30 "a container that ends is made again" "1" k get pod by-runc -o 'jsonpath={.status.containerStatuses[0].restartCount}'
check "and gets ready again" k wait --for=condition=Ready pod/by-runc --timeout=30s
until_says 20 "a handler that is not there is told of" 'no runtime for "nobody" is configured' \
    k get events --field-selector involvedObject.name=by-nobody
k delete pod by-runc by-nobody >/dev/null 2>&1
check "they go" test -z "$(k get pods by-runc by-nobody --ignore-not-found)"
check "nothing of runc's is left" test -z "$(find "$work/data" -path '*/oci/*' -name state.json; pgrep -x c8s-oci)"
k delete runtimeclass stock missing >/dev/null
