/* The adapter of libyaml's parser. */
#include "schema/yaml_node.h"

#include "base/limits.h"
#include "base/map.h"

#include <string.h>
#include <yaml.h>

struct parser {
    yaml_parser_t yaml;
    yaml_event_t event; /* the next one, when `peeked` */
    bool peeked;
    struct arena *arena;
    struct map anchors;
    unsigned depth;
};

static struct status *parse_failure(const yaml_parser_t *yaml)
{
    size_t line = 0;

    if (yaml->problem_mark.line != 0) {
        line = yaml->problem_mark.line + (yaml->error == YAML_SCANNER_ERROR ? 1 : 0);
    } else if (yaml->context_mark.line != 0) {
        line = yaml->context_mark.line;
    }
    const char *problem = yaml->problem != NULL ? yaml->problem : "unknown problem parsing YAML content";

    if (line != 0) {
        return status_new(STATUS_BAD_REQUEST, "yaml: line %zu: %s", line, problem);
    }
    return status_new(STATUS_BAD_REQUEST, "yaml: %s", problem);
}

/* The next event, kept until take(). */
static struct status *peek(struct parser *parser, yaml_event_type_t *ret)
{
    if (!parser->peeked) {
        if (!yaml_parser_parse(&parser->yaml, &parser->event)) {
            return parse_failure(&parser->yaml);
        }
        parser->peeked = true;
    }
    *ret = parser->event.type;
    return NULL;
}

static void take(struct parser *parser)
{
    yaml_event_delete(&parser->event);
    parser->peeked = false;
}

static struct str bytes(struct arena *arena, const yaml_char_t *text)
{
    return text != NULL ? arena_str(arena, str_of((const char *)text)) : (struct str){0};
}

static struct yaml_node *node_new(struct parser *parser, enum yaml_node_kind kind, const yaml_char_t *anchor,
                                  const yaml_char_t *tag)
{
    struct yaml_node *node = ARENA_NEW(parser->arena, struct yaml_node);

    node->kind = kind;
    node->line = (unsigned)parser->event.start_mark.line + 1;
    node->tag = bytes(parser->arena, tag);
    if (anchor != NULL) {
        map_set(&parser->anchors, str_of((const char *)anchor), node);
    }
    return node;
}

static struct status *parse_node(struct parser *parser, struct yaml_node **ret);

static struct status *parse_children(struct parser *parser, struct yaml_node *node, yaml_event_type_t end)
{
    yaml_event_type_t type = YAML_NO_EVENT;

    take(parser);
    if (++parser->depth > LIMIT_DECODE_DEPTH) {
        return status_new(STATUS_BAD_REQUEST, "yaml: exceeded max depth of %d", LIMIT_DECODE_DEPTH);
    }
    for (;;) {
        TRY(peek(parser, &type));
        if (type == end) {
            break;
        }
        struct yaml_node *child;

        TRY(parse_node(parser, &child));
        *LIST_ADD(parser->arena, &node->children) = child;
    }
    parser->depth--;
    take(parser);
    return NULL;
}

static struct status *parse_alias(struct parser *parser, struct yaml_node **ret)
{
    struct yaml_node *node = node_new(parser, YAML_NODE_ALIAS, NULL, NULL);

    node->text = bytes(parser->arena, parser->event.data.alias.anchor);
    node->anchor = map_find(&parser->anchors, node->text);
    take(parser);
    if (node->anchor == NULL) {
        return status_new(STATUS_BAD_REQUEST, "yaml: unknown anchor '%.*s' referenced", STR_ARG(node->text));
    }
    *ret = node;
    return NULL;
}

static struct status *parse_node(struct parser *parser, struct yaml_node **ret)
{
    yaml_event_t *event = &parser->event;
    yaml_event_type_t type = YAML_NO_EVENT;

    TRY(peek(parser, &type));
    switch (type) {
    case YAML_SCALAR_EVENT:
        *ret = node_new(parser, YAML_NODE_SCALAR, event->data.scalar.anchor, event->data.scalar.tag);
        (*ret)->text = arena_str(parser->arena, (struct str){(const char *)event->data.scalar.value,
                                                             event->data.scalar.length});
        (*ret)->implicit = event->data.scalar.plain_implicit != 0;
        take(parser);
        return NULL;
    case YAML_SEQUENCE_START_EVENT:
        *ret = node_new(parser, YAML_NODE_SEQUENCE, event->data.sequence_start.anchor, event->data.sequence_start.tag);
        return parse_children(parser, *ret, YAML_SEQUENCE_END_EVENT);
    case YAML_MAPPING_START_EVENT:
        *ret = node_new(parser, YAML_NODE_MAPPING, event->data.mapping_start.anchor, event->data.mapping_start.tag);
        return parse_children(parser, *ret, YAML_MAPPING_END_EVENT);
    case YAML_ALIAS_EVENT:
        return parse_alias(parser, ret);
    default:
        return status_new(STATUS_BAD_REQUEST, "yaml: attempted to go past the end of stream; corrupted value?");
    }
}

static struct status *parse_document(struct parser *parser, struct yaml_node **ret)
{
    yaml_event_type_t type = YAML_NO_EVENT;

    TRY(peek(parser, &type)); /* the stream's start */
    take(parser);
    TRY(peek(parser, &type));
    if (type == YAML_STREAM_END_EVENT) {
        *ret = NULL;
        return NULL;
    }
    take(parser);
    TRY(parse_node(parser, ret));
    return peek(parser, &type); /* the document's end, or what is wrong there */
}

struct status *yaml_node_parse(struct arena *arena, struct str text, struct yaml_node **ret)
{
    struct parser parser = {.arena = arena};

    if (!yaml_parser_initialize(&parser.yaml)) {
        return status_new(STATUS_INTERNAL_ERROR, "yaml: out of memory");
    }
    yaml_parser_set_input_string(&parser.yaml, (const unsigned char *)(text.n != 0 ? text.p : ""), text.n);
    struct status *status = parse_document(&parser, ret);

    if (parser.peeked) {
        take(&parser);
    }
    map_done(&parser.anchors);
    yaml_parser_delete(&parser.yaml);
    return status;
}
