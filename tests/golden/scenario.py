"""Plays one recorded scenario against a server."""
import gzip
import http.client
import json
import random
import re
import time
import urllib.parse

import cli
import client
import match
from paths import pick, places

HEADERS = ('content-type', 'warning', 'content-encoding', 'allow', 'www-authenticate', 'location')
AGENT = {'User-Agent': 'golden/1.0'}    # managed fields carry its name
NOT_SUBSTITUTED = ('during', 'select', 'ignore', 'unordered', 'drop', 'want')


def yaml():
    import yaml as library    # Debian's python3-yaml; only scenarios about YAML need it
    return library


class Scenario:
    def __init__(self, cluster, recorded, timeout, patience):
        self.recorded, self.patience = recorded, patience
        self.client = client.Client(cluster, timeout)
        tag = lambda: ''.join(random.choices(match.LETTERS, k=8))
        self.names = {'rand': tag(), 'ns': 'g-' + tag(), 'ns2': 'h-' + tag(), 'i': '0', 'tmp': ''}
        has_cli = any('cli' in step for step in recorded['steps'])
        self.folder = cli.Folder(cluster, self.names['ns']) if has_cli else None
        self.names['tmp'] = self.folder.path if has_cli else ''
        self.captured, self.made = {}, []
        self.scope = match.Scope(dict(self.names, server=cluster.url, **{'server-address': '%s:%d' % (cluster.host, cluster.port)}),
                                 self.captured)

    def fill(self, value):
        """Replaces {name}, {name+1} and {x*70} in all texts of a value."""
        if isinstance(value, dict):
            return {self.fill(key): self.fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.fill(inner) for inner in value]
        if not isinstance(value, str) or '{' not in value:
            return value
        known = {**self.names, **self.captured}
        if value[0] == '{' and value[-1] == '}' and value[1:-1] in known:
            return known[value[1:-1]]

        def one(found):
            name, by, letter, times = found.groups()
            if letter:
                return letter * int(times)
            if by:
                return str(int(known[name]) + int(by)) if str(known.get(name, '')).isdigit() else found.group(0)
            return str(known[name]) if name in known else found.group(0)
        return re.sub(r'\{(\w+)([+-]\d+)?\}|\{(.)\*(\d+)\}', one, value)

    # -- asking
    def send(self, method, path, body=None):
        """A request of the replay's own; failures show in what comes after."""
        kind = 'application/merge-patch+json' if method == 'PATCH' else 'application/json'
        try:
            answer, data = self.client.ask(method, path, {'Content-Type': kind, **AGENT}, json.dumps(body) if body else None)
            return answer.status, data
        except (OSError, http.client.HTTPException):
            return 0, b''

    def request(self, step):
        path = step['path']
        if step.get('query'):
            query = step['query']
            path += '?' + (query if isinstance(query, str) else urllib.parse.urlencode(query, doseq=True))
        headers, body = {'Accept': step.get('accept', 'application/json'), **AGENT}, None
        kind = step.get('contentType', 'application/json')
        if 'raw' in step:
            body = step['raw'].encode()
        elif 'body' in step:
            body = (yaml().safe_dump if kind == 'application/yaml' else json.dumps)(step['body']).encode()
        if step.get('gzip'):
            body, headers['Content-Encoding'] = gzip.compress(body), 'gzip'
        if body is not None:
            headers['Content-Type'] = kind
        for name, value in (step.get('headers') or {}).items():
            headers[name] = value if value is None else str(value)
        return path, {name: value for name, value in headers.items() if value is not None}, body

    def ask(self, step):
        """Sends a step's request, again and again when it says until what; returns the answer as recordings have it."""
        path, headers, body = self.request(step)
        method, until = step.get('method', 'GET'), step.get('until')
        end = time.monotonic() + min(self.patience, (until or {}).get('seconds', 15))
        while True:
            answer, data = self.client.ask(method, path, headers, body, not step.get('noauth'))
            whole = parsed(data) if data[:1] == b'{' else None
            if not until or met(until, answer.status, whole) or time.monotonic() > end:
                break
            time.sleep(0.1)
        if answer.status == 201 and isinstance(whole, dict) and 'dryRun' not in path:
            name = (whole.get('metadata') or {}).get('name')
            if name:
                self.made.append(step['path'] + ('/' + name if method == 'POST' else ''))
        result = head(answer)
        if data[:4] == b'k8s\0':
            result['body'] = {'magic': 'k8s\\0'}
        elif data:
            text = data.decode(errors='replace')
            value = yaml().safe_load(text) if 'yaml' in (answer.getheader('Content-Type') or '') else parsed(text)
            if value is None:
                result['text'] = text.split('\n')
            else:
                result['body'] = value
        return result, whole

    def watch(self, step):
        path, headers, _ = self.request(step)
        limits = step['watch'] if isinstance(step['watch'], dict) else {}
        problems = []

        def meanwhile():
            for inner in step.get('during') or []:
                problems.extend(self.play(inner))
        answer, _, lines, closed = self.client.events(step.get('method', 'GET'), path, headers, limits.get('events', 10 ** 6),
                                                      limits.get('seconds', 5), meanwhile)
        result = head(answer)
        if answer.status != 200:
            result['body'] = parsed(lines)
            return result, problems
        newest, result['events'], result['closed'] = 0, [], closed
        for line in lines:
            event = parsed(line)
            if event is None:
                result['events'].append({'raw': line.decode(errors='replace')})
                continue
            about = (event.get('object') or {}).get('metadata') or {}
            version = str(about.get('resourceVersion'))
            newest = max(newest, int(version)) if version.isdigit() else newest
            if event.get('type') == 'BOOKMARK' and version.isdigit():
                about['resourceVersion'] = '<rv:bookmark>' if int(version) == newest else '<rv:low>'
            result['events'].append(event)
        return result, problems

    # -- one step
    def play(self, step):
        """Plays a step; returns its differences."""
        if 'sleep' in step and 'path' not in step and 'cli' not in step:
            time.sleep(step['sleep'])
            return []
        kept = {key: value for key, value in step.items() if key in NOT_SUBSTITUTED}
        step = {**self.fill({key: value for key, value in step.items() if key not in kept}), **kept}
        problems, whole = [], None
        try:
            if 'cli' in step:
                result = self.folder.run(step)
            elif 'watch' in step:
                result, problems = self.watch(step)
            else:
                result, whole = self.ask(step)
        except (OSError, http.client.HTTPException) as error:
            result = {'error': '%s: %s' % (type(error).__name__, error)}
        for name, path in (step.get('capture') or {}).items():
            self.captured[name] = next((c[k] for c, k in places(whole, path)), '<missing>') if whole is not None else '<missing>'
        want = step.get('want')
        if want is None:
            return problems
        self.scope.see(result)
        if step.get('only') == 'status':
            result = {key: result[key] for key in ('status', 'exit', 'error') if key in result}
        shape(result, step)
        what = 'kubectl ' + ' '.join(step['cli']) if 'cli' in step else '%s %s' % (step.get('method', 'GET'), step['path'])
        return problems + [(what,) + found for found in match.differences(want, result, self.scope)]

    # -- all of them
    def run(self, to_the_end=False):
        """Plays the steps up to the first that differs, or all; returns the differences as (request, path, want, got)."""
        text, problems = json.dumps(self.recorded), []
        for name in ('ns', 'ns2'):
            if '{%s}' % name in text or (name == 'ns' and self.folder):
                self.send('POST', '/api/v1/namespaces', {'metadata': {'name': self.names[name]}})
                self.send('POST', '/api/v1/namespaces/%s/serviceaccounts' % self.names[name], {'metadata': {'name': 'default'}})
                self.made.append('/api/v1/namespaces/' + self.names[name])
        try:
            for step in self.recorded['steps']:
                problems += self.play(step)
                if problems and not to_the_end:
                    break
        finally:
            self.clean_up()
        return problems

    def clean_up(self):
        for step in self.recorded.get('cleanup', []):
            self.send(step['method'], self.fill(step['path']))
        for path in reversed(self.made):
            _, data = self.send('DELETE', path + '?gracePeriodSeconds=0&propagationPolicy=Background')
            left = parsed(data) or {}
            if (left.get('metadata') or {}).get('finalizers'):
                self.send('PATCH', path, {'metadata': {'finalizers': None}})
            if re.fullmatch(r'/api/v1/namespaces/[^/]+', path):
                self.send('PUT', path + '/finalize', {'apiVersion': 'v1', 'kind': 'Namespace', 'spec': {'finalizers': []},
                                                      'metadata': {'name': path.rpartition('/')[2]}})
        self.client.close()
        if self.folder:
            self.folder.remove()


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def met(until, status, whole):
    if 'status' in until:
        return status == until['status']
    values = [container[key] for container, key in places(whole, until['path'])] if whole is not None else []
    return until['equals'] in values if 'equals' in until else bool(values)


