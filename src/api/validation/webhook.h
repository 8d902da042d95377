/* Where webhooks are called. For src/api/validation* only. */
#ifndef API_VALIDATION_WEBHOOK_H
#define API_VALIDATION_WEBHOOK_H

#include "api/validation/check.h"

/* Of a service; NULL when it has none. */
struct webhook_service {
    struct str namespace, name;
    const struct str *path;
    const int32_t *port;
};

void check_webhook_url(struct status *to, const struct path *at, struct str url);
void check_webhook_service(struct status *to, const struct path *at, const struct webhook_service *service);

#endif
