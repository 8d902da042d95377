# Stock kubectl, with everything it checks by itself on. s is it, in a namespace of its own.
s() { "$CACHE/bin/kubectl" "$@"; }
export -f s
s create namespace stock >/dev/null && s config set-context --current --namespace=stock >/dev/null
check "kubectl knows the server's version" sh -c '"$CACHE/bin/kubectl" version -o json | jq -e ".serverVersion.minor == \"37\""'
says "create" "configmap/made created" s create configmap made --from-literal=a=1
says "create --dry-run=server" "configmap/dry created (server dry run)" s create configmap dry --from-literal=a=1 --dry-run=server

cat >"$work/app.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {app: app}}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: nginx, image: nginx, ports: [{containerPort: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {selector: {app: app}, ports: [{port: 80}]}
Y
says "apply makes" "deployment.apps/app created" s apply -f "$work/app.yaml"
says "apply sees that nothing changed" "service/app unchanged" s apply -f "$work/app.yaml"
says "validation is strict" 'unknown field "spec.replica"' sh -c \
    'sed "s/replicas:/replica:/" "$0/app.yaml" | "$CACHE/bin/kubectl" apply --validate=strict -f -' "$work"
says "validation names wrong types" "cannot unmarshal string" sh -c \
    'sed "s/replicas: 1/replicas: many/" "$0/app.yaml" | "$CACHE/bin/kubectl" create --dry-run=server -f -' "$work"
check "diff is silent without changes" s diff -f "$work/app.yaml"
says "diff shows a change" "+  replicas: 2" sh -c 'sed "s/replicas: 1/replicas: 2/" "$0/app.yaml" | "$CACHE/bin/kubectl" diff -f -' "$work"
says "apply --server-side" "deployment.apps/app serverside-applied" s apply --server-side --force-conflicts -f "$work/app.yaml"
says "apply --server-side of another conflicts" 'conflict with "kubectl": .spec.replicas' sh -c \
    'sed "s/replicas: 1/replicas: 3/" "$0/app.yaml" | "$CACHE/bin/kubectl" apply --server-side --field-manager=other -f -' "$work"
says "rollout status waits" 'deployment "app" successfully rolled out' s rollout status deploy/app --timeout=60s
says "get" "1/1" s get deploy app
says "get -o wide" "nginx" s get deploy app -o wide
says "get -o jsonpath" "app=1" s get deploy app -o 'jsonpath={.metadata.name}={.status.readyReplicas}'
says "get -o custom-columns" "REPLICAS" s get deploy -o custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas
says "get all" "replicaset.apps/app-" s get all
says "get by label of all namespaces" "stock" s get pods -A -l app=app
says "get --raw" '"gitVersion"' s get --raw /version
says "describe deployment" "NewReplicaSet:" s describe deploy app
until_says 10 "describe pod" "Container started" s describe pod -l app=app
says "describe service" "Endpoints:" s describe svc app
says "describe node" "Non-terminated Pods:" s describe node e2e
says "label" "deployment.apps/app labeled" s label deploy app more=yes
says "annotate" "deployment.apps/app annotated" s annotate deploy app note=one
says "patch" "deployment.apps/app patched" s patch deploy app -p '{"spec":{"minReadySeconds":1}}'
says "patch --subresource=scale" "patched" s patch deploy app --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'
check "wait for a field" s wait --for=jsonpath='{.status.availableReplicas}'=2 deploy/app --timeout=60s
says "scale" "deployment.apps/app scaled" s scale deploy app --replicas=1
says "set env rolls out" "env updated" s set env deploy/app WORD=hello
says "rollout status of it" "successfully rolled out" s rollout status deploy/app --timeout=60s
says "rollout history" "2  " s rollout history deploy/app
says "rollout undo" "deployment.apps/app rolled back" s rollout undo deploy/app
says "rollout status of the undo" "successfully rolled out" s rollout status deploy/app --timeout=60s
says "rollout restart" "restarted" s rollout restart deploy/app

# a pod to be in
s run shell --image=busybox --restart=Never --command -- sh -c 'echo one; echo two; exec sleep 1000' >/dev/null
check "wait for a condition" s wait --for=condition=Ready pod/shell --timeout=60s
says "logs" "two" s logs shell
says "logs --tail --timestamps" "Z two" s logs shell --tail=1 --timestamps
says "exec" "hello there" s exec shell -- echo hello there
says "exec passes input on" "FROM HERE" sh -c 'echo from here | "$CACHE/bin/kubectl" exec -i shell -- tr a-z A-Z'
s exec shell -- sh -c 'exit 42' >/dev/null 2>&1
check "exec ends as the command does" test $? = 42
says "exec over SPDY" "by spdy" env KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false "$CACHE/bin/kubectl" exec shell -- echo by spdy
says "exec -it has a terminal" "33 101" script -qec \
    'stty rows 33 cols 101; "$CACHE/bin/kubectl" exec -it shell -- sh -c "sleep 0.5; stty size"' /dev/null
