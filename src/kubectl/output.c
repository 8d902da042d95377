#include "kubectl/output.h"

#include "base/file.h"
#include "kubectl/custom_columns.h"
#include "kubectl/discovery.h"
#include "kubectl/json_path.h"
#include "kubectl/kyaml.h"
#include "kubectl/report.h"
#include "schema/json.h"
#include "schema/object.h"
#include "schema/yaml.h"

#define TEMPLATE_BYTES_MAX ((size_t)1 << 20)

static struct status *unknown_format(struct str format, bool tables)
{
    return error_local("unable to match a printer suitable for the output format \"%.*s\", allowed formats are: "
                       "%sgo-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,"
                       "template,templatefile,%syaml",
                       STR_ARG(format), tables ? "custom-columns,custom-columns-file," : "", tables ? "wide," : "");
}

/* "jsonpath=TEMPLATE", or the template from --template; "-file" formats read it. */
static struct status *template_of(struct kubectl *k, struct str text, bool is_file, struct output *ret)
{
    ret->template = text.n > 0 ? text : k->output.template;
    if (ret->template.n == 0) {
        return error_local(ret->format == OUTPUT_CUSTOM_COLUMNS
                               ? "custom-columns format specified but no custom columns given"
                               : "template format specified but no template given");
    }
    if (is_file) {
        struct status *status =
            file_read(k->arena, arena_cstr(k->arena, ret->template), TEMPLATE_BYTES_MAX, &ret->template);

        if (status != NULL) {
            status->code = 0;
            return status_while(status, "error reading template");
        }
    }
    return NULL;
}

struct status *output_parse(struct kubectl *k, bool tables, struct output *ret)
{
    static const struct {
        const char *name;
        enum output_format format;
        bool takes_template, is_file, needs_tables;
    } formats[] = {
        {"", OUTPUT_PLAIN, false, false, false},
        {"wide", OUTPUT_WIDE, false, false, true},
        {"name", OUTPUT_NAME, false, false, false},
        {"json", OUTPUT_JSON, false, false, false},
        {"yaml", OUTPUT_YAML, false, false, false},
        {"kyaml", OUTPUT_KYAML, false, false, false},
        {"jsonpath", OUTPUT_JSONPATH, true, false, false},
        {"jsonpath-file", OUTPUT_JSONPATH, true, true, false},
        {"jsonpath-as-json", OUTPUT_JSONPATH_AS_JSON, true, false, false},
        {"custom-columns", OUTPUT_CUSTOM_COLUMNS, true, false, true},
        {"custom-columns-file", OUTPUT_CUSTOM_COLUMNS, true, true, true},
    };
    struct str name, template;

    str_cut(k->output.format, '=', &name, &template);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_is(name, formats[i].name) && (tables || !formats[i].needs_tables)) {
            *ret = (struct output){.format = formats[i].format};
            if (!formats[i].takes_template) {
                return NULL;
            }
            TRY(template_of(k, template, formats[i].is_file, ret));
            return ret->format == OUTPUT_CUSTOM_COLUMNS
                       ? custom_columns_check(k, ret->template, formats[i].is_file)
                       : json_path_check(k->arena, ret->template);
        }
    }
    return unknown_format(k->output.format, tables);
}

/* People do not want to see who owns which field, unless they say so. */
static void hide_managed_fields(struct kubectl *k, struct value *object)
{
    struct value *metadata = value_find(object, STR("metadata"));

    if (!k->output.show_managed_fields && value_is(metadata, VALUE_OBJECT)) {
        value_delete(metadata, STR("managedFields"));
    }
    VALUE_EACH_ITEM(item, value_find(object, STR("items")))
    {
        hide_managed_fields(k, *item);
    }
}

static void print_names(struct kubectl *k, const struct kind *kind, struct value *object)
{
    struct value *items = value_find(object, STR("items"));

    if (items == NULL) {
        fprintf(k->out, "%.*s/%.*s\n", STR_ARG(kind_label(k->arena, kind)),
                STR_ARG(value_str_at(object, "metadata.name")));
        return;
    }
    VALUE_EACH_ITEM(item, items)
    {
        const struct kind *its = kind;

        if (value_str_at(*item, "kind").n > 0) {
            struct status *status =
                discovery_find_kind(k, value_str_at(*item, "apiVersion"), value_str_at(*item, "kind"), &its);

            status_free(status);
        }
        print_names(k, its != NULL ? its : kind, *item);
    }
}

struct status *output_object(struct kubectl *k, const struct output *output, const struct kind *kind,
                             struct value *object, bool is_first)
{
    OWNED(buf_done) struct buf out = {0};
    struct status *status = NULL;

    if (output->format == OUTPUT_JSON || output->format == OUTPUT_YAML || output->format == OUTPUT_KYAML) {
        hide_managed_fields(k, object);
    }
    switch (output->format) {
    case OUTPUT_NAME:
        print_names(k, kind, object);
        break;
    case OUTPUT_JSON:
        value_write_json(&out, object, VALUE_JSON_SORTED | VALUE_JSON_INDENT);
        buf_add_char(&out, '\n');
        break;
    case OUTPUT_YAML:
        buf_add_str(&out, is_first ? STR("") : STR("---\n"));
        yaml_write(&out, object);
        break;
    case OUTPUT_KYAML:
        kyaml_write(&out, object);
        break;
    case OUTPUT_JSONPATH:
        status = json_path_print(k->arena, output->template, object, k->output.allow_missing_keys, &out);
        break;
    case OUTPUT_JSONPATH_AS_JSON:
        status = json_path_print_json(k->arena, output->template, object, &out);
        break;
    case OUTPUT_PLAIN:
    case OUTPUT_WIDE:
    case OUTPUT_CUSTOM_COLUMNS:
        break; /* tables are the business of `get` */
    }
    output_text(k, buf_str(&out));
    return status;
}

void output_text(struct kubectl *k, struct str text)
{
    if (text.n > 0) {
        fwrite(text.p, 1, text.n, k->out);
    }
}

const char *output_dry_run(const struct kubectl *k)
{
    return k->write.dry_run == DRY_RUN_CLIENT ? " (dry run)" : k->write.dry_run == DRY_RUN_SERVER ? " (server dry run)" : "";
}

struct status *output_done(struct kubectl *k, const struct output *output, const struct kind *kind,
                           struct value *object, struct str name, const char *done, bool is_first)
{
    if (output->format != OUTPUT_PLAIN) {
        return output_object(k, output, kind, object, is_first);
    }
    fprintf(k->out, "%.*s/%.*s %s%s\n", STR_ARG(kind_label(k->arena, kind)), STR_ARG(name), done, output_dry_run(k));
    return NULL;
}

struct value *output_value_of(struct kubectl *k, const struct kind *kind, void *object)
{
    struct buf text = {0};
    struct object *meta = object;
    struct value *value = NULL;

    meta->type_meta.api_version = kind->api_version;
    meta->type_meta.kind = kind->kind;
    json_encode(kind->type, object, &text);
    struct status *status = value_read_json(k->arena, arena_str(k->arena, buf_str(&text)), &value, NULL);

    buf_done(&text);
    if (status != NULL) {
        mem_die("the JSON of an object cannot be read back");
    }
    return value;
}
