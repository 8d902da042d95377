/* `c8s images`: what the node's image store holds, without a running node. */
#ifndef RUNTIME_IMAGES_IMAGES_MAIN_H
#define RUNTIME_IMAGES_IMAGES_MAIN_H

/* argv[0] is "images". `list`, `import FILE...`, `remove IMAGE...`, `pull IMAGE...`; --root DIR (default
 * /var/lib/c8s/runtime) is the same as that of `c8s cri`, --registries FILE as well. The exit code. */
int images_main(int argc, char **argv);

#endif
