#include "runtime/container_plan.h"

#include <signal.h>

/* In the order of CRI's enum Signal; the real-time ones follow by rule. */
static const struct {
    struct str name;
    int number;
} signals[] = {
    {STR_INIT(""), 0},
    {STR_INIT("ABRT"), SIGABRT}, {STR_INIT("ALRM"), SIGALRM}, {STR_INIT("BUS"), SIGBUS},
    {STR_INIT("CHLD"), SIGCHLD}, {STR_INIT("CLD"), SIGCHLD}, {STR_INIT("CONT"), SIGCONT},
    {STR_INIT("FPE"), SIGFPE}, {STR_INIT("HUP"), SIGHUP}, {STR_INIT("ILL"), SIGILL},
    {STR_INIT("INT"), SIGINT}, {STR_INIT("IO"), SIGIO}, {STR_INIT("IOT"), SIGABRT},
    {STR_INIT("KILL"), SIGKILL}, {STR_INIT("PIPE"), SIGPIPE}, {STR_INIT("POLL"), SIGIO},
    {STR_INIT("PROF"), SIGPROF}, {STR_INIT("PWR"), SIGPWR}, {STR_INIT("QUIT"), SIGQUIT},
    {STR_INIT("SEGV"), SIGSEGV}, {STR_INIT("STKFLT"), SIGSTKFLT}, {STR_INIT("STOP"), SIGSTOP},
    {STR_INIT("SYS"), SIGSYS}, {STR_INIT("TERM"), SIGTERM}, {STR_INIT("TRAP"), SIGTRAP},
    {STR_INIT("TSTP"), SIGTSTP}, {STR_INIT("TTIN"), SIGTTIN}, {STR_INIT("TTOU"), SIGTTOU},
    {STR_INIT("URG"), SIGURG}, {STR_INIT("USR1"), SIGUSR1}, {STR_INIT("USR2"), SIGUSR2},
    {STR_INIT("VTALRM"), SIGVTALRM}, {STR_INIT("WINCH"), SIGWINCH}, {STR_INIT("XCPU"), SIGXCPU},
    {STR_INIT("XFSZ"), SIGXFSZ},
};

/* Programs are sent the kernel's numbers, of which C libraries keep the first two for themselves. */
enum { RT_FIRST = 34, RT_LAST = 64, CRI_RT_FIRST = 35, CRI_RT_LAST = 65 };

int container_signal_of(int32_t cri)
{
    if (cri >= CRI_RT_FIRST && cri <= CRI_RT_LAST) {
        return RT_FIRST + (cri - CRI_RT_FIRST);
    }
    return cri > 0 && (size_t)cri < COUNT_OF(signals) ? signals[cri].number : 0;
}

int32_t container_signal_to_cri(int number)
{
    if (number >= RT_FIRST && number <= RT_LAST) {
        return CRI_RT_FIRST + (number - RT_FIRST);
    }
    for (size_t i = 1; i < COUNT_OF(signals); i++) {
        if (signals[i].number == number) {
            return (int32_t)i;
        }
    }
    return 0;
}

int container_signal_parse(struct str text)
{
    uint64_t number;

    if (str_to_u64(text, &number)) {
        return number <= RT_LAST ? (int)number : 0;
    }
    if (text.n > 3 && str_eq_nocase(str_sub(text, 0, 3), STR("SIG"))) {
        text = str_from(text, 3);
    }
    for (size_t i = 1; i < COUNT_OF(signals); i++) {
        if (str_eq_nocase(signals[i].name, text)) {
            return signals[i].number;
        }
    }
    bool is_max = text.n >= 5 && str_eq_nocase(str_sub(text, 0, 5), STR("RTMAX"));

    if (!is_max && (text.n < 5 || !str_eq_nocase(str_sub(text, 0, 5), STR("RTMIN")))) {
        return 0;
    }
    text = str_from(text, 5);
    if (text.n == 0) {
        return is_max ? RT_LAST : RT_FIRST;
    }
    if (text.p[0] != (is_max ? '-' : '+') || !str_to_u64(str_from(text, 1), &number) || number > RT_LAST - RT_FIRST) {
        return 0;
    }
    return is_max ? RT_LAST - (int)number : RT_FIRST + (int)number;
}
