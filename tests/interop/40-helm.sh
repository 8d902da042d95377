# Helm with a chart of ours: install, upgrade, roll back, uninstall, with hooks, waiting for what it made.
h() { "$CACHE/bin/helm" "$@"; }
says "helm install" "STATUS: deployed" h install site tests/interop/chart --namespace charts --create-namespace --wait --timeout 60s
says "helm install of the same name" "cannot re-use a name that is still in use" h install site tests/interop/chart -n charts
check "the hook's job ran" k -n charts wait --for=condition=Complete job/site-before --timeout=10s
says "helm list" "site-0.1.0" h list -n charts
says "helm upgrade" "REVISION: 2" h upgrade site tests/interop/chart -n charts --set replicas=2,text=second --wait --timeout 60s
says "helm upgrade changes" "second 2" sh -c \
    'echo $("$C8S" kubectl -n charts get cm site -o "jsonpath={.data.index\.html}") $("$C8S" kubectl -n charts get deploy site -o "jsonpath={.status.readyReplicas}")'
says "helm get values" "text: second" h get values site -n charts
says "helm rollback" "Rollback was a success" h rollback site 1 -n charts --wait --timeout 60s
says "helm rollback changes back" "first" k -n charts get cm site -o 'jsonpath={.data.index\.html}'
says "helm history" "Rollback to 1" h history site -n charts
says "helm status" "REVISION: 3" h status site -n charts
says "helm upgrade of what the server refuses" "spec.replicas" h upgrade site tests/interop/chart -n charts --set replicas=-1
says "helm uninstall" 'release "site" uninstalled' h uninstall site -n charts --wait --timeout 60s
says "nothing of it is left" "NotFound" k -n charts get deploy site
k delete namespace charts >/dev/null
