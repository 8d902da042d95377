/* Texts compiled in by tools/embed-json. */
#ifndef APISERVER_EMBEDDED_H
#define APISERVER_EMBEDDED_H

/* The objects of schema/bootstrap/, one JSON array; their order is that of the files in meson.build. */
extern const char bootstrap_objects[];
extern const unsigned long bootstrap_objects_size;

#endif
