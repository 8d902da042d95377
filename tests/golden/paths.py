"""The paths that scenarios name parts of an answer by: a.b, a[0], a[*], *, a["x/y.z"], a[name=n]; with ~keys, ~len or ~type at
the end they take the sorted keys, the length or the type."""
import re

STEP = re.compile(r'\.?(?P<name>[A-Za-z_$][\w$/-]*)|\["(?P<quoted>[^"]+)"\]|\[(?P<index>\d+)\]|(?P<all>\[\*\]|\.?\*)|'
                  r'\[(?P<field>[\w.]+)=(?P<value>[^\]]+)\]')
ENDINGS = {'': lambda value: value, 'keys': sorted, 'len': len, 'type': lambda value: type(value).__name__}


def children(value, step):
    """The (container, key) pairs that one step of a path leads to."""
    name = step['name'] or step['quoted']
    if name:
        return [(value, name)] if isinstance(value, dict) and name in value else []
    if step['index']:
        return [(value, int(step['index']))] if isinstance(value, list) and int(step['index']) < len(value) else []
    if step['field']:
        return [(value, i) for i, item in enumerate(value if isinstance(value, list) else [])
                if step['value'] in [str(c[k]) for c, k in places(item, step['field'])]]
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [(value, key) for key in keys]


def places(root, path):
    """All (container, key) pairs that a path names."""
    found, at = [([root], 0)], 0
    while at < len(path):
        step = STEP.match(path, at)
        if not step:
            raise ValueError('bad path %r at %d' % (path, at))
        at = step.end()
        found = [place for container, key in found for place in children(container[key], step)]
    return found


def pick(root, path):
    """The value at a path, '<absent>' when there is none; a list of all values when the path has a *."""
    path, _, ending = path.partition('~')
    values = [ENDINGS[ending](container[key]) for container, key in places(root, path)]
    return values if '*' in path else values[0] if values else '<absent>'
