/* kubectl get: objects as the server's tables, or whole. */
#include "base/task.h"
#include "kubectl/custom_columns.h"
#include "kubectl/json_path.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "kubectl/table.h"

#include <stdlib.h>

struct get_options {
    bool watch, watch_only, no_headers, show_kind, show_labels, ignore_not_found;
    struct flag_strings label_columns;
    struct str raw, sort_by, subresource;
    int64_t chunk_size;
};

struct get {
    struct kubectl *k;
    struct get_options *options;
    struct output output;
    struct selection selection;
    bool has_written;
};

/* Objects fetched, with their kinds. */
struct fetched {
    const struct kind *kind;
    struct value *object;
};
struct fetched_list {
    struct fetched *items;
    size_t len;
};

static bool wants_tables(const struct get *get)
{
    return get->output.format == OUTPUT_PLAIN || get->output.format == OUTPUT_WIDE;
}

static struct str path_of(const struct get *get, const struct selected *selected)
{
    struct kubectl *k = get->k;
    struct str path = selected->name.n > 0 ? client_path(k->arena, selected->kind, selected->namespace, selected->name,
                                                         get->options->subresource)
                                           : selected_path(k, selected);

    if (wants_tables(get) && get->options->sort_by.n > 0) {
        path = path_with(k, path, "includeObject", STR("Object"));
    }
    return path;
}

/* A resource or a whole list, page after page, joined into the first page's value. */
static struct status *fetch(struct get *get, const struct selected *selected, struct value **ret)
{
    struct kubectl *k = get->k;
    struct str items = wants_tables(get) ? STR("rows") : STR("items"), path = path_of(get, selected);
    struct value *whole = NULL, *page;

    if (selected->name.n == 0 && get->options->chunk_size > 0) {
        path = path_with(k, path, "limit", arena_printf(k->arena, "%lld", (long long)get->options->chunk_size));
    }
    for (struct str token = STR("");;) {
        TRY(api_call(k,
                     &(struct api_request){.method = "GET",
                                           .path = path_with(k, path, "continue", token),
                                           .accept = wants_tables(get) ? ACCEPT_TABLE : ACCEPT_JSON},
                     &page));
        if (whole == NULL) {
            whole = page;
        } else {
            VALUE_EACH_ITEM(item, value_find(page, items))
            {
                value_add(k->arena, value_find(whole, items), *item);
            }
        }
        token = value_str_at(page, "metadata.continue");
        if (token.n == 0) {
            *ret = whole;
            return NULL;
        }
    }
}

static bool has_several_kinds(const struct selection *selection)
{
    LIST_EACH(selected, selection)
    {
        if (selected->kind != selection->items[0].kind) {
            return true;
        }
    }
    return false;
}

static struct table_options table_options_of(const struct get *get, const struct kind *kind)
{
    return (struct table_options){
        .wide = get->output.format == OUTPUT_WIDE,
        .no_headers = get->options->no_headers,
        .with_namespace = get->k->selector.all_namespaces && kind->namespaced,
        .with_kind = get->options->show_kind || has_several_kinds(&get->selection),
        .with_labels = get->options->show_labels,
        .label_columns = get->options->label_columns,
    };
}

static void add_rows(struct kubectl *k, struct value *table, const struct value *more)
{
    VALUE_EACH_ITEM(row, value_find(more, STR("rows")))
    {
        value_add(k->arena, value_find(table, STR("rows")), *row);
    }
}

/* Objects by what a path leads to in them: numbers by value, text in natural order of bytes. */
struct sort_key {
    const struct value *key;
    struct value *item;
    size_t index;
};

