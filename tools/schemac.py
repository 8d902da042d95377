#!/usr/bin/env python3
"""Makes C structs and constant tables from the descriptions of API types (docs/schema.md has their language).

Usage: tools/schemac.py ROOM OUT_DIRECTORY DESCRIPTION...

For every description that belongs to ROOM (the folder under src/ whose code may include it) writes PACKAGE.h and
PACKAGE.c into OUT_DIRECTORY, and for the room `api` also kinds_table.c, the list of all kinds. Files that would not
change are left alone, so that nothing is built again without need.
"""
import os
import re
import sys

SCALARS = {  # word in a description: enumerator, C type, suffix of a named list or map struct
    'bool': ('BOOL', 'bool'), 'int32': ('INT32', 'int32_t'), 'int64': ('INT64', 'int64_t'),
    'uint32': ('UINT32', 'uint32_t'), 'uint64': ('UINT64', 'uint64_t'), 'double': ('DOUBLE', 'double'),
    'string': ('STRING', 'struct str'), 'bytes': ('BYTES', 'struct str'), 'quantity': ('QUANTITY', 'struct quantity'),
    'time': ('TIME', 'struct timestamp'), 'microtime': ('MICRO_TIME', 'struct timestamp'),
    'duration': ('DURATION', 'int64_t'), 'intorstring': ('INT_OR_STRING', 'struct int_or_string'),
    'rawextension': ('RAW', 'struct raw_json'), 'fieldsv1': ('RAW', 'struct raw_json'),
    'json': ('RAW', 'struct raw_json'), 'any': ('RAW', 'struct raw_json'), 'strings': ('STRINGS', 'struct str_list'),
}
OPENAPI = {'rawextension': 'io.k8s.apimachinery.pkg.runtime.RawExtension',
           'fieldsv1': 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
           'json': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
           'duration': 'io.k8s.apimachinery.pkg.apis.meta.v1.Duration'}
NAMED_LISTS = {'struct str': 'struct str_list'}
NAMED_MAPS = {'struct str': 'struct str_map', 'struct quantity': 'struct quantity_map',
              'struct str_list': 'struct str_list_map', 'struct timestamp': 'struct timestamp_map'}
KEYWORDS = set('''auto bool break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
    while asm typeof true false linux unix'''.split())
VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']


def snake(name):
    """podIP -> pod_ip, clusterIPs -> cluster_ips, CSIDriver -> csi_driver, openAPIV3Schema -> open_api_v3_schema."""
    name = name.replace('APIV3', 'API_V3_').lstrip('$')
    name = re.sub(r'[^A-Za-z0-9]+', '_', name)
    name = re.sub(r'([A-Z])s(?=[A-Z_]|$)', lambda m: m[1] + '\x01', name)  # the plural of an acronym stays with it
    name = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', name)
    name = re.sub(r'([A-Z\x01]+)([A-Z][a-z])', r'\1_\2', name)
    name = re.sub(r'\x01(?=[A-Z])', '\x01_', name)
    name = re.sub(r'_+', '_', name.replace('\x01', 's')).lower().strip('_')
    return name + '_' if name in KEYWORDS else name


