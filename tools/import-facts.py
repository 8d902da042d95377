#!/usr/bin/env python3
"""Turns tables of facts about a Kubernetes release into the descriptions under schema/.

Usage: tools/import-facts.py FACTS SCHEMA

Run once a release, by hand; afterwards the descriptions are the source of truth and are edited as they are
(docs/schema.md has the language). FACTS holds types/GROUP_VERSION.tsv, wire/*.tsv and discovery/*.json.
"""
import collections
import csv
import json
import os
import re
import sys

GROUPS = {  # name of the file: group, OpenAPI package
    'admission_v1': ('admission.k8s.io', 'io.k8s.api.admission.v1'),
    'admissionregistration_v1': ('admissionregistration.k8s.io', 'io.k8s.api.admissionregistration.v1'),
    'apidiscovery_v2': ('apidiscovery.k8s.io', 'io.k8s.api.apidiscovery.v2'),
    'apidiscovery_v2beta1': ('apidiscovery.k8s.io', 'io.k8s.api.apidiscovery.v2beta1'),
    'apiextensions_v1': ('apiextensions.k8s.io', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'),
    'apiregistration_v1': ('apiregistration.k8s.io', 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1'),
    'apps_v1': ('apps', 'io.k8s.api.apps.v1'),
    'authentication_v1': ('authentication.k8s.io', 'io.k8s.api.authentication.v1'),
    'authorization_v1': ('authorization.k8s.io', 'io.k8s.api.authorization.v1'),
    'autoscaling_v1': ('autoscaling', 'io.k8s.api.autoscaling.v1'),
    'autoscaling_v2': ('autoscaling', 'io.k8s.api.autoscaling.v2'),
    'batch_v1': ('batch', 'io.k8s.api.batch.v1'),
    'certificates_v1': ('certificates.k8s.io', 'io.k8s.api.certificates.v1'),
    'coordination_v1': ('coordination.k8s.io', 'io.k8s.api.coordination.v1'),
    'core_v1': ('core', 'io.k8s.api.core.v1'),
    'discovery_v1': ('discovery.k8s.io', 'io.k8s.api.discovery.v1'),
    'events_v1': ('events.k8s.io', 'io.k8s.api.events.v1'),
    'flowcontrol_v1': ('flowcontrol.apiserver.k8s.io', 'io.k8s.api.flowcontrol.v1'),
    'meta_v1': ('meta.k8s.io', 'io.k8s.apimachinery.pkg.apis.meta.v1'),
    'metrics_v1beta1': ('metrics.k8s.io', 'io.k8s.metrics.pkg.apis.metrics.v1beta1'),
    'networking_v1': ('networking.k8s.io', 'io.k8s.api.networking.v1'),
    'node_v1': ('node.k8s.io', 'io.k8s.api.node.v1'),
    'policy_v1': ('policy', 'io.k8s.api.policy.v1'),
    'rbac_v1': ('rbac.authorization.k8s.io', 'io.k8s.api.rbac.v1'),
    'resource_v1': ('resource.k8s.io', 'io.k8s.api.resource.v1'),
    'scheduling_v1': ('scheduling.k8s.io', 'io.k8s.api.scheduling.v1'),
    'storage_v1': ('storage.k8s.io', 'io.k8s.api.storage.v1'),
    'storagemigration_v1': ('storagemigration.k8s.io', 'io.k8s.api.storagemigration.v1'),
    'version': ('-', 'io.k8s.apimachinery.pkg.version'),
}
WIRE = {  # facts: our name, package of the services
    'cri-runtime-v1': ('cri_v1', 'runtime.v1'),
    'csi-v1': ('csi_v1', 'csi.v1'),
    'device-plugin-v1beta1': ('device_plugin_v1beta1', 'v1beta1'),
    'etcd-v3': ('etcd_v3', 'etcdserverpb'),
    'plugin-registration-v1': ('plugin_registration_v1', 'pluginregistration'),
}
BUILTIN = {'string': 'string', 'bool': 'bool', 'int32': 'int32', 'int64': 'int64', 'int': 'int32', 'byte': 'int32',
           'uint8': 'int32', 'uint32': 'uint32', 'uint64': 'uint64', 'float64': 'double', 'double': 'double',
           'bytes': 'bytes', 'any': 'any', 'types.UID': 'string', 'UID': 'string', 'types.NodeName': 'string',
           'resource.Quantity': 'quantity', 'Quantity': 'quantity',
           'runtime.RawExtension': 'rawextension', 'intstr.IntOrString': 'intorstring', 'time.Duration': 'duration'}
META_BUILTIN = {'Time': 'time', 'MicroTime': 'microtime', 'Duration': 'duration', 'FieldsV1': 'fieldsv1'}
NOT_MESSAGES = {'meta_v1': {'Time', 'MicroTime', 'Duration', 'FieldsV1', 'Timestamp', 'FieldsV1Reader',
                            'ObjectMetaAccessor', 'Object', 'ListMetaAccessor', 'Common', 'Type', 'ListInterface',
                            'ShardedListInterface', 'InternalEvent'},
                'apiextensions_v1': {'JSON'}, 'core_v1': set()}
UNIONS = {'JSONSchemaPropsOrArray': ['schema', 'jsonSchemas'], 'JSONSchemaPropsOrBool': ['allows', 'schema'],
          'JSONSchemaPropsOrStringArray': ['schema', 'property']}


class Package:
    def __init__(self, name):
        self.name = name
        self.types = {}    # name: (markers, [rows])
        self.aliases = {}  # name: (type, closed)
        self.consts = collections.OrderedDict()  # type: [(name, literal)]


def read_types(path):
    package = Package(os.path.basename(path)[:-4])
    for row in csv.reader(open(path), delimiter='\t', quoting=csv.QUOTE_NONE):
        row += [''] * (7 - len(row))
        kind, name = row[0], row[1]
        if kind == 'type':
            package.types.setdefault(name, (row[6], []))
        elif kind == 'field':
            package.types.setdefault(name, ('', []))[1].append(row)
        elif kind == 'alias':
            package.aliases[name] = (row[2], 'enum' in row[6].split('; '))
        elif kind == 'const':
            package.consts.setdefault(name, []).append((row[2], row[3]))
    return package


def resolve(packages, package, text):
    """A type of the facts in our notation: `T`, `T?`, `[]T`, `{}T`."""
    for prefix, shape in (('ptr<', '{0}?'), ('list<', '[]{0}')):
        if text.startswith(prefix):
            return shape.format(resolve(packages, package, text[len(prefix):-1]))
    if text.startswith('map<'):
        return '{}' + resolve(packages, package, text[4:-1].split(',', 1)[1])
    if text in BUILTIN:
        return BUILTIN[text]
    home, name = package, text
    if '.' in text:
        where, name = text.rsplit('.', 1)
        if where in ('metav1', 'v1') and (where == 'metav1' or name not in packages['core_v1'].types
                                          and name not in packages['core_v1'].aliases):
            home = packages['meta_v1']
        elif where in ('v1', 'corev1', 'apiv1'):
            home = packages['core_v1']
        else:
            home = next((p for key, p in packages.items() if where in (key, key.replace('_', ''))), None)
        if home is None:  # described by hand
            return re.sub('(?=v1alpha3)', '_', where) + '.' + name
    if home.name == 'meta_v1' and name in META_BUILTIN:
        return META_BUILTIN[name]
    if home.name == 'apiextensions_v1' and name == 'JSON':
        return 'json'
    if name in home.aliases:
        target, closed = home.aliases[name]
        if target == 'list<string>':
            return 'strings'
        if target not in ('string', 'int32', 'int64', 'any'):
            return resolve(packages, home, target)
        if target in home.aliases:  # a second name for an enum
            name = target
    elif name not in home.types:
        raise SystemExit(f'{package.name}: unknown type {text!r} {home.name}')
    return name if home is package else f'{home.name}.{name}'


def literal_of(packages, package, text):
    match = re.fullmatch(r'ref\((.*)\)', text)
    if match:
        for rows in package.consts.values():
            for name, literal in rows:
                if name == match[1]:
                    return literal
        raise SystemExit(f'{package.name}: no constant {match[1]}')
    return text


RULES = {'minimum': 'min', 'maximum': 'max', 'maxItems': 'max-items', 'maxLength': 'max-length',
         'maxBytes': 'max-bytes', 'format': 'format', 'immutable': 'immutable'}


def attributes(packages, package, row):
    out = [] if row[5] == 'omitempty' else [row[5]]
    keys, merge, seen = [], {}, {}
    for marker in row[6].split('; '):
        name, _, value = marker.partition('=')
        since = re.match(r'k8s:(alpha|beta)\(since: ?"[\d.]+"\)$', name)
        if since and since[1] == 'alpha':
            continue  # not enforced by default
        if since:
            name, _, value = value.lstrip('+').partition('=')
        if name == 'optional':
            seen['optional'] = None
        elif name in ('required', 'k8s:required'):
            seen['required'] = None
        elif name == 'kubebuilder:validation:Required':
            pass
        elif name == 'listType':
            seen['list'] = value
        elif name == 'listMapKey':
            keys.append(value)
        elif name == 'mapType':
            seen['map'] = value
        elif name == 'structType':
            seen['struct'] = value
        elif name in ('patchStrategy', 'patchMergeKey'):
            merge[name] = value
        elif name == 'default':
            seen['default'] = literal_of(packages, package, value)
        elif name == 'featureGate':
            seen['gate'] = value
        elif name in ('oneOf', 'zeroOrOneOf'):
            seen['one-of' if name == 'oneOf' else 'at-most-one-of'] = value
        elif name == 'unionDiscriminator':
            seen['discriminator'] = None
        elif name.startswith('k8s:') and name[4:] in RULES:
            seen[RULES[name[4:]]] = value.strip('"') or None
    if seen.get('list') == 'map':
        seen['list'] = f"map({','.join(keys)})"
    if merge:
        key = merge.get('patchMergeKey')
        seen['patch'] = merge.get('patchStrategy', '') + (f'({key})' if key else '')
    if 'required' in seen:
        seen.pop('optional', None)
    order = ['optional', 'required', 'list', 'map', 'struct', 'patch', 'default', 'discriminator', 'one-of',
             'at-most-one-of', 'min', 'max', 'max-items', 'max-length', 'max-bytes', 'format', 'immutable', 'gate']
    for name in order:
        if name in seen:
            out.append(name if seen[name] is None else f'{name}={seen[name]}')
    return out


def discovery(facts):
    found, order = {}, {}
    for name in ('api', 'apis'):
        for item in json.load(open(f'{facts}/discovery/{name}-aggregated.json'))['items']:
            group = item['metadata'].get('name', '') or 'core'
            for version in item['versions']:
                order.setdefault((group, version['version']), len(order) + 1)
                for resource in version['resources']:
                    kind = resource['responseKind']['kind']
                    found[(group, version['version'], kind)] = resource
    pods = {'resource': 'pods', 'singularResource': '', 'scope': 'Namespaced', 'verbs': ['get', 'list']}
    nodes = {'resource': 'nodes', 'singularResource': '', 'scope': 'Cluster', 'verbs': ['get', 'list']}
    found[('metrics.k8s.io', 'v1beta1', 'PodMetrics')] = pods
    found[('metrics.k8s.io', 'v1beta1', 'NodeMetrics')] = nodes
    return found, order


def write_kind(out, name, resource):
    out.append(f'kind {name}')
    if resource is None:
        return
    out.append(f"  resource {resource['resource']} {resource['singularResource'] or '-'} {resource['scope'].lower()}")
    if resource.get('shortNames'):
        out.append('  short ' + ' '.join(resource['shortNames']))
    if resource.get('categories'):
        out.append('  categories ' + ' '.join(resource['categories']))
    out.append('  verbs ' + ' '.join(resource['verbs']))
    for sub in resource.get('subresources', []):
        kind = sub['responseKind']
        where = f"{kind['group']}/{kind['version']}" if kind.get('version') else '-'
        out.append(f"  sub {sub['subresource']} {where} {kind['kind']} {' '.join(sub['verbs'])}")


def columns(rows):
    widths = [max((len(r[i]) for r in rows), default=0) for i in range(3)]
    return [('  ' + '  '.join(c.ljust(w) for c, w in zip(r[:3], widths)) + '  ' + ' '.join(r[3:])).rstrip()
            for r in rows]


def write_package(packages, package, facts, target, found, order):
    group, openapi = GROUPS[package.name]
    version = package.name.rsplit('_', 1)[1] if '_' in package.name else '-'
    out = [f'# {group}/{version}: its kinds, types and constants. docs/schema.md has the language.',
           f'package {package.name}', f'group {group} {version}', f'openapi {openapi}']
    if package.name in ('meta_v1', 'version'):
        out.append('room schema')
    if (group, version) in order:
        out.append(f'rank {order[(group, version)]}')
    out.append('')
    skip = NOT_MESSAGES.get(package.name, set())
    for name, (_, rows) in package.types.items():
        if any(not r[2] and r[3].split('.')[-1] == 'TypeMeta' for r in rows):
            write_kind(out, name, found.get((group, version, name)))
    if package.name == 'meta_v1':
        write_kind(out, 'WatchEvent', None)
    if out[-1]:
        out.append('')
    placed = set()
    for name, (target_type, closed) in package.aliases.items():
        if name in skip or target_type not in ('string', 'int32', 'int64'):
            continue
        out.append(f"{'enum' if closed else 'alias'} {name} {target_type}")
        out += [f'  {const} {literal}' for const, literal in package.consts.get(name, [])]
        placed.add(name)
    left = [row for key, rows in package.consts.items() if key not in placed for row in rows]
    if left:
        out += ['const'] + [f'  {const} {literal}' for const, literal in left]
    for name, (markers, rows) in package.types.items():
        if name in skip:
            continue
        flags = ['union'] if name in UNIONS else []
        flags += ['atomic'] if 'structType=atomic' in markers else []
        flags += ['one-of'] if 'union' in markers.split('; ') else []
        out += ['', ' '.join([f'type {name}'] + flags)]
        lines = []
        for at, row in enumerate(rows):
            number = row[4].split(':')[0] or '0'
            line = [row[2] or '-', number, resolve(packages, package, row[3])] + attributes(packages, package, row)
            if name in UNIONS:
                line[0] = '-'
                line.append(f'member={UNIONS[name][at]}')
            elif not row[2]:
                line = [word for word in line if word != 'always']
            lines.append(line)
        out += columns(lines)
    open(f'{target}/{package.name}.k', 'w').write('\n'.join(out).rstrip() + '\n')


GOOGLE = {'google.protobuf.Timestamp': ('Timestamp', [('seconds', 'int64'), ('nanos', 'int32')]),
          'google.protobuf.Int64Value': ('Int64Value', [('value', 'int64')]),
          'google.protobuf.BoolValue': ('BoolValue', [('value', 'bool')])}


def write_wire(facts, source, target):
    name, wire = WIRE[source]
    rows = [line.rstrip('\n').split('\t') for line in open(f'{facts}/wire/{source}.tsv')]
    enums, messages, services = collections.OrderedDict(), collections.OrderedDict(), collections.OrderedDict()
    for row in rows:
        if row[0] == 'enum':
            enums.setdefault(row[1], []).append((row[2], row[3]))
    enum_names = {key.rsplit('.', 1)[-1] for key in enums}

    def message(text):
        text = re.sub(r'^(mvccpb|authpb|v3lockpb|membershippb)\.', '', text)
        if text in GOOGLE:
            text, fields = GOOGLE[text]
            messages.setdefault(text, [[f, str(n + 1), t] for n, (f, t) in enumerate(fields)])
        return text

    def scalar(text):
        if text in BUILTIN:
            return BUILTIN[text]
        return 'int32' if text.rsplit('.', 1)[-1] in enum_names and text not in known else message(text)

    known = {row[1] for row in rows if row[0] == 'field'}
    for row in rows:
        if row[0] == 'rpc':
            for text in row[3:5]:
                messages.setdefault(message(text.replace('stream ', '')), [])
            services.setdefault(row[1], []).append([row[2], row[3], row[4]])
        elif row[0] == 'field':
            text, _, one = row[3].partition(' oneof:')
            if text.startswith('repeated '):
                text = '[]' + scalar(text[9:])
            elif text.startswith('map<'):
                text = '{}' + scalar(text[4:-1].split(',')[1])
            else:
                text = scalar(text)
                if one or text not in BUILTIN.values():
                    text += '?'
            line = [row[2], row[4], text] + ([f'one-of={one}'] if one else [])
            here = messages.setdefault(row[1], [])
            if line not in here:
                here.append(line)
    for fields in list(messages.values()):
        for line in fields:
            base = line[2].strip('[]{}?')
            if base not in BUILTIN.values():
                messages.setdefault(base, [])
    out = [f'# The messages and services of {wire}, as protobuf 3.', f'package {name}', f'proto3 {wire}', 'room schema', '']
    for service, calls in services.items():
        out.append(f'service {service}')
        width = max(len(c[0]) for c in calls)
        out += [f'  {c[0].ljust(width)}  {message_arrow(c[1])} -> {message_arrow(c[2])}' for c in calls]
        out.append('')
    for enum, values in enums.items():
        out.append(f'enum {enum} int32')
        out += [f'  {value} {number}' for value, number in values]
    for text, fields in messages.items():
        out += ['', f'type {text}'] + columns(fields)
    open(f'{target}/{name}.k', 'w').write('\n'.join(out).rstrip() + '\n')


def message_arrow(text):
    return 'stream ' + text[7:] if text.startswith('stream ') else text


def main():
    facts, target = sys.argv[1:]
    packages = {}
    for file in sorted(os.listdir(f'{facts}/types')):
        package = read_types(f'{facts}/types/{file}')
        packages[package.name] = package
    found, order = discovery(facts)
    for name in GROUPS:
        write_package(packages, packages[name], facts, target, found, order)
    for source in WIRE:
        write_wire(facts, source, target)


main()
