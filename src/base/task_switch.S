/* void task_switch_(void **save_sp, void *load_sp)
 * Saves the callee-saved registers on the current stack, stores its pointer, and goes on where `load_sp` was saved.
 * void task_entry_(void): first code on a new stack; calls task_main_ . */
    .text
#if defined(__x86_64__)
    .globl task_switch_
    .type task_switch_, @function
task_switch_:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size task_switch_, .-task_switch_
    .globl task_entry_
    .type task_entry_, @function
task_entry_:
    .cfi_startproc
    .cfi_undefined rip
    call task_main_
    ud2
    .cfi_endproc
    .size task_entry_, .-task_entry_
#elif defined(__aarch64__)
    .globl task_switch_
    .type task_switch_, %function
task_switch_:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size task_switch_, .-task_switch_
    .globl task_entry_
    .type task_entry_, %function
task_entry_:
    .cfi_startproc
    .cfi_undefined x30
    bl task_main_
    brk #1
    .cfi_endproc
    .size task_entry_, .-task_entry_
#else
#error "c8s runs on x86-64 and arm64"
#endif
    .section .note.GNU-stack, "", @progbits
