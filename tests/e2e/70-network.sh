# Pods reach each other, their host, and the outside of their host's ports; and Debian's CNI plugins in our own's place.
images/serve "$work" nginx busybox >/dev/null
kill -0 "$server_pid" 2>/dev/null || start_server # the part before may have ended it
k create -f - >/dev/null <<'Y'
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web"}},"spec":{"containers":[{"name":"main",
 "image":"nginx","ports":[{"containerPort":80,"hostPort":8080}]}]}}
Y
k run client --image=busybox -- sleep 100000 >/dev/null
check "both pods get ready" k wait --for=condition=Ready pod/web pod/client --timeout=60s
web=$(k get pod web -o 'jsonpath={.status.podIP}')
client=$(k get pod client -o 'jsonpath={.status.podIP}')
# (Debian's static busybox has a wget that crashes, so nc it is.)
says "a pod reaches a pod" "Welcome to nginx!" k exec client -- sh -c \
    "printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 5 $web 80"
says "a pod reaches itself by its own address" "to myself" k exec client -- sh -c \
    "echo to myself | nc -l -p 7777 & sleep 0.3; nc -w 5 $client 7777 </dev/null"
says "a pod reaches itself by its host's port" "Welcome to nginx!" k exec client -- sh -c \
    "printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 5 10.42.0.1 8080"
says "a host port leads to the pod" "Welcome to nginx!" curl -sf -m 5 http://127.0.0.1:8080/
says "the pod's interface is eth0" "inet $client" k exec client -- ip addr show eth0
says "a pod's default route is the bridge" "default via 10.42.0.1" k exec client -- ip route
k delete pod web client --grace-period=0 --force >/dev/null 2>&1
until_says 15 "the host port is given back" "Failed to connect" curl -sS -m 2 http://127.0.0.1:8080/
check "no interface of a deleted pod stays" bash -c \
    "for i in \$(seq 50); do [ \$(ip -o link show type veth | wc -l) = \$('$C8S' kubectl get pods -A --no-headers | wc -l) ] && exit; sleep 0.2; done; exit 1"

# The same with plugins that are not ours.
"$C8S" stop --data-dir "$work/data" >/dev/null
wait $server_pid 2>/dev/null
mkdir -p "$work/net.d"
cat >"$work/net.d/10-bridge.conflist" <<'Y'
{"cniVersion":"1.0.0","name":"stock","plugins":[
 {"type":"bridge","bridge":"stock0","isGateway":true,"ipMasq":false,"hairpinMode":true,
  "ipam":{"type":"host-local","ranges":[[{"subnet":"10.88.0.0/16"}]],"routes":[{"dst":"0.0.0.0/0"}],"dataDir":"/run/cni-e2e"}},
 {"type":"portmap","capabilities":{"portMappings":true},"snat":true}]}
Y
start_server --runtime-arg=cni-conf-dir="$work/net.d" --runtime-arg=cni-bin-dir=/usr/lib/cni
k run stock --image=nginx >/dev/null
check "a pod gets ready on Debian's plugins" k wait --for=condition=Ready pod/stock --timeout=60s
ip=$(k get pod stock -o 'jsonpath={.status.podIP}')
check "with an address of theirs" test "${ip%.*.*}" = 10.88
says "and answers" "Welcome to nginx!" curl -sf -m 5 "http://$ip/"
check "on a bridge of theirs" ip link show stock0
k delete pod stock --grace-period=0 --force >/dev/null 2>&1
"$C8S" stop --data-dir "$work/data" >/dev/null
wait $server_pid 2>/dev/null
start_server
