"""An API server on a store of its own, for tests of what becomes of its data."""
import http.client, json, os, signal, ssl, subprocess, time

C8S = os.environ.get("C8S", "build-debug/c8s")


class Server:
    def __init__(self, directory, log=None):
        self.directory = directory
        self.log = open(log or os.path.join(directory, "log"), "ab")
        self.process = subprocess.Popen(
            [C8S, "server", "--disable-agent", "--disable=controller-manager,scheduler", "--bind-address=127.0.0.1",
             "--data-dir=" + directory, "--https-listen-port=0"], stdout=self.log, stderr=self.log)
        deadline = time.time() + 30
        while not self.port():
            if time.time() > deadline or self.process.poll() is not None:
                raise SystemExit("the server does not start:\n" + open(self.log.name).read())
            time.sleep(0.02)
        tls = os.path.join(directory, "tls")
        self.context = ssl.create_default_context(cafile=os.path.join(tls, "ca.crt"))
        self.context.load_cert_chain(os.path.join(tls, "admin.crt"), os.path.join(tls, "admin.key"))

    def port(self):
        try:
            for line in open(os.path.join(self.directory, "c8s.yaml")):
                if "server:" in line:
                    return int(line.rsplit(":", 1)[1])
        except OSError:
            pass
        return None

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port(), context=self.context, timeout=10)

    def apiserver(self):
        """The pid of the API server's process, a child of the supervisor."""
        children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()
        for pid in children:
            if open(f"/proc/{pid}/comm").read().strip() == "c8s:apiserver":
                return int(pid)
        return None

    def wait_ready(self):
        deadline = time.time() + 30
        while time.time() < deadline:
            try:
                status, _ = call(self.connect(), "GET", "/readyz", raw=True)
                if status == 200:
                    return
            except OSError:
                pass
            except http.client.HTTPException:
                pass
            time.sleep(0.02)
        raise SystemExit("the server does not get ready again:\n" + open(self.log.name).read()[-4000:])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def call(connection, method, path, body=None, raw=False):
    connection.request(method, path, body=json.dumps(body) if body else None,
                       headers={"Content-Type": "application/json"} if body else {})
    response = connection.getresponse()
    text = response.read()
    return response.status, text if raw else json.loads(text)


def make_namespace(server):
    status, answer = call(server.connect(), "POST", "/api/v1/namespaces",
                          {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    if status not in (201, 409):
        raise SystemExit(f"namespace: {status} {answer}")
