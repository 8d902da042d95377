/* The authorizer: builders of a request, and the check. */
#include "cel/cel_parts.h"

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)

struct check {
    struct str text; /* empty; opaque values begin with one */
    const struct cel_authorizer *authorizer;
    struct cel_authz_request request;
};
struct decision {
    struct str text;
    struct str reason, error;
    bool allowed;
};

#define TYPE(name) cel_type_named("kubernetes.authorization." name)

struct cel_val cel_val_authorizer(const struct cel_authorizer *authorizer)
{
    return (struct cel_val){.kind = CEL_OPAQUE, .form = FORM_AUTHORIZER, .data = authorizer, .type = TYPE("Authorizer")};
}

/* A copy to be changed: values never change. */
static struct check *copy(struct cel_run *run, struct cel_val value)
{
    struct check *made = ARENA_NEW(run->arena, struct check);

    if (value.form == FORM_AUTHORIZER) {
        made->authorizer = value.data;
    } else {
        *made = *(const struct check *)value.data;
    }
    return made;
}

#define SETTER(name, field_, type_, is_resource_)              \
    FN(name)                                                   \
    {                                                          \
        struct check *made = copy(run, args[0]);               \
        made->request.field_ = args[1].string;                 \
        made->request.is_resource = (is_resource_);            \
        return cel_val_opaque(TYPE(type_), made);              \
    }
SETTER(path, path, "PathCheck", false)
SETTER(group, group, "GroupCheck", true)
SETTER(resource, resource, "ResourceCheck", true)
SETTER(subresource, subresource, "ResourceCheck", true)
SETTER(namespace, namespace, "ResourceCheck", true)
SETTER(named, name, "ResourceCheck", true)
SETTER(field_selector, field_selector, "ResourceCheck", true)
SETTER(label_selector, label_selector, "ResourceCheck", true)

FN(service_account)
{
    struct check *made = copy(run, args[0]);

    made->request.service_account_namespace = args[1].string;
    made->request.service_account = args[2].string;
    return cel_val_opaque(TYPE("Authorizer"), made);
}

FN(check)
{
    struct check *made = copy(run, args[0]);
    struct decision *decision = ARENA_NEW(run->arena, struct decision);

    made->request.verb = args[1].string;
    decision->allowed = made->authorizer->check(made->authorizer, &made->request, &decision->reason, &decision->error);
    return cel_val_opaque(TYPE("Decision"), decision);
}
FN(allowed) { return cel_val_bool(((const struct decision *)args[0].data)->allowed); }
FN(reason) { return cel_val_string(((const struct decision *)args[0].data)->reason); }
FN(errored) { return cel_val_bool(((const struct decision *)args[0].data)->error.n > 0); }
FN(error) { return cel_val_string(((const struct decision *)args[0].data)->error); }

#define A "kubernetes.authorization."
#define R A "ResourceCheck -> "
CEL_ROWS(cel_authorizer_rows) = {
    {A "Authorizer -> path(string): " A "PathCheck", path}, {A "Authorizer -> group(string): " A "GroupCheck", group},
    {A "Authorizer -> serviceAccount(string, string): " A "Authorizer", service_account},
    {A "GroupCheck -> resource(string): " A "ResourceCheck", resource}, {R "subresource(string): " A "ResourceCheck", subresource},
    {R "namespace(string): " A "ResourceCheck", namespace}, {R "name(string): " A "ResourceCheck", named},
    {R "fieldSelector(string): " A "ResourceCheck", field_selector}, {R "labelSelector(string): " A "ResourceCheck", label_selector},
    {R "check(string): " A "Decision", check}, {A "PathCheck -> check(string): " A "Decision", check},
    {A "Decision -> allowed(): bool", allowed}, {A "Decision -> reason(): string", reason}, {A "Decision -> errored(): bool", errored},
    {A "Decision -> error(): string", error}, {NULL, NULL},
};
