# The runtime, its spawner, its shims and the kubelet are killed at random moments while pods come and go: nothing of a
# pod that is gone may stay. C8S_SEED makes the same choices again, as far as the machine's own pace allows.
images/serve "$work" nginx busybox >/dev/null
kill -0 "${server_pid:-none}" 2>/dev/null || start_server # the part before may have ended it
# Pods of other parts would lose their sandboxes too, and get others.
k delete deployments,pods --all >/dev/null
until_says 60 "no pods are there" "No resources found" k get pods
until_says 60 "nor anything of theirs" "0" sh -c "ls '$work/data/kubelet/pods' | wc -l"
seed=${C8S_SEED:-$RANDOM}
RANDOM=$seed

# Whatever pods have on this machine, by name; cgroups only of pods that this part has seen, as they are the machine's.
belongings() {
    local data=$work/data uid
    grep -F "$data/" /proc/self/mounts | cut -d' ' -f2 | sed 's/^/mount /'
    ls "$data/run/netns" "$data/runtime/cni/networks/c8s" "$data/runtime/sandboxes" "$data/runtime/containers" \
        "$data/runtime/images/containers" "$data/kubelet/pods" 2>/dev/null | grep -E '^[0-9a-f.:-]+[0-9a-f]$'
    ip -o link | grep -o 'veth[0-9a-f]*' | sort -u
    find /sys/fs/cgroup -type d -name 'pod*' >"$work/cgroups"
    sort -u "$work/uids" | while read -r uid; do grep -F "pod$uid" "$work/cgroups"; done
    cat /proc/[0-9]*/comm 2>/dev/null | grep -xE 'c8s-(shim|pause|oci|cni)' | sort
    pgrep -f 'sleep 4711' | sed 's/^/process /'
}
note_pods() { ls "$work/data/kubelet/pods" >>"$work/uids"; }
one_of() { # one_of NAME: a random process of that name
    local all
    all=($(pgrep -x "$1"))
    [ ${#all[@]} -gt 0 ] && echo "${all[RANDOM % ${#all[@]}]}"
}

: >"$work/uids"
belongings >"$work/before"
k create -f - >/dev/null <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: churn}
spec:
  replicas: 6
  selector: {matchLabels: {app: churn}}
  template:
    metadata: {labels: {app: churn}}
    spec:
      terminationGracePeriodSeconds: 1
      volumes: [{name: memory, emptyDir: {medium: Memory}}]
      containers:
      - {name: main, image: busybox, command: [sleep, "4711"], volumeMounts: [{name: memory, mountPath: /memory}]}
      - {name: side, image: busybox, command: [sh, -c, "exec sleep 4711"]}
Y
end=$((SECONDS + 25)) killed=0
while [ "$SECONDS" -lt "$end" ]; do
    note_pods
    case $((RANDOM % 6)) in
    0) victim=$(pids_of cri | head -1) ;;
    1) victim=$(one_of c8s-spawner) ;;
    2) victim=$(pids_of kubelet | head -1) ;;
    *) victim=$(one_of c8s-shim) ;;
    esac
    [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
    sleep "0.$((RANDOM % 10))"
    k delete pod $(k get pods -l app=churn -o name 2>/dev/null | cut -d/ -f2 | shuf -n 2 --random-source=<(yes $RANDOM)) \
        --wait=false >/dev/null 2>&1
    note_pods
    sleep "0.$((RANDOM % 10))"
done
check "things were killed (seed $seed)" test "$killed" -gt 10
check "after that all pods get ready" k wait --for=condition=Available deployment/churn --timeout=60s
until_says 60 "six of six" "6/6" k get deployment churn
note_pods
belongings >"$work/during"
for belonging in "^mount " "^veth" "^/sys/fs/cgroup/" "^process " "^c8s-shim" "^c8s-pause" '^10\.' '^[0-9a-f]{64}$' '^.{8}-.{4}-'; do
    check "pods that run have their ${belonging//^/}" grep -qE "$belonging" "$work/during"
done
k delete deployment churn >/dev/null
until_says 60 "they go" "No resources found" k get pods -l app=churn
left() {
    belongings >"$work/after"
    comm -13 <(sort "$work/before") <(sort "$work/after") >"$work/left"
    [ -s "$work/left" ] || echo nothing is left
}
until_says 60 "of what was killed under way nothing is left (seed $seed)" "nothing is left" left
sed 's/^/left: /' "$work/left"
