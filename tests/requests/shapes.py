"""Makes values in the shape of OpenAPI schemas, and spoils them."""
import json

NAMES = ('a', 'b', 'c', 'web', 'x-y.z', 'default')
TEXTS = NAMES + ('', ' ', '0', '-1', '1', '10%', '100m', '1Gi', '1e3', '9223372036854775808', '10.0.0.1', '10.96.0.1', '::1', 'fd00::/64',
                 '10.0.0.0/24', '300.1.1.1', 'http', 'TCP', 'Always', 'Never', 'true', 'null', 'A/b', 'example.com/name', 'a=b,c notin (d)',
                 'https://127.0.0.1:1/x', '/etc/passwd', '../..', '2026-01-02T03:04:05Z', '2026-02-30T99:00:00Z', '-9999-01-01T00:00:00Z',
                 'self.x > 1', 'object.spec.replicas <= 5', '{.spec.x[0]}', '*', '**', '%s%n', '\0', '\u0001\t\n', 'ž🐎\u202e', '\ud800',
                 'A' * 63, 'a' * 64, 'a' * 254, 'x' * 5000, '* * * * *', '@every 1s', 'YWJj', '!!!', '-----BEGIN CERTIFICATE-----')
NUMBERS = (0, 1, -1, 2, 3, 80, 443, 65535, 65536, 100, 600, 2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 53, 2 ** 63 - 1, 2 ** 63, -2 ** 63, 1.5, 1e308)


class Maker:
    """Makes values by the schemas of one OpenAPI document; `random` decides."""

    def __init__(self, document, random):
        self.schemas = document.get('components', {}).get('schemas', {})
        self.random = random

    def kinds(self, schema):
        return self.look(schema).get('x-kubernetes-group-version-kind', [])

    def look(self, schema):
        for _ in range(8):
            if 'allOf' in schema:
                schema = schema['allOf'][0]
            elif '$ref' in schema:
                schema = self.schemas.get(schema['$ref'].rpartition('/')[2], {})
            else:
                break
        return schema

    def value(self, schema, depth=0):
        pick, schema = self.random, self.look(schema)
        if pick.random() < 0.02:
            return junk(pick)
        if schema.get('enum'):
            return pick.choice(schema['enum'])
        if 'oneOf' in schema:
            return pick.choice((self.text(schema), pick.choice(NUMBERS)))
        kind = schema.get('type')
        if kind == 'string':
            return self.text(schema)
        if kind == 'integer':
            return pick.choice(NUMBERS[:18] if pick.random() < 0.3 else NUMBERS[:11])
        if kind == 'number':
            return pick.choice(NUMBERS)
        if kind == 'boolean':
            return pick.random() < 0.5
        if kind == 'array':
            return [self.value(schema.get('items', {}), depth + 1) for _ in range(pick.choice((0, 1, 1, 2, 3)) if depth < 9 else 0)]
        if 'properties' in schema:
            return self.object(schema, depth)
        if isinstance(schema.get('additionalProperties'), dict):
            return {pick.choice(TEXTS): self.value(schema['additionalProperties'], depth + 1) for _ in range(pick.choice((0, 1, 2)))}
        return junk(pick)

    def text(self, schema):
        if schema.get('format') == 'date-time' and self.random.random() < 0.8:
            return '2026-01-02T03:04:05Z'
        return self.random.choice(NAMES if self.random.random() < 0.5 else TEXTS)

    def object(self, schema, depth):
        pick, made = self.random, {}
        chance = 0.7 / (1 + depth * 0.4)
        for name, inner in schema['properties'].items():
            if name == 'status' and depth == 0 and pick.random() < 0.7:
                continue
            if name in schema.get('required', ()) and pick.random() < 0.97 or depth < 9 and pick.random() < chance:
                made[name] = self.value(inner, depth + 1)
        return made


def junk(pick, depth=0):
    """Any JSON at all."""
    kind = pick.randrange(7 if depth < 4 else 5)
    if kind == 5:
        return [junk(pick, depth + 1) for _ in range(pick.randrange(4))]
    if kind == 6:
        return {pick.choice(TEXTS): junk(pick, depth + 1) for _ in range(pick.randrange(4))}
    return (None, True, pick.choice(NUMBERS), pick.choice(TEXTS), {})[kind]


def spoil(value, pick):
    """Changes a value somewhere: another type, a part less, a part twice. The value itself is changed; returns it."""
    places = []

    def walk(inner):
        for key in list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ():
            places.append((inner, key))
            walk(inner[key])
    walk(value)
    for _ in range(pick.choice((1, 1, 2, 4))):
        if not places:
            break
        holder, key = pick.choice(places)
        if isinstance(holder, dict) and key not in holder or isinstance(holder, list) and key >= len(holder):
            continue
        change = pick.randrange(5)
        if change == 0:
            del holder[key]
        elif change == 1:
            holder[key] = junk(pick)
        elif change == 2 and isinstance(holder, list):
            holder.append(json.loads(json.dumps(holder[key])))
        elif change == 2:
            holder[pick.choice(TEXTS)] = holder[key]
        elif change == 3:
            holder[key] = pick.choice(TEXTS)
        else:
            holder[key] = pick.choice(NUMBERS)
    return value


def spoil_bytes(data, pick):
    """What no decoder should take, and none may fall over."""
    data, at = bytearray(data), pick.randrange(max(1, len(data)))
    change = pick.randrange(6)
    if change == 0:
        return bytes(data[:at])
    if change == 1:
        return bytes(data[:at]) + bytes(pick.randrange(256) for _ in range(8)) + bytes(data[at:])
    if change == 2:
        return pick.choice((b'[', b'{"a":')) * pick.choice((50, 2000, 100000))
    if change == 3:
        return b'k8s\0' + bytes(pick.randrange(256) for _ in range(pick.randrange(200)))
    if change == 4 and data:
        data[at] ^= 1 << pick.randrange(8)
        return bytes(data)
    return bytes(data) + pick.choice((b'}', b' {}', b'\0', b',', b'\xff\xfe'))
