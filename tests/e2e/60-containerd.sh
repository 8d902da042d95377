# The same with Debian's containerd in the place of c8s' own runtime: the kubelet speaks CRI and nothing else.
if [ -n "${server_pid:-}" ]; then
    "$C8S" stop --data-dir "$work/data" >/dev/null 2>&1
    check "nothing stays mounted after c8s stop" test -z "$(grep -F "$work/data/" /proc/self/mounts)"
fi
images/serve "$work" nginx >/dev/null
mkdir -p "$work/ctr/cni" "$work/ctr/bin"
for plugin in bridge host-local portmap loopback; do
    ln -sf "$(realpath "$C8S")" "$work/ctr/bin/$plugin"
done
cat >"$work/ctr/cni/10-pods.conflist" <<J
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
 {"type": "bridge", "bridge": "ctr0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
  "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.44.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}],
           "dataDir": "$work/ctr/ipam"}},
 {"type": "portmap", "capabilities": {"portMappings": true}}]}
J
cat >"$work/ctr/config.toml" <<T
version = 2
root = "$work/ctr/root"
state = "$work/ctr/state"
[grpc]
  address = "$work/ctr/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$work/ctr/bin"
    conf_dir = "$work/ctr/cni"
  [plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]
    endpoint = ["$(cat "$work/registry.url")"]
T
containerd -c "$work/ctr/config.toml" >"$work/ctr/log" 2>&1 &
containerd_pid=$!
for _ in $(seq 100); do [ -S "$work/ctr/containerd.sock" ] && break; sleep 0.1; done
ctr -a "$work/ctr/containerd.sock" -n k8s.io images import build/images/pause.tar >/dev/null 2>&1

start_ctr_server() {
    setsid "$C8S" server --data-dir "$work/ctr/data" --https-listen-port 0 --write-kubeconfig "$KUBECONFIG" \
        --node-name ctr --disable runtime "--kubelet-arg=container-runtime-endpoint=unix://$work/ctr/containerd.sock" \
        "--kubelet-arg=pod-logs-dir=$work/ctr/logs" </dev/null >>"$work/ctr/server.log" 2>&1 &
    server_pid=$!
    until_says 30 "the node on containerd gets Ready$1" "ctr    Ready" k get nodes
}
start_ctr_server ""
says "the node says what runs it" "containerd://" k get node ctr -o 'jsonpath={.status.nodeInfo.containerRuntimeVersion}'
k run nginx --image=nginx --replicas=3 >/dev/null
check "three pods get ready on containerd" k wait --for=condition=Available deployment/nginx --timeout=60s
until_says 20 "three of three on containerd" "3/3" k get deployment nginx
ips=$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.podIP}')
for ip in $ips; do
    says "nginx answers at $ip on containerd" "Welcome to nginx!" curl -sf -m 5 "http://$ip/"
done
pod=$(k get pods -l run=nginx -o 'jsonpath={.items[0].metadata.name}')
says "logs come through containerd" "GET / HTTP/1.1" k logs "$pod"
before=$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.containerStatuses[*].containerID}')
kill -9 $(pids_of kubelet)
sleep 2
check "the same containers run on containerd" test "$before" = \
    "$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.containerStatuses[*].containerID}')"
k delete deployment nginx >/dev/null
until_says 30 "pods are gone from the API" "No resources found" k get pods
left() { echo "left: $(ctr -a "$work/ctr/containerd.sock" -n k8s.io containers ls -q | wc -l)"; }
until_says 10 "and from containerd" "left: 0" left
check "no directory of a pod is left" test -z "$(ls "$work/ctr/data/kubelet/pods")"
kill "$server_pid"
wait "$server_pid" 2>/dev/null
kill "$containerd_pid"
wait "$containerd_pid" 2>/dev/null
