"""A cluster of c8s for benchmarks, in namespaces of its own, and what can be measured from outside of it."""
import http.client, json, os, shutil, signal, ssl, subprocess, sys, tempfile, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
C8S = os.environ.get("C8S", os.path.join(ROOT, "build/c8s"))
NODE = "bench"
START_SECONDS = 60


def inside(*namespaces):
    """Runs the program again in mount, network and PID namespaces, once."""
    if os.environ.get("BENCH_INSIDE") != "yes":
        os.environ["BENCH_INSIDE"] = "yes"
        os.execvp("unshare", ["unshare", "--mount", "--net", "--fork", "--pid", "--mount-proc", "--kill-child",
                              sys.executable] + sys.argv)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def emit(**record):
    print(json.dumps(record), flush=True)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


class Cluster:
    def __init__(self, arguments=(), directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="c8s-bench-")
        os.chmod(self.directory, 0o755)
        self.arguments = list(arguments)
        self.connections = {}
        self.process = None

    def start(self):
        """Starts the server and returns at once."""
        self.log = open(os.path.join(self.directory, "log"), "ab")
        self.started = time.monotonic()
        kubeconfig = os.path.join(self.directory, "admin.yaml")
        if os.path.exists(kubeconfig):
            os.unlink(kubeconfig)
        self.process = subprocess.Popen(
            [C8S, "server", "--data-dir", os.path.join(self.directory, "data"), "--https-listen-port", "0", "--node-name",
             NODE, "--write-kubeconfig", kubeconfig] + self.arguments, stdout=self.log, stderr=self.log)

    def _check(self):
        if time.monotonic() - self.started > START_SECONDS:
            raise SystemExit("the cluster does not start:\n" + open(self.log.name).read()[-2000:])

    def _open(self):
        """The port and the certificates, as soon as they are there."""
        while True:
            self._check()
            try:
                text = open(os.path.join(self.directory, "admin.yaml")).read()
                self.port = int(next(line for line in text.splitlines() if "server:" in line).rsplit(":", 1)[1])
                break
            except (OSError, StopIteration):
                time.sleep(0.002)
        tls = os.path.join(self.directory, "data/tls")
        self.context = ssl.create_default_context(cafile=os.path.join(tls, "ca.crt"))
        self.context.load_cert_chain(os.path.join(tls, "admin.crt"), os.path.join(tls, "admin.key"))
        self.connections = {}

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def call(self, method, path, body=None, connection=None):
        connection = connection or self.connections.setdefault("main", self.connect())
        headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
        connection.request(method, path, body=json.dumps(body) if body else None, headers=headers)
        response = connection.getresponse()
        text = response.read()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    def wait_ready(self):
        """Seconds from the start of the server until /readyz says ok."""
        self._open()
        while True:
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return time.monotonic() - self.started
            except (OSError, http.client.HTTPException):
                self.connections = {}
            self._check()
            time.sleep(0.001)

    def wait_node(self):
        """Seconds from the start of the server until the node is Ready and can be scheduled to."""
        while True:
            status, node = self.call("GET", "/api/v1/nodes/" + NODE)
            if status == 200 and any(c["type"] == "Ready" and c["status"] == "True"
                                     for c in node["status"].get("conditions", [])) and not node["spec"].get("taints"):
                return time.monotonic() - self.started
            self._check()
            time.sleep(0.001)

    def processes(self):
        """[(name, pid)] of everything of c8s in this PID namespace."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                name = open(f"/proc/{pid}/comm").read().strip()
            except OSError:
                continue
            if name.startswith("c8s"):
                found.append((name, int(pid)))
        return sorted(found)

    def memory(self):
        """{name: {"rss": KiB, "pss": KiB, "count": n}}; shims and pauses are added up by name."""
        sums = {}
        for name, pid in self.processes():
            row = sums.setdefault(name, {"rss": 0, "pss": 0, "count": 0})
            try:
                rollup = open(f"/proc/{pid}/smaps_rollup").read()
            except OSError:
                continue
            for line in rollup.splitlines():
                if line.startswith("Rss:"):
                    row["rss"] += int(line.split()[1])
                elif line.startswith("Pss:"):
                    row["pss"] += int(line.split()[1])
            row["count"] += 1
        return sums

    def cpu_seconds(self):
        ticks = 0
        for _, pid in self.processes():
            try:
                fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return ticks / os.sysconf("SC_CLK_TCK")

    def bytes_written(self):
        """What went towards the disk (not to pipes, sockets or tmpfs)."""
        total = 0
        for _, pid in self.processes():
            try:
                for line in open(f"/proc/{pid}/io"):
                    if line.startswith("write_bytes:"):
                        total += int(line.split()[1])
            except OSError:
                pass
        return total

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
            self.process = None

    def stop(self):
        subprocess.run([C8S, "stop", "--data-dir", os.path.join(self.directory, "data")], stdout=subprocess.DEVNULL)
        if self.process:
            self.process.wait(60)
            self.process = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def pod(name, image="docker.io/library/busybox:latest"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "main", "image": image, "imagePullPolicy": "Never",
                                     "command": ["sleep", "1000000"]}]}}


def import_images(cluster, *names):
    """Into the runtime's store, while no server runs or one does."""
    subprocess.run([os.path.join(ROOT, "images/build")], stdout=subprocess.DEVNULL, check=True)
    subprocess.run([C8S, "images", "--root", os.path.join(cluster.directory, "data/runtime"), "import"] +
                   [os.path.join(ROOT, "build/images", name + ".tar") for name in names],
                   stdout=subprocess.DEVNULL, check=True)


def wait_service_account(cluster):
    while cluster.call("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] != 200:
        time.sleep(0.005)
