# Nothing above the shims touches running containers; and a dead server comes back to all it had.
before=$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.containerStatuses[*].containerID}')
for component in cri kubelet apiserver controller-manager scheduler; do
    kill -9 $(pids_of "$component")
done
until_says 20 "the server answers again" "Running" k get pods
sleep 3
check "the same containers run" test "$before" = \
    "$(k get pods -l run=nginx -o 'jsonpath={.items[*].status.containerStatuses[*].containerID}')"
ip=$(k get pods -l run=nginx -o 'jsonpath={.items[0].status.podIP}')
says "and answer" "Welcome to nginx!" curl -sf -m 5 "http://$ip/"
until_says 20 "a deployment can be scaled" "deployment.apps/nginx scaled" k scale deployment nginx --replicas=4
until_says 30 "and gets its pod" "4/4" k get deployment nginx

kill -9 $server_pid $(pids_of cri) $(pids_of kubelet) $(pids_of apiserver) $(pids_of controller-manager) \
    $(pids_of scheduler) 2>/dev/null
wait $server_pid 2>/dev/null
says "containers outlive the server" "Welcome to nginx!" curl -sf -m 5 "http://$ip/"
start_server --kube-apiserver-arg=basic-auth-file="$work/passwords.csv"
until_says 20 "the new one finds them" "4/4" k get deployment nginx
check "still the same" test -n "$(k get pods -o 'jsonpath={.items[*].status.containerStatuses[*].containerID}' |
    grep -F "$(printf '%s' "$before" | cut -d' ' -f1)")"
