// A stack machine: every work-item runs the same byte code on its own data, through calls and a large switch.
enum { PUSH, LOAD, ADD, SUB, MUL, DUP, SWAP, JUMP_NEG, JUMP, MOD, XOR, SHR, STORE, HALT };
__attribute__((noinline)) int pop(int *stack, int *top)
{
    return stack[--*top];
}
__attribute__((noinline)) void push(int *stack, int *top, int v)
{
    stack[(*top)++] = v;
}
kernel void interpreter(constant int *code, global const int *data, global int *out, int budget)
{
    int stack[16], memory[4], top = 0, pc = 0, used = 0;
    for (int i = 0; i < 4; ++i)
        memory[i] = data[get_global_id(0) * 4 + i];
    while (used++ < budget) {
        int op = code[pc], arg = code[pc + 1], a, b;
        pc += 2;
        switch (op) {
        case PUSH: push(stack, &top, arg); break;
        case LOAD: push(stack, &top, memory[arg]); break;
        case STORE: memory[arg] = pop(stack, &top); break;
        case ADD: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, a + b); break;
        case SUB: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, a - b); break;
        case MUL: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, a * b); break;
        case MOD: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, b ? a % b : a); break;
        case XOR: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, a ^ b); break;
        case SHR: a = pop(stack, &top); push(stack, &top, (int)((uint)a >> (arg & 31))); break;
        case DUP: a = pop(stack, &top); push(stack, &top, a); push(stack, &top, a); break;
        case SWAP: b = pop(stack, &top); a = pop(stack, &top); push(stack, &top, b); push(stack, &top, a); break;
        case JUMP_NEG: if (pop(stack, &top) < 0) pc = arg; break;
        case JUMP: pc = arg; break;
        default: budget = 0; break;
        }
    }
    out[get_global_id(0) * 2] = memory[3];
    out[get_global_id(0) * 2 + 1] = used;
}