head -c 200000 /dev/urandom >"$work/sent"
check "cp to a pod" s cp "$work/sent" shell:/tmp/sent
check "cp from a pod" s cp shell:/tmp/sent "$work/back"
check "what was copied is the same" cmp "$work/sent" "$work/back"
for websockets in true false; do
    KUBECTL_PORT_FORWARD_WEBSOCKETS=$websockets "$CACHE/bin/kubectl" port-forward svc/app 18081:80 >"$work/forwarded" 2>&1 &
    forward=$!
    until_says 5 "port-forward listens (websockets=$websockets)" "Forwarding from 127.0.0.1:18081 -> 80" cat "$work/forwarded"
    says "nginx answers through it" "Welcome to nginx!" curl -sf -m 5 http://127.0.0.1:18081/
    kill $forward
    wait $forward 2>/dev/null
done
says "attach" "tick" timeout 20 "$CACHE/bin/kubectl" run ticker --image=busybox --restart=Never --attach --rm -- sh -c 'sleep 1; echo tick'
says "debug adds a container" "by debug" timeout 30 "$CACHE/bin/kubectl" debug shell --image=busybox --attach -- sh -c 'sleep 1; echo by debug'

# what it learns from the server
says "explain" "FIELD: replicas <integer>" s explain deployment.spec.replicas
says "explain --recursive" "terminationGracePeriodSeconds" s explain pod.spec --recursive
says "api-resources" "deployments" s api-resources --api-group=apps
says "api-versions" "networking.k8s.io/v1" s api-versions
says "auth can-i" "yes" s auth can-i create deployments
says "auth can-i as another" "no" s auth can-i delete nodes --as=jane
says "auth whoami" "system:masters" s auth whoami
says "create token" "eyJ" s create token default
says "create role and binding" "rolebinding.rbac.authorization.k8s.io/r created" sh -c \
    '"$CACHE/bin/kubectl" create role r --verb=get --resource=pods && "$CACHE/bin/kubectl" create rolebinding r --role=r --user=jane'
until_says 5 "which then lets in" "yes" s auth can-i get pods --as=jane
says "events" "Scheduled" s events --for pod/shell
says "cluster-info" "Kubernetes control plane" s cluster-info
says "taint" "tainted" s taint node e2e a=b:NoSchedule
says "untaint" "untainted" s taint node e2e a-
says "cordon" "cordoned" s cordon e2e
says "uncordon" "uncordoned" s uncordon e2e
says "autoscale" "autoscaled" s autoscale deploy app --max=3
says "expose" "service/other exposed" s expose deploy app --name=other
says "replace" "replaced" sh -c '"$CACHE/bin/kubectl" get cm made -o yaml | sed "s/a: \"1\"/a: \"2\"/" | "$CACHE/bin/kubectl" replace -f -'
says "edit" "edited" env KUBE_EDITOR="sed -i s/a:\ .2.$/a:\ edited/" "$CACHE/bin/kubectl" edit cm made
says "apply of a kustomization" "configmap/kustomized-" sh -c 'mkdir -p "$0/k" && cd "$0/k" &&
    printf "configMapGenerator: [{name: kustomized, literals: [a=b]}]\n" >kustomization.yaml && "$CACHE/bin/kubectl" apply -k .' "$work"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: one}}\n' kept >"$work/prune.yaml"
printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: one}}\n' pruned >>"$work/prune.yaml"
s apply -f "$work/prune.yaml" >/dev/null
says "apply --prune takes away" "configmap/pruned pruned" sh -c \
    'sed "/^---/,\$d" "$0/prune.yaml" | "$CACHE/bin/kubectl" apply --prune -l set=one --prune-allowlist=core/v1/ConfigMap -f -' "$work"
timeout 30 "$CACHE/bin/kubectl" get pods -w --output-watch-events >"$work/watched" 2>&1 &
watcher=$!
sleep 1
says "delete waits" 'pod "shell" deleted' s delete pod shell --grace-period=1
kill $watcher 2>/dev/null
says "get -w saw it go" "DELETED" cat "$work/watched"
says "drain" "drained" timeout 60 "$CACHE/bin/kubectl" drain e2e --ignore-daemonsets --force --delete-emptydir-data
s uncordon e2e >/dev/null
says "delete of what a file says" 'deployment.apps "app" deleted' s delete -f "$work/app.yaml"
says "delete namespace" 'namespace "stock" deleted' timeout 60 "$CACHE/bin/kubectl" delete namespace stock
s config set-context --current --namespace=default >/dev/null
