/* What servers that are asked about requests may answer: admission webhooks and authorization webhooks. */
#include "apiserver/admission/webhook/hook.h"
#include "apiserver/authz/webhook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct str json = {(const char *)data, size};
    const struct admission_v1_admission_response *response;
    struct status *status = hook_answer(arena, json, STR("u"), &response);

    if (status == NULL && !response->allowed) {
        status = hook_refusal(STR("h.example.com"), response);
    }
    status_free(status);
    webhook_answer(arena, json);
    return 0;
}