static int by_key(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    int order = 0;

    if (value_is(a->key, VALUE_INT) && value_is(b->key, VALUE_INT)) {
        order = (a->key->integer > b->key->integer) - (a->key->integer < b->key->integer);
    } else if (a->key == NULL || b->key == NULL) {
        order = (a->key != NULL) - (b->key != NULL);
    } else {
        order = str_cmp(value_str(a->key), value_str(b->key));
    }
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static struct status *sort_items(struct get *get, struct value *items, bool are_rows)
{
    struct kubectl *k = get->k;
    struct sort_key *keys = ARENA_ARRAY(k->arena, struct sort_key, value_count(items));
    struct str path;
    bool found_any = value_count(items) == 0;

    TRY(json_path_relaxed(k->arena, get->options->sort_by, &path));
    for (size_t i = 0; i < value_count(items); i++) {
        struct value *item = value_item(items, i);
        struct json_path_results found;

        TRY(json_path_find(k->arena, path, are_rows ? value_find(item, STR("object")) : item, &found));
        found_any = found_any || found.len > 0;
        keys[i] = (struct sort_key){found.len > 0 ? found.items[0] : NULL, item, i};
    }
    if (!found_any) {
        return error_local("couldn't find any field with path \"%.*s\" in the list of objects", STR_ARG(path));
    }
    qsort(keys, value_count(items), sizeof(*keys), by_key);
    for (size_t i = 0; i < value_count(items); i++) {
        items->array.items[i] = keys[i].item;
    }
    return NULL;
}

static struct status *print_table(struct get *get, const struct kind *kind, struct value *table,
                                  struct table_widths *widths)
{
    OWNED(buf_done) struct buf out = {0};
    struct table_options options = table_options_of(get, kind);

    if (get->options->sort_by.n > 0) {
        TRY(sort_items(get, value_find(table, STR("rows")), true));
    }
    if (value_count(value_find(table, STR("rows"))) == 0) {
        return NULL;
    }
    if (get->has_written && !options.no_headers) {
        buf_add_char(&out, '\n');
    }
    table_print(get->k->arena, kind, table, &options, false, widths, &out);
    output_text(get->k, buf_str(&out));
    get->has_written = true;
    return NULL;
}

static void report_unless_ignored(struct get *get, struct status *status)
{
    if (get->options->ignore_not_found && error_is_not_found(status)) {
        status_free(status);
        get->has_written = true;
        return;
    }
    report_error(get->k, status);
}

static struct status *get_tables(struct get *get)
{
    struct fetched_list tables = {0};
    bool all_namespaced = true;

    LIST_EACH(selected, &get->selection)
    {
        struct value *table;
        struct status *status = fetch(get, selected, &table);
        struct fetched *last = tables.len > 0 ? &tables.items[tables.len - 1] : NULL;

        all_namespaced = all_namespaced && selected->kind->namespaced;
        if (status != NULL) {
            report_unless_ignored(get, status);
        } else if (last != NULL && last->kind == selected->kind) {
            add_rows(get->k, last->object, table);
        } else {
            *LIST_ADD(get->k->arena, &tables) = (struct fetched){selected->kind, table};
        }
    }
    LIST_EACH(table, &tables)
    {
        TRY(print_table(get, table->kind, table->object, NULL));
    }
    if (!get->has_written && get->k->errors.len == 0 && !get->options->ignore_not_found) {
        if (all_namespaced && !get->k->selector.all_namespaces) {
            fprintf(get->k->err, "No resources found in %.*s namespace.\n", STR_ARG(kubectl_namespace(get->k)));
        } else {
            fprintf(get->k->err, "No resources found\n");
        }
    }
    return NULL;
}

static void add_object(struct kubectl *k, struct value *items, const struct kind *kind, struct value *object)
{
    struct value *inner = value_find(object, STR("items"));

    if (!value_is(inner, VALUE_ARRAY)) {
        value_add(k->arena, items, object);
        return;
    }
    VALUE_EACH_ITEM(item, inner)
    {
        value_set(k->arena, *item, STR("apiVersion"), value_string(k->arena, kind->api_version));
        value_set(k->arena, *item, STR("kind"), value_string(k->arena, kind->kind));
        value_add(k->arena, items, *item);
    }
}

static struct value *list_of(struct kubectl *k, struct value *items)
{
    struct value *list = value_object(k->arena), *metadata = value_object(k->arena);

    value_set(k->arena, metadata, STR("resourceVersion"), value_string(k->arena, STR("")));
    value_set(k->arena, list, STR("apiVersion"), value_string(k->arena, STR("v1")));
    value_set(k->arena, list, STR("items"), items);
    value_set(k->arena, list, STR("kind"), value_string(k->arena, STR("List")));
    value_set(k->arena, list, STR("metadata"), metadata);
    return list;
}

static struct status *get_objects(struct get *get)
{
    struct kubectl *k = get->k;
    struct value *items = value_array(k->arena);
    const struct kind *kind = get->selection.len > 0 ? get->selection.items[0].kind : NULL;
    bool is_single = get->selection.is_single && get->selection.len == 1 && get->selection.items[0].name.n > 0;

    LIST_EACH(selected, &get->selection)
    {
        struct value *object;
        struct status *status = fetch(get, selected, &object);

        if (status != NULL) {
            report_unless_ignored(get, status);
        } else {
            add_object(k, items, selected->kind, object);
        }
    }
    if (get->options->sort_by.n > 0) {
        TRY(sort_items(get, items, false));
    }
    if (get->output.format == OUTPUT_CUSTOM_COLUMNS) {
        return value_count(items) > 0 || k->errors.len == 0
                   ? custom_columns_print(k, get->output.template, get->options->no_headers, items->array.items,
                                          value_count(items))
                   : NULL;
    }
    if (is_single) {
        return value_count(items) > 0 ? output_object(k, &get->output, kind, value_item(items, 0), true) : NULL;
    }
    if (k->errors.len > 0 && value_count(items) == 0) {
        return NULL;
    }
    return kind != NULL ? output_object(k, &get->output, kind, list_of(k, items), true) : NULL;
}

/* Prints what one event brings. Tables after the first leave out their columns. */
static struct status *print_event(struct get *get, const struct kind *kind, struct value *object, struct value *columns,
                                  struct table_widths *widths, bool is_first)
{
    OWNED(buf_done) struct buf out = {0};

    if (get->output.format == OUTPUT_CUSTOM_COLUMNS) {
        TRY(custom_columns_print(get->k, get->output.template, true, &object, 1));
    } else if (!wants_tables(get)) {
        TRY(output_object(get->k, &get->output, kind, object, is_first));
    } else {
        struct table_options options = table_options_of(get, kind);

        if (value_count(value_find(object, STR("columnDefinitions"))) == 0 && columns != NULL) {
            value_set(get->k->arena, object, STR("columnDefinitions"), columns);
        }
        table_print(get->k->arena, kind, object, &options, get->has_written, widths, &out);
        output_text(get->k, buf_str(&out));
    }
    get->has_written = true;
    fflush(get->k->out);
    return NULL;
}

static struct status *follow(struct get *get, const struct selected *selected, struct str revision,
                             struct value *columns, struct table_widths *widths)
{
    struct kubectl *k = get->k;
    struct selected all = *selected;
    struct api_watch *watch;
    struct status *status;
    struct str path;

    all.name = STR("");
    path = selected_path(k, &all);
    if (selected->name.n > 0) {
        path = path_with(k, path, "fieldSelector",
                         arena_printf(k->arena, "metadata.name=%.*s", STR_ARG(selected->name)));
    }
    TRY(api_watch_open(k, path_with(k, path, "resourceVersion", revision),
                       wants_tables(get) ? ACCEPT_TABLE : ACCEPT_JSON, &watch));
    for (;;) {
        struct str type;
        struct value *object;

        status = api_watch_next(watch, k->arena, TASK_FOREVER, &type, &object);
        if (status != NULL) {
            break;
        }
        if (columns == NULL) {
            columns = value_find(object, STR("columnDefinitions"));
        }
        status = str_is(type, "BOOKMARK") ? NULL : print_event(get, selected->kind, object, columns, widths, false);
        if (status != NULL) {
            break;
        }
    }
    api_watch_close(watch);
    /* A watch that the server ends is the end of the command, as in stock. */
    return status_free_if(&status, STATUS_SERVICE_UNAVAILABLE) ? NULL : status;
}

static struct status *get_watch(struct get *get)
{
    struct kubectl *k = get->k;
    struct table_widths widths = {0};
    struct value *first;

    if (get->selection.len != 1) {
        return error_local("watch is only supported on individual resources and resource collections - %zu resources "
                           "were found",
                           get->selection.len);
    }
    const struct selected *selected = &get->selection.items[0];

    TRY(fetch(get, selected, &first));
    struct value *columns = value_find(first, STR("columnDefinitions"));
    struct str revision = value_str_at(first, "metadata.resourceVersion");

    if (!get->options->watch_only && wants_tables(get)) {
        TRY(print_table(get, selected->kind, first, &widths));
    } else if (!get->options->watch_only) {
        struct value *items = value_array(k->arena);

        add_object(k, items, selected->kind, first);
        for (size_t i = 0; i < value_count(items); i++) {
            TRY(print_event(get, selected->kind, value_item(items, i), NULL, NULL, i == 0));
        }
    }
    fflush(k->out);
    return follow(get, selected, revision, columns, &widths);
}

static struct status *no_type(struct kubectl *k)
{
    return error_local("You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list "
                       "of supported resources.\n\nerror: Required resource not specified.\nUse \"kubectl explain "
                       "<resource>\" for a detailed description of that resource (e.g. kubectl explain pods).\nSee "
                       "'kubectl get -h' for help and examples");
}

static struct status *get_run(struct kubectl *k, void *arg)
{
    struct get get = {.k = k, .options = arg};
    struct str text;

    if (get.options->raw.n == 0) {
        TRY(output_parse(k, true, &get.output));
    } else {
        if (k->output.format.n > 0) {
            return error_local("--raw and --output are mutually exclusive");
        }
        if (get.options->raw.p[0] != '/') {
            return error_local("--raw must be a valid URL path: parse \"%.*s\": invalid URI for request",
                               STR_ARG(get.options->raw));
        }
        TRY(api_get_text(k, get.options->raw, STR("application/json"), &text));
        output_text(k, text);
        return NULL;
    }
    if (k->args.positional.len == 0 && k->files.names.len == 0) {
        struct status *status = no_type(k);

        fprintf(k->err, "%.*s\n", STR_ARG(status->message));
        status_free(status);
        k->exit_code = 1;
        return NULL;
    }
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len, &(struct selection_rules){.command = "get"},
                     &get.selection));
    if (get.options->watch || get.options->watch_only) {
        return get_watch(&get);
    }
    return wants_tables(&get) ? get_tables(&get) : get_objects(&get);
}

