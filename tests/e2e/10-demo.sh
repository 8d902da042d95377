# The main job: three real nginx pods, and how they came to be.
images/serve "$work" nginx busybox >/dev/null
printf 'right,admin,admin-uid,"system:masters"\n' >"$work/passwords.csv"
chmod 644 "$work/passwords.csv"
start_server --kube-apiserver-arg=basic-auth-file="$work/passwords.csv"
says "kubectl run makes a Deployment" "deployment.apps/nginx created" k run nginx --image=nginx --replicas=3
check "all three pods get ready" k wait --for=condition=Available deployment/nginx --timeout=60s
until_says 10 "three of three" "3/3" k get deployment nginx
ips=$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.podIP}')
check "each has an address of its own" test "$(printf '%s\n' $ips | sort -u | wc -l)" = 3
for ip in $ips; do
    says "nginx answers at $ip" "Welcome to nginx!" curl -sf -m 5 "http://$ip/"
done
pod=$(k get pods -l run=nginx -o 'jsonpath={.items[0].metadata.name}')

trace=$("$C8S" trace "pod/$pod")
check "the trace has 46 steps" test "$(grep -cE '^ +[0-9]+  ' <<<"$trace")" = 46
check "each of them was recorded" test -z "$(grep 'not recorded' <<<"$trace")"
[ -z "$(grep 'not recorded' <<<"$trace")" ] || grep 'not recorded' <<<"$trace"
steps=$("$C8S" trace "pod/$pod" -o json | jq '[.steps[] | select(.outcome == "ok")] | length')
check "most of them were done, not skipped" test "${steps:-0}" -ge 40

for component in apiserver controller-manager scheduler; do
    says "$component is not root and in a seccomp box" "6443 1 2" awk \
        '/^Uid:/ {uid = $2} /^NoNewPrivs:/ {alone = $2} /^Seccomp:/ {print uid, alone, $2}' "/proc/$(pids_of $component)/status"
done
says "logs show the request" "GET / HTTP/1.1" k logs "$pod"
says "describe tells the events" "Successfully assigned default/$pod to e2e" k describe pod "$pod"
