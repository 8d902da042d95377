"""Command lines of a scenario: `c8s kubectl` in a folder of its own, its output as recordings have it.

A step has `cli` (the words after "kubectl"), perhaps `stdin` and `files` (put into the folder, and left there for the steps
after it). Recorded are `exit`, `stderr`, and `stdout`: lines, or as `json` when it is that.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

SECONDS = 30
# An age stands in a column of its own: not within a word, a path, a key's value.
AGE = re.compile(r'(?<![\w=/.:"\'-])(\d{1,3}s|\d{1,2}m\d{1,2}s|\d\dy)(?![\w./"\'-])( *)')


class Folder:
    """What the command lines of one scenario share: files, and a kubeconfig whose namespace is the scenario's."""

    def __init__(self, cluster, namespace):
        self.cluster = cluster
        self.path = tempfile.mkdtemp(prefix='golden-cli-')
        entry = lambda kind, value: {'name': 'golden', kind: value}
        config = {'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'golden',
                  'clusters': [entry('cluster', cluster.config['clusters'][0]['cluster'])],
                  'users': [entry('user', cluster.config['users'][0]['user'])],
                  'contexts': [entry('context', {'cluster': 'golden', 'user': 'golden', 'namespace': namespace})]}
        with open(self.path + '/.kubeconfig', 'w', encoding='utf-8') as file:
            json.dump(config, file)

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.path, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)

    def run(self, step):
        self.write(step.get('files') or {})
        environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': self.path, 'TMPDIR': self.path, 'TZ': 'UTC',
                       'LANG': 'C.UTF-8', 'KUBECONFIG': self.path + '/.kubeconfig', 'TERM': 'dumb',
                       **{name: value for name, value in os.environ.items() if name.endswith('SAN_OPTIONS')}}
        try:
            done = subprocess.run([self.cluster.binary, 'kubectl'] + [str(word) for word in step['cli']], timeout=SECONDS,
                                  input=step.get('stdin', '').encode(), capture_output=True, cwd=self.path, env=environment)
        except subprocess.TimeoutExpired:
            return {'error': 'did not end within %d s' % SECONDS}
        return shaped(step, done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace'))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def plain(text, collapse):
    """Ages and the heads of log lines as marks; one width between columns when they follow the length of addresses."""
    text = re.sub(r'(LIVE|MERGED)-\d+', r'\1-<n>', text)
    text = re.sub(r'(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+?:\d+\]', r'<log \1>', text)
    text = AGE.sub(lambda age: '<age>' + (' ' * max(1, len(age.group(0)) - 3) if age.group(2) else ''), text)
    return re.sub(r'(?<=\S)  +', '  ', text) if collapse else text


def shaped(step, code, out, err):
    result, text = {'exit': code}, json.dumps(step.get('want', {}))
    if out[:1] in ('{', '['):
        try:
            result['json'] = json.loads(out)
        except ValueError:
            pass
    if 'json' not in result:
        result['stdout'] = plain(out, '<ip:' in text).split('\n')
    if err:
        result['stderr'] = plain(err, '<ip:' in text).split('\n')
    for expression, by in step.get('replace', []):
        for name in ('stdout', 'stderr'):
            if name in result:
                result[name] = [re.sub(expression, by, line) for line in result[name]]
    if step.get('sortLines'):
        result.update({name: sorted(result[name]) for name in ('stdout', 'stderr') if name in result})
    return result
