#include "controller/custom_kind.h"

#include "client/client.h"
#include "fake_world.h"
#include "schema/json.h"
#include "schema/object.h"
#include "test.h"

TEST("controller/custom_kind/custom resources are known by their metadata, in the first served version")
{
    struct fake_world fake;

    fake_world_init(&fake);
    struct apiextensions_v1_custom_resource_definition *definition = fake_world_decode(
        &fake, &apiextensions_v1_custom_resource_definition_kind,
        "{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':"
        "'things','kind':'Thing'},'versions':[{'name':'v1alpha1','served':false},{'name':'v1','served':true}]},"
        "'status':{'conditions':[{'type':'Established','status':'True'}]}}");
    struct kind *kind = custom_kind_of(fake.arena, definition);

    CHECK(custom_kind_is_established(definition));
    CHECK_STR(kind->api_version, "example.com/v1");
    CHECK_STR(client_path(fake.arena, kind, STR("d"), STR("t"), STR("")),
              "/apis/example.com/v1/namespaces/d/things/t");
    CHECK(kind->type->package == NULL && kind->list->type->package == NULL); /* so they travel as JSON */
    struct object_list *list = arena_alloc(fake.arena, kind->list->type->size);

    CHECK_OK(json_decode(fake.arena, kind->list->type,
                         STR("{\"items\":[{\"metadata\":{\"name\":\"t\",\"ownerReferences\":[{\"uid\":\"u\"}]},"
                             "\"spec\":{\"anything\":[1]}}]}"),
                         list, NULL));
    CHECK_INT(list->items.len, 1);
    CHECK_STR(((const struct object *)list->items.items)->metadata.owner_references.items[0].uid, "u");
    definition->spec.versions.items[1].served = false;
    CHECK(custom_kind_of(fake.arena, definition) == NULL);
    fake_world_done(&fake);
}