def c_string(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def c_str(text):
    return f'STR_INIT({c_string(text)})'


class Field:
    def __init__(self, words, where):
        self.name = '' if words[0] == '-' else words[0]
        self.number = int(words[1])
        text = words[2]
        self.shape = 'PLAIN'
        if text.endswith('?'):
            self.shape, text = 'POINTER', text[:-1]
        elif text.startswith('[]'):
            self.shape, text = 'LIST', text[2:]
        elif text.startswith('{}'):
            self.shape, text = 'MAP', text[2:]
        self.type_text = text
        self.attrs = {}
        for word in words[3:]:
            name, _, value = word.partition('=')
            if name not in ATTRIBUTES:
                raise SystemExit(f'{where}: unknown attribute {name}')
            self.attrs[name] = value
        self.member = snake(self.attrs.get('member') or self.name or text.rsplit('.', 1)[-1])


ATTRIBUTES = {'always', 'omitzero', 'optional', 'required', 'list', 'map', 'struct', 'patch', 'default', 'discriminator',
              'one-of', 'at-most-one-of', 'min', 'max', 'max-items', 'max-length', 'max-bytes', 'format', 'immutable',
              'gate', 'member', 'fill'}


class Type:
    def __init__(self, package, name, flags):
        self.package, self.name, self.flags = package, name, flags
        self.fields = []
        self.c = f'{package.name}_{snake(name)}'


class Kind:
    def __init__(self, package, name):
        self.package, self.name = package, name
        self.resource, self.short, self.categories, self.verbs, self.subs = None, [], [], [], []
        self.c = f'{package.name}_{snake(name)}_kind'


class Package:
    def __init__(self, path):
        self.path = path
        self.name = self.group = self.version = self.openapi = self.proto3 = ''
        self.room, self.rank = 'api', 0
        self.kinds, self.types, self.aliases, self.consts, self.services = {}, {}, {}, [], []
        self.parse()

    def parse(self):
        section = None
        for number, line in enumerate(open(self.path), 1):
            where = f'{self.path}:{number}'
            line = line.rstrip()
            if not line or line.startswith('#'):
                continue
            words = line.split()
            if line[0] != ' ':
                section = self.top(words, where)
            elif section is None:
                raise SystemExit(f'{where}: belongs to nothing')
            else:
                section(words, where, line)

    def top(self, words, where):
        key, rest = words[0], words[1:]
        if key in ('package', 'openapi', 'proto3', 'room', 'rank'):
            setattr(self, 'name' if key == 'package' else key, int(rest[0]) if key == 'rank' else rest[0])
        elif key == 'group':
            self.group, self.version = ('' if rest[0] in ('core', '-') else rest[0]), rest[1].strip('-')
        elif key == 'kind':
            kind = self.kinds[rest[0]] = Kind(self, rest[0])
            return lambda w, at, line: self.kind_line(kind, w, at)
        elif key in ('enum', 'alias'):
            values = []
            self.aliases[rest[0]] = (rest[1], key == 'enum', values)
            return lambda w, at, line: self.const_line(rest[0], values, line)
        elif key == 'const':
            return lambda w, at, line: self.const_line('', [], line)
        elif key == 'type':
            this = self.types[rest[0]] = Type(self, rest[0], set(rest[1:]))
            return lambda w, at, line: this.fields.append(Field(w, at))
        elif key == 'service':
            return lambda w, at, line: self.services.append((rest[0], w, at))
        else:
            raise SystemExit(f'{where}: unknown word {key}')
        return None

    def kind_line(self, kind, words, where):
        if words[0] == 'resource':
            kind.resource = words[1:]
        elif words[0] == 'sub':
            kind.subs.append(words[1:])
        elif words[0] in ('short', 'categories', 'verbs'):
            setattr(kind, words[0], words[1:])
        else:
            raise SystemExit(f'{where}: unknown word {words[0]}')

    def const_line(self, alias, values, line):
        name, literal = line.strip().split(' ', 1)
        values.append(literal.strip())
        prefix = snake(alias) + '_' if alias and self.proto3 else ''
        self.consts.append((f'{self.name}_{prefix}{snake(name)}'.upper(), literal.strip()))


class World:
    def __init__(self, paths):
        self.packages = {}
        for path in paths:
            package = Package(path)
            self.packages[package.name] = package
        self.with_defaults = self.find_defaults()

    def find_defaults(self):
        """C names of the types that have something to be filled in, in themselves or below."""
        found, users = [], {}
        for package in self.packages.values():
            for this in package.types.values():
                inner = [self.resolve(package, field.type_text)[0] for field in this.fields]
                for other in inner:
                    if other is not None:
                        users.setdefault(other.c, []).append(this.c)
                if 'defaults' in this.flags or any(has_default(package, field) for field in this.fields):
                    found.append(this.c)
        done = set()
        while found:
            name = found.pop()
            if name not in done:
                done.add(name)
                found += users.get(name, [])
        return done

    def resolve(self, package, text):
        """(Type or None, word of a scalar, alias (package, name) or None)"""
        if text in SCALARS:
            return None, text, None
        home, _, name = text.rpartition('.')
        where = self.packages.get(home, package) if home else package
        if home and home not in self.packages:
            where, name = package, text
        if name in where.types:
            return where.types[name], None, None
        if name in where.aliases:
            return None, where.aliases[name][0], (where, name)
        raise SystemExit(f'{package.path}: unknown type {text}')


def has_default(package, field):
    """Amounts of core/v1 are rounded up to thousandths, which is a default too."""
    amounts = package.name == 'core_v1' and field.shape == 'MAP' and field.type_text == 'quantity'
    return amounts or 'fill' in field.attrs or 'default' in field.attrs


def go_package(package):
    return package.openapi.rsplit('.', 1)[-1] if package.openapi else package.proto3


def order_types(world, package):
    """Types after those they embed."""
    done, out = set(), []

    def visit(this):
        if this.name in done:
            return
        done.add(this.name)
        for field in this.fields:
            inner = world.resolve(package, field.type_text)[0]
            if inner is not None and inner.package is package and field.shape == 'PLAIN':
                visit(inner)
        out.append(this)
    for this in package.types.values():
        visit(this)
    return out


def c_member(world, package, field):
    inner, scalar, _ = world.resolve(package, field.type_text)
    base = f'struct {inner.c}' if inner else SCALARS[scalar][1]
    if field.shape == 'PLAIN':
        return f'{base} {field.member};'
    if field.shape == 'POINTER':
        return f'{base} *{field.member};'
    if field.shape == 'LIST':
        named = NAMED_LISTS.get(base)
        return f'{named} {field.member};' if named else f'struct {{ {base} *items; size_t len; }} {field.member};'
    if inner:
        return f'struct {{ {base}_entry *items; size_t len; }} {field.member};'
    if base in NAMED_MAPS:
        return f'{NAMED_MAPS[base]} {field.member};'
    return f'struct {{ struct {{ struct str key; {base} value; }} *items; size_t len; }} {field.member};'


def header(world, package):
    guard = f'{package.room}_{package.name}_H'.upper()
    uses, entries = set(), set()
    for this in package.types.values():
        for field in this.fields:
            inner = world.resolve(package, field.type_text)[0]
            if inner is not None and inner.package is not package:
                uses.add(inner.package)
    for other in world.packages.values():  # an entry struct belongs to its value's package, whoever has the map
        for this in other.types.values():
            for field in this.fields:
                inner = world.resolve(other, field.type_text)[0]
                if inner is not None and inner.package is package and field.shape == 'MAP':
                    entries.add(inner.name)
    out = [f'/* Made by tools/schemac.py from {os.path.basename(package.path)}: do not edit. */',
           f'#ifndef {guard}', f'#define {guard}', '', '#include "schema/type.h"']
    out += [f'#include "{p.room}/{p.name}.h"' for p in sorted(uses, key=lambda p: p.name)]
    out.append('')
    seen = {}
    for name, literal in package.consts:
        if seen.setdefault(name, literal) != literal:
            raise SystemExit(f'{package.path}: {name} has two values')
    out += [f'#define {n} ' + (f'STR({v})' if v.startswith('"') else f'({v})') for n, v in seen.items()]
    out.append('')
    out += [f'struct {this.c};' for this in package.types.values()]
    out += [f'struct {package.types[name].c}_entry;' for name in sorted(entries)]
    for this in order_types(world, package):
        out += ['', f'struct {this.c} {{']
        members = set()
        for field in this.fields:
            if field.member in members:
                raise SystemExit(f'{package.path}: {this.name} has {field.member} twice')
            members.add(field.member)
            out.append('    ' + c_member(world, package, field))
        if not this.fields:
            out.append('    char nothing; /* C wants a member */')
        out.append('};')
        if this.name in entries:
            out += [f'struct {this.c}_entry {{', '    struct str key;', f'    struct {this.c} value;', '};']
    out.append('')
    out.append(f'extern const struct package {package.name}_package;')
    out += [f'extern const struct type {this.c}_type;' for this in package.types.values()]
    out += [f'extern const struct kind {kind.c};' for kind in package.kinds.values()]
    out += [f'extern const struct rpc {rpc_name(package, s, w)};' for s, w, _ in package.services]
    out += ['', '#endif', '']
    return '\n'.join(out)


def rpc_name(package, service, words):
    return f'{package.name}_{snake(service)}_{snake(words[0])}_rpc'


def name_hash(name):
    b = name.encode()
    mixed = b[0] | b[len(b) // 2] << 8 | b[-1] << 16 | (len(b) & 255) << 24
    return ((mixed * 0x9e3779b1) & 0xffffffff) >> 15


class Table:
    """The .c file of a package."""

    def __init__(self, world, package):
        self.world, self.package = world, package
        self.out = [f'/* Made by tools/schemac.py from {os.path.basename(package.path)}: do not edit. */',
                    f'#include "{package.room}/{package.name}.h"', '']
        self.enums = {}

    def enum(self, alias):
        where, name = alias
        values = where.aliases[name][2]
        if not values or not values[0].startswith('"'):
            return None, 0
        key = (where.name, name)
        if key not in self.enums:
            c = self.enums[key] = f'{where.name}_{snake(name)}_values'
            self.out.append(f'static const struct str {c}[] = {{' +
                            ', '.join(f'STR_INIT({v})' for v in values) + '};')
        return self.enums[key], len(values)

    def rules(self, this, field, scalar, alias):
        rows, attrs = [], field.attrs
        if alias:
            where, name = alias
            rows.append(f'.type_name = {c_str(go_package(where) + "." + name)}')
            values, count = self.enum(alias)
            if values:
                closed = 'true' if where.aliases[name][1] else 'false'
                rows += [f'.enum_values = {values}', f'.enum_count = {count}', f'.enum_is_closed = {closed}']
        if scalar in OPENAPI:
            rows.append(f'.openapi = {c_str(OPENAPI[scalar])}')
        if 'list' in attrs:
            match = re.fullmatch(r'(\w+)(?:\((.*)\))?', attrs['list'])
            rows.append(f'.list_type = LIST_{match[1].upper()}')
            if match[2]:
                keys = match[2].split(',')
                c = f'{this.c}_{field.member}_keys'
                self.out.append(f'static const struct str {c}[] = {{' + ', '.join(map(c_str, keys)) + '};')
                rows += [f'.keys = {c}', f'.key_count = {len(keys)}']
        for word in ('map', 'struct'):
            if word in attrs:
                rows.append(f'.granularity = GRANULARITY_{attrs[word].upper()}')
        if 'patch' in attrs:
            match = re.fullmatch(r'([\w,]*)(?:\((.*)\))?', attrs['patch'])
            rows.append(f'.patch_strategy = {c_str(match[1])}')
            if match[2]:
                rows.append(f'.patch_merge_key = {c_str(match[2])}')
        for word, member in (('default', 'default_value'), ('fill', 'fill'), ('gate', 'gates'),
                             ('format', 'format')):
            if word in attrs:
                rows.append(f'.{member} = {c_str(attrs[word])}')
        for word in ('one-of', 'at-most-one-of'):
            if word in attrs:
                rows.append(f'.one_of = {c_str(attrs[word])}')
                rows.append(f'.one_of_may_be_none = {"true" if word != "one-of" else "false"}')
        for word in ('max-items', 'max-length', 'max-bytes'):
            if word in attrs:
                rows.append(f'.{word.replace("-", "_")} = {attrs[word]}')
        if not rows and 'min' not in attrs and 'max' not in attrs:
            return 'NULL'
        rows.append(f'.min = {attrs.get("min", "INT64_MIN")}')
        rows.append(f'.max = {attrs.get("max", "INT64_MAX")}')
        c = f'{this.c}_{field.member}_rules'
        self.out.append(f'static const struct field_rules {c} = {{' + ', '.join(rows) + '};')
        return f'&{c}'

    def field(self, this, field):
        inner, scalar, alias = self.world.resolve(self.package, field.type_text)
        kind = 'STRUCT' if inner else SCALARS[scalar][0]
        presence = 'ALWAYS' if 'always' in field.attrs else 'OMITZERO' if 'omitzero' in field.attrs else 'OMITEMPTY'
        flags = [f'FIELD_{w.upper()}' for w in ('optional', 'required', 'discriminator', 'immutable') if w in field.attrs]
        rules = self.rules(this, field, scalar, alias)
        return (f'{{{c_str(field.name)}, {"&" + inner.c + "_type" if inner else "NULL"}, {rules}, '
                f'offsetof(struct {this.c}, {field.member}), {field.number}, TYPE_{kind}, SHAPE_{field.shape}, '
                f'PRESENCE_{presence}, {" | ".join(flags) or "0"}}}')

    def members(self, this, prefix, offset):
        """(name, &field, offset expression) of every JSON key."""
        found = []
        for at, field in enumerate(this.fields):
            here = f'{offset}offsetof(struct {this.c}, {field.member})'
            if field.name:
                found.append((field.name, f'&{this.c}_fields[{at}]', here))
            elif 'union' not in this.flags:
                inner = self.world.resolve(this.package, field.type_text)[0]
                found += self.members(inner, prefix, here + ' + ')
        return found

    def foreign(self, this):
        """Other packages' types inlined here: their field arrays must be visible."""
        return {inner for field in this.fields if not field.name and 'union' not in this.flags
                for inner in [self.world.resolve(this.package, field.type_text)[0]]
                if inner.package is not self.package}

    def type_flags(self, this):
        flags = [f'TYPE_{w}' for w, word in (('UNION', 'union'), ('ATOMIC', 'atomic'), ('ONE_OF', 'one-of'),
                                           ('HAS_FILLER', 'defaults')) if word in this.flags]
        if this.c in self.world.with_defaults:
            flags.append('TYPE_HAS_DEFAULTS')
        if self.package.proto3:
            flags.append('TYPE_PROTO3')
        second = this.fields[1] if len(this.fields) > 1 else None
        if second is not None and this.fields[0].type_text.endswith('TypeMeta') and second.name == 'metadata':
            if second.type_text.endswith('ObjectMeta'):
                flags.append('TYPE_OBJECT')
            elif second.type_text.endswith('ListMeta') and any(f.name == 'items' for f in this.fields):
                flags.append('TYPE_LIST')
        return ' | '.join(flags) or '0'

    def add_type(self, this):
        out = self.out
        fields = [self.field(this, field) for field in this.fields]
        members = self.members(this, '', '')
        size = 2
        while size < 2 * len(members):
            size *= 2
        slots = [0] * size
        for at, (name, _, _) in enumerate(members):
            slot = name_hash(name) & (size - 1)
            while slots[slot]:
                slot = (slot + 1) & (size - 1)
            slots[slot] = at + 1
        numbered = sorted((i for i, f in enumerate(this.fields) if f.number), key=lambda i: this.fields[i].number)
        if fields:
            out.append(f'const struct field {this.c}_fields[] = {{')
            out += [f'    {row},' for row in fields] + ['};']
        if members:
            out.append(f'static const struct type_member {this.c}_members[] = {{')
            out += [f'    {{{where}, (uint32_t)({offset})}},' for _, where, offset in members] + ['};']
            out.append(f'static const uint16_t {this.c}_slots[] = {{{", ".join(map(str, slots))}}};')
        if numbered:
            out.append(f'static const uint16_t {this.c}_numbers[] = {{{", ".join(map(str, numbered))}}};')
        out += [f'const struct type {this.c}_type = {{', f'    .name = {c_str(this.name)},',
                f'    .package = &{self.package.name}_package,', f'    .size = sizeof(struct {this.c}),']
        if fields:
            out.append(f'    .fields = {this.c}_fields, .field_count = {len(fields)},')
        if members:
            out.append(f'    .members = {this.c}_members, .member_count = {len(members)},')
            out.append(f'    .slots = {this.c}_slots, .slot_mask = {size - 1},')
        if numbered:
            out.append(f'    .by_number = {this.c}_numbers, .numbered_count = {len(numbered)},')
        out += [f'    .flags = {self.type_flags(this)},', '};', '']

    def names(self, c, words):
        if not words:
            return '{NULL, 0}'
        self.out.append(f'static const struct str {c}[] = {{' + ', '.join(map(c_str, words)) + '};')
        return f'{{(struct str *){c}, {len(words)}}}'

    def add_kind(self, kind):
        package, out = self.package, self.out
        group = package.group if kind.name not in ('Status', 'List') or package.name != 'meta_v1' else ''
        api_version = f'{group}/{package.version}' if group else package.version
        rows = [f'.group = {c_str(group)}', f'.version = {c_str(package.version)}', f'.kind = {c_str(kind.name)}',
                f'.api_version = {c_str(api_version)}', f'.type = &{package.name}_{snake(kind.name)}_type']
        if kind.resource:
            plural, singular, scope = kind.resource
            rows += [f'.plural = {c_str(plural)}', f'.singular = {c_str(singular.strip("-"))}',
                     f'.namespaced = {"true" if scope == "namespaced" else "false"}']
            rows.append(f'.short_names = {self.names(kind.c + "_short", kind.short)}')
            rows.append(f'.categories = {self.names(kind.c + "_categories", kind.categories)}')
            rows.append('.verbs = ' + (verbs(kind.verbs)))
        if kind.subs:
            out.append(f'static const struct subresource {kind.c}_subs[] = {{')
            for name, where, of, *allowed in kind.subs:
                g, _, v = where.rpartition('/')
                v = v.strip('-')
                out.append(f'    {{{c_str(name)}, {c_str(g)}, {c_str(v)}, {c_str(of)}, {verbs(allowed)}}},')
            out.append('};')
            rows += [f'.subresources = {kind.c}_subs', f'.subresource_count = {len(kind.subs)}']
            if any(sub[0] == 'status' for sub in kind.subs):
                rows.append('.has_status = true')
        if kind.name + 'List' in package.kinds:
            rows.append(f'.list = &{package.kinds[kind.name + "List"].c}')
        if kind.name.endswith('List') and kind.name[:-4] in package.kinds:
            rows.append(f'.item = &{package.kinds[kind.name[:-4]].c}')
        out += [f'const struct kind {kind.c} = {{'] + [f'    {row},' for row in rows] + ['};', '']

    def add_rpc(self, service, words, where):
        streams = [False, False]
        sides = ' '.join(words[1:]).split(' -> ')
        types = []
        for at, side in enumerate(sides):
            streams[at] = side.startswith('stream ')
            types.append(self.world.resolve(self.package, side.replace('stream ', '').strip())[0])
        self.out.append(f'const struct rpc {rpc_name(self.package, service, words)} = {{'
                        f'{c_str(f"/{self.package.proto3}.{service}/{words[0]}")}, &{types[0].c}_type, '
                        f'&{types[1].c}_type, {str(streams[0]).lower()}, {str(streams[1]).lower()}}};')

    def text(self):
        package = self.package
        for this in {other.c: other for t in package.types.values() for other in self.foreign(t)}.values():
            self.out.append(f'extern const struct field {this.c}_fields[];')
        self.out += [f'extern const struct field {t.c}_fields[];' for t in package.types.values() if t.fields]
        api_version = f'{package.group}/{package.version}' if package.group else package.version
        self.out += ['', f'const struct package {package.name}_package = {{'
                     f'{c_str(package.name)}, {c_str(package.group)}, {c_str(package.version)}, {c_str(api_version)}, '
                     f'{c_str(package.openapi)}, {package.rank}}};', '']
        for this in package.types.values():
            self.add_type(this)
        for kind in package.kinds.values():
            self.add_kind(kind)
        for service in package.services:
            self.add_rpc(*service)
        return '\n'.join(self.out) + '\n'


def verbs(words):
    for word in words:
        if word not in VERBS:
            raise SystemExit(f'unknown verb {word}')
    return ' | '.join(f'VERB_{w.upper()}' for w in words) or '0'


def kinds_table(world):
    packages = sorted((p for p in world.packages.values() if p.kinds), key=lambda p: (p.rank or 1000, p.name))
    out = ['/* Made by tools/schemac.py: do not edit. */', '#include "api/kinds.h"']
    out += [f'#include "{p.room}/{p.name}.h"' for p in packages]
    out += ['', 'const struct kind *const kinds_all[] = {']
    out += [f'    &{kind.c},' for p in packages for kind in p.kinds.values()]
    out += ['};', 'const size_t kinds_all_count = sizeof(kinds_all) / sizeof(kinds_all[0]);', '']
    return '\n'.join(out)


def write(path, text):
    if os.path.exists(path) and open(path).read() == text:
        return
    open(path, 'w').write(text)


def main():
    room, target = sys.argv[1:3]
    world = World(sys.argv[3:])
    os.makedirs(target, exist_ok=True)
    for package in world.packages.values():
        if package.room == room:
            write(f'{target}/{package.name}.h', header(world, package))
            write(f'{target}/{package.name}.c', Table(world, package).text())
    if room == 'api':
        write(f'{target}/kinds_table.c', kinds_table(world))


main()
