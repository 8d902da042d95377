"""Matches an answer against a recorded one.

A recording is a pattern: what differs from run to run stands in it as a mark. The first time a mark with a number is met
it is bound to the value in the answer; from then on the same mark is the same value, and another mark is another value.

    <uid:1> <ip:1> <nodePort:1> <gen:1>   a UUID, a service's address, a node port, the ending of a generated name
    <rv:1>                                an object's resourceVersion, newer than all before it
    <rv:1:older>                          one that is not
    <rv:list> <rv:older> <rv:NAME>        a list's: as new as all objects seen; older than some; the captured one
    <rv:bookmark> <rv:low>                a bookmark's: as new as what the watch delivered; older
    <time> <time.6> <time+00:00>          a time near now: digits of its fraction, its zone when not Z
    <time1123> <age> <seconds> <n>        other times and numbers
    <jwt> {"jwt": {header, claims}}       a token; the whole of a string when it is one
    <continue> <hash> <address> <ignored> anything of that sort
    {ns} {ns2} {rand} {tmp} {server} {server-address}   the scenario's own names
"""
import base64
import datetime
import json
import re

LETTERS = 'bcdfghjklmnpqrstvwxz2456789'   # what generated names end in
NEAR = datetime.timedelta(days=370)
CLOCK = r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d'
SHAPES = {
    'uid': r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    'ip': r'10\.(?:9[6-9]|10\d|11[01])\.\d{1,3}\.\d{1,3}',
    'nodePort': r'3[0-2]\d{3}',
    'gen': '[%s]{5}' % LETTERS,
    'rv': r'\d+',
    'time1123': r'[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d (?:[+-]\d{4}|[A-Z]{3})',
    'age': r'\d{1,4}[smhdy](?:\d{1,2}[smhd])?|<age>',    # of a command line's output it has been replaced
    'seconds': r'\d+',
    'n': r'\d+|<n>',
    'jwt': r'eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+',
    'continue': r'\S+',
    'hash': r'[0-9a-f]{64}',
    'address': r'.+',
}
MARK = re.compile(r'<(uid|ip|nodePort|gen|rv):(\w+)(:older)?>|<(time)(\.\d+)?((?:[ +-][^<>]*)?)>|'
                  r'<(time1123|age|seconds|n|jwt|continue|hash|address)>|\{(ns2?|rand|tmp|server|server-address)\}')
TOKEN = re.compile(SHAPES['jwt'])


class Scope:
    """What one scenario has bound so far. `names` are its own names, `captured` what its steps have captured."""

    def __init__(self, names, captured):
        self.names, self.captured = names, captured
        self.value_of, self.mark_of = {}, {}
        self.versions = {}    # of the objects in all answers so far: whether a newer one had been seen before it
        self.newest = 0

    def see(self, answer):
        """Takes note of the objects' versions in an answer, before it is matched."""
        for number in object_versions(answer):
            self.versions.setdefault(number, number < self.newest)
            self.newest = max(self.newest, number)

    def bind(self, kind, mark, value):
        known = self.value_of.get((kind, mark))
        if known is not None:
            return known == value
        if self.mark_of.setdefault((kind, value), mark) != mark:
            return False
        self.value_of[kind, mark] = value
        return True

    def version(self, mark, older, value):
        number = int(value)
        if mark == 'list':
            return number >= self.newest
        if mark == 'older':
            return number < self.newest
        if not mark.isdigit():
            return str(self.captured.get(mark)) == value
        self.see({'resourceVersion': value})    # it may stand in a text
        return self.versions[number] == bool(older) and self.bind('rv', mark, value)


def in_order(answer):
    """The items of an object in the order that numbers in recordings were given in: by key, a Table's rows last."""
    return sorted(answer.items(), key=lambda item: (item[0] == 'rows' and answer.get('kind') == 'Table', item[0]))


def object_versions(value, key=None):
    """The resourceVersions of the objects in an answer; those of lists are not among them."""
    if isinstance(value, dict):
        for name, inner in in_order(value):
            if name == 'resourceVersion' and isinstance(inner, str) and inner.isdigit():
                if key != 'metadata' or 'name' in value:
                    yield int(inner)
            else:
                yield from object_versions(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from object_versions(inner, key)


def near_now(text):
    try:
        return abs(datetime.datetime.fromisoformat(text[:19]) - datetime.datetime.now()) < NEAR
    except ValueError:
        return False


def text_matches(want, got, scope):
    if want == got:
        return True
    pattern, end, checks = '', 0, []
    for mark in MARK.finditer(want):
        kind, number, older, clock, fraction, zone, other, name = mark.groups()
        if name and name not in scope.names:
            continue
        pattern += re.escape(want[end:mark.start()])
        end = mark.end()
        if name:
            pattern += re.escape(scope.names[name])
            continue
        if clock:
            shape = CLOCK + (r'\.\d{%s}' % fraction[1:] if fraction else '') + (re.escape(zone) if zone else 'Z')
        else:
            shape = SHAPES[kind or other]
        checks.append((kind or clock or other, number, older))
        pattern += '(%s)' % shape
    if not end:
        return False
    found = re.fullmatch(pattern + re.escape(want[end:]), got, re.S)
    if not found:
        return False
    for (kind, number, older), value in zip(checks, found.groups()):
        if kind == 'rv':
            if not scope.version(number, older, value):
                return False
        elif kind == 'time':
            if not near_now(value):
                return False
        elif number and not scope.bind(kind, number, value):
            return False
    return True


def token_parts(text):
    try:
        header, claims = (json.loads(base64.urlsafe_b64decode(part + '=' * (-len(part) % 4))) for part in text.split('.')[:2])
    except ValueError:
        return text
    header.pop('kid', None)
    return {'header': header, 'claims': claims}


def differences(want, got, scope, path=''):
    """Yields (path, wanted, got) for every place where the answer is not the recorded one."""
    if want == '<ignored>' and got != '<absent>':
        return
    if isinstance(want, dict) and set(want) == {'jwt'} and isinstance(got, str) and TOKEN.fullmatch(got):
        yield from differences(want['jwt'], token_parts(got), scope, path)
    elif isinstance(want, dict) and isinstance(got, dict):
        yield from object_differences(want, got, scope, path)
    elif isinstance(want, list) and isinstance(got, list):
        for index in range(max(len(want), len(got))):
            here = '%s[%d]' % (path, index)
            if index >= len(want):
                yield here, '<absent>', got[index]
            elif index >= len(got):
                yield here, want[index], '<absent>'
            else:
                yield from differences(want[index], got[index], scope, here)
    elif isinstance(want, str) and isinstance(got, str):
        if not text_matches(want, got, scope):
            yield path, want, got
    elif isinstance(want, str) and type(got) is int:
        number = re.fullmatch(r'<(nodePort:\d+|seconds)>', want)
        if not number or not text_matches(want, str(got), scope):
            yield path, want, got
    elif type(want) is not type(got) or want != got:
        yield path, want, got


def object_differences(want, got, scope, path):
    left, answered = dict(got), {}
    for key in want:
        name = key if key in left else next((k for k in left if k not in want and text_matches(key, k, scope)), None)
        answered[key] = left.pop(name) if name is not None else '<absent>'
    wanted = {**{key: '<absent>' for key in left}, **want}
    answered.update(left)
    for key, value in in_order(wanted):
        here = (path + '.' + key).lstrip('.') if re.fullmatch(r'[\w$:-]+', key) else '%s["%s"]' % (path, key)
        if value == '<absent>' or answered[key] == '<absent>':
            if value != answered[key]:
                yield here, value, answered[key]
        else:
            yield from differences(value, answered[key], scope, here)
