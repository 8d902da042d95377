/* `c8s trace pod/NAME`: how a pod came to be, step by step, with times. */
#ifndef TRACE_TRACE_MAIN_H
#define TRACE_TRACE_MAIN_H

int trace_main(int argc, char **argv);

#endif