def head(answer):
    """Status and headers of an answer, as recordings have them."""
    result = {'status': answer.status, 'headers': {}}
    for name in HEADERS:
        values = answer.headers.get_all(name)
        if values:
            result['headers'][name] = values if name == 'warning' else ', '.join(values)
    if answer.getheader('Retry-After'):
        result['headers']['retry-after'] = '<present>'
    return result


def settle(value):
    """Undoes what servers may do as they like: the order of managedFields, how a Table's columns are described."""
    if isinstance(value, list):
        for inner in value:
            settle(inner)
    elif isinstance(value, dict):
        if value.get('kind') == 'Table':
            for column in value.get('columnDefinitions') or []:
                column.pop('description', None)
        if isinstance(value.get('managedFields'), list):
            value['managedFields'].sort(key=lambda one: [str(one.get(key)) for key in
                                                        ('operation', 'manager', 'apiVersion', 'subresource')])
        for inner in value.values():
            settle(inner)


def shape(result, step):
    """Reduces an answer to what the recording kept of it."""
    settle(result)
    if 'select' in step and 'json' in result:
        result['json'] = {path: pick(result['json'], path) for path in step['select']}
    elif 'select' in step:
        chosen = lambda value: {path: pick(value, path) for path in step['select']}
        if 'events' in result:
            result['events'] = [event if event.get('type') == 'ERROR' else chosen(event) for event in result['events']]
        elif isinstance(result.get('body'), dict) and result['body'].get('kind') != 'Status':
            result['body'] = chosen(result['body'])
    for path, expression in step.get('drop', []):
        for container, key in places(result, path):
            container[key] = [item for item in container[key] if not re.search(expression, json.dumps(item))]
    for path in step.get('unordered', []):
        for container, key in places(result, path):
            container[key] = sorted(container[key], key=lambda item: json.dumps(item, sort_keys=True))
    for path in step.get('ignore', []):
        for container, key in places(result, path):
            container[key] = '<ignored>'
