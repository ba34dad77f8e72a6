/* Functions whose instructions, accesses and time on a core are known, to try the trace and the
 * core model with: each is one loop of ROUNDS rounds. The first argument names the one to run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100000, CHASED_LINES = 65536, LINE_BYTES = 64 };

#define KEPT __attribute__((noinline, noclone))

/* Eight additions in a chain, the count and the jump: 8 cycles a round. */
KEPT uint64_t chain(uint64_t value)
{
    uint64_t left = ROUNDS;
    __asm__ volatile("1:\n\t"
                     "add %2, %0\n\tadd %2, %0\n\tadd %2, %0\n\tadd %2, %0\n\t"
                     "add %2, %0\n\tadd %2, %0\n\tadd %2, %0\n\tadd %2, %0\n\t"
                     "dec %1\n\tjnz 1b"
                     : "+r"(value), "+r"(left)
                     : "r"((uint64_t)3)
                     : "cc");
    return value;
}

/* Eight additions to four registers in turn, the count and the jump: as many as the core is wide. */
KEPT uint64_t independent(uint64_t value)
{
    uint64_t a = value, b = value, c = value, d = value, left = ROUNDS;
    __asm__ volatile("1:\n\t"
                     "add %5, %0\n\tadd %5, %1\n\tadd %5, %2\n\tadd %5, %3\n\t"
                     "add %5, %0\n\tadd %5, %1\n\tadd %5, %2\n\tadd %5, %3\n\t"
                     "dec %4\n\tjnz 1b"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left)
                     : "r"((uint64_t)3)
                     : "cc");
    return a + b + c + d;
}

/* One load, whose value is the next address: a miss of every cache below 4 MB. */
KEPT void *chase(void *first)
{
    uint64_t left = ROUNDS;
    __asm__ volatile("1:\n\tmov (%0), %0\n\tdec %1\n\tjnz 1b"
                     : "+r"(first), "+r"(left)
                     :
                     : "cc", "memory");
    return first;
}

/* A feedback shift register: one branch of each round goes as the bit does that fell out. */
KEPT uint32_t coins(uint32_t state)
{
    uint64_t left = ROUNDS;
    __asm__ volatile("1:\n\tshr %0\n\tjnc 2f\n\txor $0xa3000000, %0\n2:\n\tdec %1\n\tjnz 1b"
                     : "+r"(state), "+r"(left)
                     :
                     : "cc");
    return state;
}

/* Writes a word, reads it back and adds four times: the load takes the store's data from the queue,
 * so a round is a chain through memory of one load and four additions. */
KEPT uint64_t forward(uint64_t *place)
{
    uint64_t value = 1, left = ROUNDS;
    __asm__ volatile("1:\n\tmov %0, (%2)\n\tmov (%2), %0\n\t"
                     "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
                     "dec %1\n\tjnz 1b"
                     : "+r"(value), "+r"(left)
                     : "r"(place)
                     : "cc", "memory");
    return value;
}

KEPT uint64_t leaf(uint64_t value)
{
    __asm__ volatile("" ::: "memory");
    return value * 7 + 1;
}

/* What a program does: calls, copies by the library, sums. */
KEPT uint64_t mixed(char *to, const char *from)
{
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS / 10; round++) {
        memcpy(to, from + round % 64, 160);
        sum += leaf((unsigned char)to[round % 160]);
    }
    return sum;
}

static void link_lines(char *lines)
{
    /* An odd step visits every line once before it comes back. */
    for (uint64_t line = 0; line < CHASED_LINES; line++) {
        char *next = lines + (line + 4097) % CHASED_LINES * LINE_BYTES;
        memcpy(lines + line * LINE_BYTES, &next, sizeof next);
    }
}

static char lines[CHASED_LINES * LINE_BYTES] __attribute__((aligned(64)));

int main(int count, char **arguments)
{
    const char *name = count == 2 ? arguments[1] : "";
    static char to[256], from[256];
    uint64_t word;
    link_lines(lines);
    if (strcmp(name, "chain") == 0)
        return chain(1) == 0;
    if (strcmp(name, "independent") == 0)
        return independent(1) == 0;
    if (strcmp(name, "chase") == 0)
        return chase(lines) == NULL;
    if (strcmp(name, "coins") == 0)
        return coins(0xace1) == 0;
    if (strcmp(name, "forward") == 0)
        return forward(&word) == 0;
    if (strcmp(name, "mixed") == 0)
        return mixed(to, from) == 0;
    fprintf(stderr, "no program `%s`\n", name);
    return 2;
}
