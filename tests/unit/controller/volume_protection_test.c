#include "controller/controllers.h"
#include "fake_world.h"
#include "test.h"

#include "api/core_v1.h"
#include "api/storage_v1.h"

#define GOING "'deletionTimestamp':'2023-01-01T00:00:00Z'"

TEST("controller/volume_protection/a claim stays while a pod on a node uses it")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_persistent_volume_claim_kind,
                   "{'metadata':{'name':'c','namespace':'a'," GOING
                   ",'finalizers':['mine','kubernetes.io/pvc-protection']}}");
    struct core_v1_pod *pod = fake_world_add(
        &fake, &core_v1_pod_kind,
        "{'metadata':{'name':'p','namespace':'a'},'spec':{'nodeName':'n','containers':[],'volumes':[{'name':'v',"
        "'persistentVolumeClaim':{'claimName':'c'}}]}}");

    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/c"), "");
    pod->status.phase = STR("Succeeded");
    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/c"), "update PersistentVolumeClaim a/c\n");
    const struct core_v1_persistent_volume_claim *claim = fake.plan.items[0].object;

    CHECK_INT(claim->metadata.finalizers.len, 1);
    CHECK_STR(claim->metadata.finalizers.items[0], "mine");

    /* one that is waiting for a node will not come to one */
    pod->status.phase = STR("Pending");
    pod->spec.node_name = STR("");
    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/c"), "update PersistentVolumeClaim a/c\n");
    fake_world_done(&fake);
}

TEST("controller/volume_protection/claims made for pods' volumes count too")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &core_v1_persistent_volume_claim_kind,
                   "{'metadata':{'name':'p-v','namespace':'a'," GOING
                   ",'finalizers':['kubernetes.io/pvc-protection']}}");
    fake_world_add(
        &fake, &core_v1_pod_kind,
        "{'metadata':{'name':'p','namespace':'a'},'spec':{'nodeName':'n','containers':[],'volumes':[{'name':'v',"
        "'ephemeral':{}}]}}");
    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/p-v"), "");
    fake_world_remove(&fake, &core_v1_pod_kind, "a/p");
    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/p-v"), "update PersistentVolumeClaim a/p-v\n");
    fake_world_done(&fake);
}

TEST("controller/volume_protection/volumes stay while bound, classes while named; what lacks the finalizer gets it")
{
    struct fake_world fake;

    fake_world_init(&fake);
    struct core_v1_persistent_volume *volume =
        fake_world_add(&fake, &core_v1_persistent_volume_kind,
                       "{'metadata':{'name':'v'," GOING ",'finalizers':['kubernetes.io/pv-protection']},'spec':{"
                       "'volumeAttributesClassName':'gold'},'status':{'phase':'Bound'}}");

    fake_world_add(&fake, &storage_v1_volume_attributes_class_kind,
                   "{'metadata':{'name':'gold'," GOING ",'finalizers':['kubernetes.io/vac-protection']}}");
    fake_world_add(&fake, &core_v1_persistent_volume_claim_kind, "{'metadata':{'name':'new','namespace':'a'}}");
    CHECK_STR(fake_world_plan(&fake, &pv_protection_controller, "v"), "");
    CHECK_STR(fake_world_plan(&fake, &vac_protection_controller, "gold"), "");
    volume->status.phase = STR("Released");
    CHECK_STR(fake_world_plan(&fake, &pv_protection_controller, "v"), "update PersistentVolume v\n");
    volume->spec.volume_attributes_class_name = NULL;
    CHECK_STR(fake_world_plan(&fake, &vac_protection_controller, "gold"), "update VolumeAttributesClass gold\n");
    CHECK_STR(fake_world_plan(&fake, &pvc_protection_controller, "a/new"), "update PersistentVolumeClaim a/new\n");
    fake_world_done(&fake);
}
