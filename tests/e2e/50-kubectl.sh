# What a person does with a running workload, by c8s kubectl.
if [ -z "${server_pid:-}" ]; then
    images/serve "$work" nginx busybox >/dev/null
    start_server
fi
k create -f - >/dev/null <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: shell, labels: {app: shell}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: busybox
    command: [sh, -c, "i=0; while true; do i=$((i+1)); echo line $i; sleep 0.2; done"]
  - {name: other, image: busybox, stdin: true, command: [sh, -c, "echo the other; read word; echo got $word; exec sleep 1000"]}
Y
check "kubectl wait: a pod gets ready" k wait --for=condition=Ready pod/shell --timeout=30s

# exec
says "exec runs a command" "hello there" k exec shell -c main -- echo hello there
says "exec tells which container it chose" 'Defaulted container "main" out of: main, other' k exec shell -- true
k exec shell -c main -- sh -c 'exit 42' >/dev/null 2>&1
check "exec ends as the command does" test $? = 42
says "exec passes input on, and its end" "FROM HERE" sh -c 'echo from here | "$C8S" kubectl exec -i shell -c main -- tr a-z A-Z'
check "exec passes much through unchanged" sh -c \
    'head -c 3000000 /dev/urandom >"$0/much"; "$C8S" kubectl exec -i shell -c main -- cat <"$0/much" | cmp - "$0/much"' "$work"
says "exec keeps errors apart" "only this" sh -c '"$C8S" kubectl exec shell -c main -- sh -c "echo noise; echo only this >&2" 2>&1 >/dev/null'
says "exec -it has a terminal of our size" "33 101" script -qec \
    'stty rows 33 cols 101; "$C8S" kubectl exec -it shell -c main -- sh -c "sleep 0.5; stty size"' /dev/null
says "exec -it passes keys on" "typed: abc" sh -c \
    '(sleep 1; echo abc; sleep 1) | script -qec "\"$C8S\" kubectl exec -it shell -c main -- sh -c \"read x; echo typed: \\\$x\"" /dev/null'
says "exec names a container that is not there" "container none is not valid for pod shell" k exec shell -c none -- true
says "exec names a command that is not there" "no-such-command" k exec shell -c main -- no-such-command

# attach
says "attach passes input on" "got word" sh -c '(sleep 1; echo word; sleep 1) | timeout 5 "$C8S" kubectl attach -i shell -c other'

# logs
says "logs" "line 1" k logs shell -c main
check "logs --tail" test "$(k logs shell -c main --tail=2 | wc -l)" = 2
check "logs --since" test "$(k logs shell -c main --since=1s | wc -l)" -lt 10
says "logs --timestamps" "T" k logs shell -c other --timestamps
says "logs --prefix --all-containers" "[pod/shell/other] the other" k logs shell --all-containers --prefix
check "logs -f goes on" sh -c 'timeout 2 "$C8S" kubectl logs -f --tail=1 shell -c main >"$0/follow"; [ "$(wc -l <"$0/follow")" -gt 4 ]' "$work"
says "logs of a label" "the other" k logs -l app=shell -c other

# apply, scale, rollout
cat >"$work/web.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: nginx, image: nginx, ports: [{containerPort: 80}]}]
Y
says "apply makes" "deployment.apps/web created" k apply -f "$work/web.yaml"
says "apply sees that nothing changed" "deployment.apps/web unchanged" k apply -f "$work/web.yaml"
check "diff of what is there says nothing" k diff -f "$work/web.yaml"
sed 's/replicas: 1/replicas: 3/' "$work/web.yaml" >"$work/web3.yaml"
says "diff shows what apply would change" "+  replicas: 3" k diff -f "$work/web3.yaml"
k diff -f "$work/web3.yaml" >/dev/null 2>&1
check "and ends with 1" test $? = 1
says "set env" "deployment.apps/web env updated" k set env deploy/web COLOR=blue
says "set env --list" "COLOR=blue" k set env deploy/web --list
says "rollout status waits" 'deployment "web" successfully rolled out' k rollout status deploy/web --timeout=30s
says "scale" "deployment.apps/web scaled" k scale deploy web --replicas=2
check "two become available" k wait --for=jsonpath='{.status.availableReplicas}'=2 deploy/web --timeout=30s
says "set image" "deployment.apps/web image updated" k set image deploy/web nginx=docker.io/library/nginx:latest
says "the new pods roll out" "successfully rolled out" k rollout status deploy/web --timeout=60s
says "history knows two revisions" "2  " k rollout history deploy/web
says "undo goes back" "deployment.apps/web rolled back" k rollout undo deploy/web
says "and rolls out" "successfully rolled out" k rollout status deploy/web --timeout=60s
says "the old image is back" "nginx" k get deploy web -o 'jsonpath={.spec.template.spec.containers[0].image}'
says "expose" "service/web exposed" k expose deploy web
"$C8S" kubectl port-forward svc/web 18080:80 >"$work/forwarded" 2>&1 &
forward=$!
until_says 5 "port-forward listens" "Forwarding from 127.0.0.1:18080 -> 80" cat "$work/forwarded"
for _ in 1 2 3; do
    says "nginx answers through it" "Welcome to nginx!" curl -sf -m 5 http://127.0.0.1:18080/
done
kill $forward
"$C8S" kubectl port-forward deploy/web :81 >"$work/forwarded" 2>&1 &
forward=$!
until_says 5 "port-forward picks a port" "-> 81" cat "$work/forwarded"
curl -s -m 5 "http://$(sed -n 's/^Forwarding from \(127[^ ]*\) .*/\1/p' "$work/forwarded")/" >/dev/null
until_says 5 "and says when nobody answers in the pod" "connection refused" cat "$work/forwarded"
kill $forward
says "describe deployment" "NewReplicaSet:" k describe deploy web
says "describe replicaset" "2 Running / 0 Waiting" k describe rs -l app=web
says "describe node" "Non-terminated Pods:" k describe node e2e

# watching and deleting
timeout 20 "$C8S" kubectl get pods -l app=shell -w >"$work/watched" 2>&1 &
watcher=$!
sleep 1
says "delete waits until the pod is gone" 'pod "shell" deleted from default namespace' k delete pod shell
says "then it is gone" 'pods "shell" not found' k get pod shell
kill $watcher 2>/dev/null
says "get -w showed the end" "Terminating" cat "$work/watched"
says "delete --force" "force deleted" k delete pod -l app=web --force
says "delete takes what apply made" 'deployment.apps "web" deleted' k delete -f "$work/web.yaml"
k delete svc web >/dev/null
check "nothing is left" sh -c 'for i in $(seq 50); do [ -z "$("$C8S" kubectl get pods -l app=web -o name)" ] && exit; sleep 0.2; done; exit 1'