static void get_defaults(struct kubectl *k, void *arg)
{
    ((struct get_options *)arg)->chunk_size = 500;
    k->output.allow_missing_keys = true;
}

static const struct flag get_flags[] = {
    FLAG(BOOL, struct get_options, watch, "watch", 'w', "go on with changes after listing"),
    FLAG(BOOL, struct get_options, watch_only, "watch-only", 0, "changes only, without a list first"),
    FLAG(BOOL, struct get_options, no_headers, "no-headers", 0, "leave out the line of column names"),
    FLAG(BOOL, struct get_options, show_kind, "show-kind", 0, "print kind/name instead of name"),
    FLAG(BOOL, struct get_options, show_labels, "show-labels", 0, "print all labels as the last column"),
    FLAG(BOOL, struct get_options, ignore_not_found, "ignore-not-found", 0, "what is not there is no error"),
    FLAG(STRINGS, struct get_options, label_columns, "label-columns", 'L', "labels to print as columns"),
    FLAG(STRING, struct get_options, raw, "raw", 0, "a path to ask the server for as it is"),
    FLAG(STRING, struct get_options, sort_by, "sort-by", 0, "a JSONPath to sort the list by"),
    FLAG(STRING, struct get_options, subresource, "subresource", 0, "get this part of the resource"),
    FLAG(INT, struct get_options, chunk_size, "chunk-size", 0, "ask for long lists in pieces of this size; 0: at once"),
    FLAG_IGNORE_BOOL("server-print"),
    FLAG_IGNORE_BOOL("output-watch-events"),
};

const struct command command_get = {
    .name = "get",
    .help = "Display one or many resources",
    .usage = "[(-o|--output=)json|yaml|kyaml|name|wide|...] (TYPE[.VERSION][.GROUP] [NAME | -l label] | "
             "TYPE[.VERSION][.GROUP]/NAME ...) [flags]",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR,
    .flags = get_flags,
    .flag_count = COUNT_OF(get_flags),
    .options_size = sizeof(struct get_options),
    .defaults = get_defaults,
    .run = get_run,
};
