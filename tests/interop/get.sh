# Gets the clients that the parts of tests/interop use, into $CACHE. Sourced by run, outside of namespaces: these need the
# registries. Says what it used.

GO_WANTED=1.26.0
GO_ZIP=https://proxy.golang.org/golang.org/toolchain/@v/v0.0.1-go$GO_WANTED.linux-$(dpkg --print-architecture).zip

# Puts a Go that is new enough first in PATH: the machine's own, or the toolchain module from the Go module proxy.
get_go() {
    local try
    export GOMODCACHE=$CACHE/mod GOCACHE=$CACHE/build GOFLAGS=-buildvcs=false GOTOOLCHAIN=local
    for try in "$(command -v go)" /usr/local/go/bin/go "$CACHE/go/bin/go"; do
        [ -x "$try" ] || continue
        if printf '%s\n' "go$GO_WANTED" "$("$try" env GOVERSION)" | sort -CV; then
            go=$try
            return 0
        fi
    done
    echo "interop: no Go $GO_WANTED or newer here: taking the toolchain module from the Go module proxy"
    rm -rf "$CACHE/go" "$CACHE/unpacked"
    curl -sSfL -o "$CACHE/go.zip" "$GO_ZIP" &&
        python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$CACHE/go.zip" "$CACHE/unpacked" &&
        mv "$CACHE/unpacked/golang.org/"toolchain@* "$CACHE/go" && rm -rf "$CACHE/go.zip" "$CACHE/unpacked" &&
        chmod -R +x "$CACHE/go/bin" "$CACHE/go/pkg/tool" && go=$CACHE/go/bin/go
}

# build_go NAME DIRECTORY PACKAGE: builds a program of a module beside this file, unless it is there already.
build_go() {
    local stamp
    stamp=$(cat "tests/interop/$2/go.mod" "tests/interop/$2/go.sum" $(find "tests/interop/$2/$3" -name '*.go' 2>/dev/null) | sha256sum)
    if [ -x "$CACHE/bin/$1" ] && [ "$(cat "$CACHE/bin/$1.stamp" 2>/dev/null)" = "$stamp" ]; then
        return 0
    fi
    get_go || return 1
    echo "interop: building $1 with $("$go" env GOVERSION)"
    (cd "tests/interop/$2" && "$go" build -mod=readonly -ldflags=-s -o "$CACHE/bin/$1" "$3") &&
        echo "$stamp" >"$CACHE/bin/$1.stamp"
}

# Stock kubectl of the version c8s follows; Debian's, which is older, when Go or its modules cannot be had.
get_kubectl() {
    if build_go kubectl go ./kubectl; then
        echo "interop: kubectl from Go modules: $(sed -n 's/.*k8s.io\/kubectl //p' tests/interop/go/go.mod)"
        return 0
    fi
    echo "interop: kubectl cannot be built from Go modules: using Debian's kubernetes-client, which is older"
    [ -x /usr/bin/kubectl ] || apt-get install -y -qq --no-install-recommends kubernetes-client >/dev/null || return 1
    cp /usr/bin/kubectl "$CACHE/bin/kubectl" && rm -f "$CACHE/bin/kubectl.stamp"
    echo "interop: $("$CACHE/bin/kubectl" version --client 2>&1 | head -1)"
}

get_client-go() { build_go client-go go ./client; }

PYTHON_CLIENT=kubernetes==37.0.2

get_python() {
    "$CACHE/python/bin/python" -c 'import kubernetes' 2>/dev/null && [ "$(cat "$CACHE/python/what" 2>/dev/null)" = "$PYTHON_CLIENT" ] && return
    echo "interop: installing $PYTHON_CLIENT from PyPI"
    rm -rf "$CACHE/python"
    /usr/bin/python3 -m venv "$CACHE/python" && "$CACHE/python/bin/pip" install -q "$PYTHON_CLIENT" &&
        echo "$PYTHON_CLIENT" >"$CACHE/python/what"
}

get_node() {
    mkdir -p "$CACHE/node" && cp tests/interop/node/client.mjs "$CACHE/node/" || return 1
    command -v npm >/dev/null || apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null || return 1
    cmp -s tests/interop/node/package.json "$CACHE/node/package.json" && [ -d "$CACHE/node/node_modules" ] && return
    echo "interop: installing @kubernetes/client-node from npm"
    cp tests/interop/node/package.json "$CACHE/node/" && (cd "$CACHE/node" && npm install --no-audit --no-fund --silent)
}

get_helm() { build_go helm helm helm.sh/helm/v3/cmd/helm; }
