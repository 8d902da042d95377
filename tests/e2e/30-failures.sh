# Where the flow fails it ends, with an error that names what is at fault, and the trace ends there too.
says "who may not is forbidden" "forbidden" k run x --image=nginx --as=system:serviceaccount:default:nobody
traced "and the trace ends at 11" 11 "" last

k create -f - >/dev/null <<'Y'
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"picky"},
 "spec":{"nodeSelector":{"moon":"full"},"containers":[{"name":"main","image":"nginx"}]}}
Y
until_says 15 "a pod without a node says why" "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector" \
    k describe pod picky
traced "and the trace ends at 26" 26 "0/1 nodes are available" pod/picky
k delete pod picky >/dev/null

k run missing --image="$(sed 's|.*//||' "$work/registry.url")/library/nginx:no-such-tag" >/dev/null
until_says 20 "a missing image is told" "ErrImagePull" k describe pod missing
traced "and the trace ends at 40" 40 "code = NotFound" pod/missing
k delete pod missing >/dev/null

k create -f - >/dev/null <<'Y'
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"sick"},"spec":{"containers":[{"name":"main","image":"nginx",
 "readinessProbe":{"httpGet":{"path":"/none","port":80},"periodSeconds":1}}]}}
Y
until_says 20 "a failing probe is told" "Readiness probe failed: HTTP probe failed with statuscode: 404" k describe pod sick
traced "and the trace ends at 45" 45 "404" pod/sick
k delete pod sick >/dev/null
