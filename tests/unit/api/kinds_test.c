#include "test.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/kinds.h"
#include "schema/object.h"

TEST("api/kinds/are found by kind and by resource")
{
    CHECK(kind_find(STR(""), STR("v1"), STR("Pod")) == &core_v1_pod_kind);
    CHECK(kind_find_api_version(STR("apps/v1"), STR("DeploymentList")) == &apps_v1_deployment_list_kind);
    CHECK(kind_find_resource(STR("apps"), STR("v1"), STR("deployments")) == &apps_v1_deployment_kind);
    CHECK(kind_find(STR("apps"), STR("v1"), STR("DeleteOptions")) == &meta_v1_delete_options_kind);
    CHECK(kind_find(STR(""), STR("v1"), STR("Status")) == &meta_v1_status_kind);
    CHECK(kind_find(STR("apps"), STR("v1"), STR("Pod")) == NULL);
    CHECK(apps_v1_deployment_kind.list == &apps_v1_deployment_list_kind);
    CHECK(apps_v1_deployment_list_kind.item == &apps_v1_deployment_kind);
    CHECK(apps_v1_deployment_kind.has_status && apps_v1_deployment_kind.namespaced);
    CHECK(kind_subresource(&core_v1_pod_kind, STR("eviction"))->verbs == VERB_CREATE);
}

TEST("api/kinds/objects begin with their metadata, lists with theirs")
{
    size_t objects = 0;

    for (size_t i = 0; i < kinds_all_count; i++) {
        const struct type *type = kinds_all[i]->type;

        if (kinds_all[i]->plural.n != 0) {
            CHECK(kinds_all[i]->verbs == VERB_CREATE || kinds_all[i]->list != NULL);
        }
        if (type->flags & TYPE_OBJECT) {
            CHECK_INT(type->fields[0].offset, offsetof(struct object, type_meta));
            CHECK_INT(type->fields[1].offset, offsetof(struct object, metadata));
            objects++;
        } else if (type->flags & TYPE_LIST) {
            CHECK_INT(type_field(type, STR("metadata"))->offset, offsetof(struct object_list, metadata));
            CHECK_INT(type_field(type, STR("items"))->offset, offsetof(struct object_list, items));
        }
    }
    CHECK(objects > 60);
}

/* Every type the generator made is what type_seal() makes of its fields at run time. */
static void check_sealed(struct arena *arena, const struct type *type, size_t depth)
{
    struct type copy = *type;

    copy.members = NULL;
    type_seal(arena, &copy);
    CHECK_INT(copy.member_count, type->member_count);
    CHECK_INT(copy.numbered_count, type->numbered_count);
    for (size_t i = 0; i < type->member_count; i++) {
        struct str name = type->members[i].field->name;

        CHECK(copy.members[i].field == type->members[i].field && copy.members[i].offset == type->members[i].offset);
        CHECK(type_member(type, name) == &type->members[i]);
        CHECK(type_member(&copy, name) == &copy.members[i]);
    }
    for (size_t i = 0; i < type->numbered_count; i++) {
        CHECK_INT(copy.by_number[i], type->by_number[i]);
    }
    for (size_t i = 0; i < type->field_count && depth < 6; i++) {
        if (type->fields[i].kind == TYPE_STRUCT) {
            check_sealed(arena, type->fields[i].type, depth + 1);
        }
    }
}

TEST("api/kinds/tables made at build time and at run time are the same")
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    check_sealed(arena, &core_v1_pod_type, 0);
    check_sealed(arena, &apps_v1_stateful_set_type, 0);
    CHECK(type_member(&core_v1_pod_spec_type, STR("nothing")) == NULL);
    CHECK(type_member(&core_v1_pod_spec_type, STR("Containers")) == NULL);
}
