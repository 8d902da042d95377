# Programs in running containers.
says "exec runs a program in the container" "nginx.conf" k exec "$pod" -- ls /etc/nginx
k exec "$pod" -- sh -c 'exit 3' >/dev/null 2>&1
check "exec ends with the program's code" test $? = 3
says "the pod has its service account's token" "token" k exec "$pod" -- ls /var/run/secrets/kubernetes.io/serviceaccount
