# Static pods: from a directory of the node, shown by the API.
if [ -z "${server_pid:-}" ]; then
    images/serve "$work" nginx busybox >/dev/null
else
    kill "$server_pid"
    wait "$server_pid" 2>/dev/null
fi
mkdir -p "$work/manifests"
manifest() { # manifest TEXT
    cat >"$work/manifests/.new" <<Y
apiVersion: v1
kind: Pod
metadata: {name: fixed, labels: {kind: static}}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: busybox, command: [sh, -c, "echo $1; exec sleep 1000"]}]
Y
    mv "$work/manifests/.new" "$work/manifests/fixed.yaml"
}
manifest one
start_server "--kubelet-arg=pod-manifest-path=$work/manifests" --kubelet-arg=file-check-frequency=1s
until_says 20 "a static pod is shown" "fixed-e2e   1/1     Running" k get pod fixed-e2e
says "and its log" "one" k logs fixed-e2e
says "and whose it is" "Node" k get pod fixed-e2e -o 'jsonpath={.metadata.ownerReferences[0].kind}'
uid=$(k get pod fixed-e2e -o 'jsonpath={.metadata.uid}')
k delete pod fixed-e2e >/dev/null 2>&1
until_says 20 "it comes back when it is deleted" "Running" k get pod fixed-e2e
check "as a new picture" test "$uid" != "$(k get pod fixed-e2e -o 'jsonpath={.metadata.uid}')"
manifest two
until_says 30 "a changed manifest is a new pod" "two" k logs fixed-e2e
rm "$work/manifests/fixed.yaml"
until_says 30 "without the manifest it goes" "not found" k get pod fixed-e2e
kill "$server_pid"
wait "$server_pid" 2>/dev/null
start_server
