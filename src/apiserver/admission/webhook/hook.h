/* Admission webhooks: which are to be asked about a request, what they are asked, and what their answer means. */
#ifndef APISERVER_ADMISSION_WEBHOOK_HOOK_H
#define APISERVER_ADMISSION_WEBHOOK_HOOK_H

#include "api/admission_v1.h"
#include "api/admissionregistration_v1.h"
#include "apiserver/admission/admission.h"

struct hook_rules {
    const struct admissionregistration_v1_rule_with_operations *items;
    size_t len;
};

/* A webhook of either sort. Lives as long as the configuration it was made of. */
struct hook {
    struct str name;
    const struct admissionregistration_v1_webhook_client_config *client;
    struct hook_rules rules;
    bool ignores_failure;
    bool has_side_effects; /* cannot be asked in a dry run */
    bool may_be_reinvoked;
    bool has_conditions; /* matchConditions */
    const struct meta_v1_label_selector *namespace_selector, *object_selector;
    int timeout_seconds;
};

struct hooks {
    struct hook *items;
    size_t len;
};

struct hook hook_of_mutating(const struct admissionregistration_v1_mutating_webhook *webhook);
struct hook hook_of_validating(const struct admissionregistration_v1_validating_webhook *webhook);

/* What rules and selectors look at. Pure. */
struct hook_subject {
    struct str operation; /* CREATE, ... */
    struct str group, version, resource, subresource;
    bool is_namespaced;
    /* of the namespace; NULL: none. A namespace is its own. */
    const struct str_map *namespace_labels;
    const struct str_map *labels, *old_labels; /* of the objects; NULL: none */
};

/* BAD_REQUEST for a broken selector. */
MUST_USE struct status *hook_matches(struct arena *arena, const struct hook *hook, const struct hook_subject *subject,
                                     bool *ret);

/* The AdmissionReview that asks about the request, as JSON. */
struct str hook_question(const struct admission_request *admission, struct str uid);
/* The review's response; BAD_REQUEST in stock's words when it is none, or for another question. */
MUST_USE struct status *hook_answer(struct arena *arena, struct str json, struct str uid,
                                    const struct admission_v1_admission_response **ret);
/* The refusal as stock words it. */
MUST_USE struct status *hook_refusal(struct str name, const struct admission_v1_admission_response *response);

/* Sends a question; the text of the failure is what stock says after `failed calling webhook "X": `. Parks. */
MUST_USE struct status *hook_call(const struct admission_request *admission, const struct hook *hook,
                                  struct str question, struct str *ret_answer);

#endif
