/* The plugins there are, one file each. */
#ifndef APISERVER_ADMISSION_PLUGINS_H
#define APISERVER_ADMISSION_PLUGINS_H

#include "apiserver/admission/admission.h"

extern const struct admission_plugin namespace_lifecycle_plugin;

#endif
