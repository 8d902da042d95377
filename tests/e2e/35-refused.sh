# Refusals.
server=$(k config view -o 'jsonpath={.clusters[0].cluster.server}')
with_password() {
    KUBECONFIG=/dev/null k --server="$server" --certificate-authority="$work/data/tls/ca.crt" --username=admin \
        --password="$1" "${@:2}"
}
says "a password lets in" "nginx" with_password right get pods
says "a wrong password is refused" "nauthorized" with_password wrong run x --image=nginx
traced "and the trace ends at 9" 9 "" last

k create -f - >/dev/null <<'Y'
{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"none"},"spec":{"hard":{"count/deployments.apps":"1"}}}
Y
until_says 10 "a quota is counted" "1" k get resourcequota none -o 'jsonpath={.status.used}'
says "a quota refuses what is too much" "exceeded quota" k run too-much --image=nginx --replicas=1
traced "and the trace ends at 13" 13 "exceeded quota" last
k delete resourcequota none >/dev/null

