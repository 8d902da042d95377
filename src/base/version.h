/* What c8s calls itself, and the Kubernetes whose API it has. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define C8S_VERSION "0.1.0"
#define KUBERNETES_MAJOR "1"
#define KUBERNETES_MINOR "37"
/* Build metadata after the plus says whose server it is; clients compare only what comes before. */
#define KUBERNETES_VERSION "v1.37.0"
#define GIT_VERSION KUBERNETES_VERSION "+c8s" C8S_VERSION

#endif
