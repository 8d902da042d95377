# What the parts of tests/e2e share. $work is a directory of their own, $C8S the binary.
k() { "$C8S" kubectl "$@"; }

pass() { passed=$((passed + 1)); echo "pass ${kind:-e2e}/$1"; }
fail() {
    failed=$((failed + 1))
    echo "FAIL ${kind:-e2e}/$1"
    shift
    printf '  %s\n' "$@"
}

# check NAME COMMAND...: passes when the command does.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then pass "$name"; else fail "$name" "$*" "${out:0:2000}"; fi
}

# says NAME TEXT COMMAND...: passes when the command's output, of both streams, contains TEXT.
says() {
    local name=$1 text=$2 out
    shift 2
    out=$("$@" 2>&1)
    if [[ $out == *"$text"* ]]; then pass "$name"; else fail "$name" "wanted: $text" "got: ${out:0:2000}"; fi
}

# until_says SECONDS NAME TEXT COMMAND...: the same, tried again for so long.
until_says() {
    local end=$((SECONDS + $1)) name=$2 text=$3 out
    shift 3
    while :; do
        out=$("$@" 2>&1)
        if [[ $out == *"$text"* ]]; then pass "$name"; return; fi
        if [ "$SECONDS" -ge "$end" ]; then fail "$name" "wanted: $text" "got: ${out:0:2000}"; return; fi
        sleep 0.2
    done
}

# start_server ARGUMENTS...: the cluster of $work/data, until its node is Ready.
start_server() {
    setsid "$C8S" server --data-dir "$work/data" --https-listen-port 0 --write-kubeconfig "$KUBECONFIG" \
        --node-name e2e --private-registry "$work/registries.yaml" "$@" </dev/null >>"$work/server.log" 2>&1 &
    server_pid=$!
    for _ in $(seq 300); do
        k wait --for=condition=Ready node/e2e --timeout=5s >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "the node gets Ready" "$(tail -20 "$work/server.log")"
}

# pids_of NAME: the components of that name ("cri", "kubelet", ...) in this PID namespace.
pids_of() {
    local pid
    for pid in /proc/[0-9]*; do
        [ "$(cat "$pid/comm" 2>/dev/null)" = "$(printf 'c8s:%s' "$1" | cut -c1-15)" ] && basename "$pid"
    done
}

# traced NAME STEP TEXT OF: the last line of the trace of OF is that step, failed, with that text.
traced() {
    local line
    line=$("$C8S" trace "$4" 2>&1 | grep -E '^ +[0-9]+  ' | tail -1)
    if [[ $line =~ ^\ +$2\  && $line == *"FAILED"*"$3"* ]]; then pass "$1"; else fail "$1" "got: $line"; fi
}

stop_all() {
    "$C8S" stop --data-dir "$work/data" >/dev/null 2>&1
    [ -f "$work/registry.pid" ] && kill "$(cat "$work/registry.pid")"
    sleep 0.2
}
