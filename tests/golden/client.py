"""A plain HTTPS client for the replay: one connection for each scenario, and one for requests without credentials."""
import base64
import gzip
import http.client
import json
import os
import ssl
import tempfile
import time
import urllib.parse


class Cluster:
    """Where the API server is and who asks, from a kubeconfig written as JSON."""

    def __init__(self, config, binary):
        self.config, self.binary = config, binary
        cluster, user = config['clusters'][0]['cluster'], config['users'][0]['user']
        address = urllib.parse.urlsplit(cluster['server'])
        self.url, self.host, self.port = cluster['server'].rstrip('/'), address.hostname, address.port
        authority = base64.b64decode(cluster['certificate-authority-data']).decode()
        self.anonymous = ssl.create_default_context(cadata=authority)
        self.known = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile() as pair:
            for part in ('client-certificate-data', 'client-key-data'):
                pair.write(base64.b64decode(user[part]) + b'\n')
            pair.flush()
            self.known.load_cert_chain(pair.name)


class Client:
    def __init__(self, cluster, timeout):
        self.cluster, self.timeout, self.open = cluster, timeout, {}

    def connect(self, known):
        context = self.cluster.known if known else self.cluster.anonymous
        return http.client.HTTPSConnection(self.cluster.host, self.cluster.port, timeout=self.timeout, context=context)

    def ask(self, method, path, headers, body, known=True):
        """Sends a request over the kept connection; a kept one that the server has closed is replaced once."""
        for again in (True, False):
            kept = known in self.open
            connection = self.open.setdefault(known, None) or self.connect(known)
            self.open[known] = connection
            try:
                try:
                    connection.request(method, path, body, headers)
                except (BrokenPipeError, ConnectionResetError):
                    if kept:
                        raise
                    # A server may answer and close before it has read all of a body: its answer counts.
                answer = connection.getresponse()
                data = answer.read()
                if answer.getheader('Content-Encoding') == 'gzip':
                    data = gzip.decompress(data)
                return answer, data
            except (http.client.HTTPException, OSError):
                connection.close()
                del self.open[known]
                if not (kept and again):
                    raise

    def events(self, method, path, headers, count, seconds, meanwhile):
        """Opens a watch; returns its answer, what meanwhile() returned, up to count lines, and whether the server closed it."""
        connection = self.connect(True)
        try:
            connection.request(method, path, None, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                return answer, None, answer.read(), False
            done, lines, end = meanwhile(), [], time.monotonic() + seconds
            while len(lines) < count and time.monotonic() < end:
                if connection.sock:
                    connection.sock.settimeout(max(0.01, end - time.monotonic()))
                try:
                    line = answer.readline()
                except TimeoutError:
                    break
                except (OSError, http.client.HTTPException):
                    line = b''
                if not line:
                    return answer, done, lines, True
                lines.append(line)
            return answer, done, lines, False
        finally:
            connection.close()

    def close(self):
        for connection in self.open.values():
            connection.close()


def wait_for(process, kubeconfig, binary, seconds):
    """The cluster of a server that has just been started, once it says it is ready."""
    import subprocess
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if os.path.exists(kubeconfig):
            text = subprocess.run([binary, 'kubectl', '--kubeconfig', kubeconfig, 'config', 'view', '--raw', '-o', 'json'],
                                  capture_output=True, check=True).stdout
            cluster = Cluster(json.loads(text), os.path.abspath(binary))
            client = Client(cluster, 5)
            try:
                if client.ask('GET', '/readyz', {}, None)[0].status == 200:
                    return cluster
            except OSError:
                pass
            finally:
                client.close()
        time.sleep(0.05)
    return None
