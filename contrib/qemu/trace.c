/* A plugin of QEMU's user mode that writes what a program executes, for bitpath's core model.
 *
 *   qemu-x86_64 -plugin file=libbitpath-trace.so,out=PATH program ...
 *
 * The stream at PATH (a file, a pipe, /dev/fd/0), everything little-endian:
 *
 *   head          8 bytes "BPTRACE1", u64 address of the program's first code byte in memory
 *   then records  u32 word: kind in bits 0-1, value in bits 2-31
 *     0 executed     value = identity of the instruction
 *     1 access       value = log2 of the size in bits 0-3, bit 4 set for a store; u64 address.
 *                    It belongs to the executed record before it.
 *     2 instruction  value = identity, counted from 0; u64 address, u32 length, 16 bytes of code
 *                    (what is beyond the length is 0). It comes before the identity is executed.
 *     3 end          value = 0: the program ended; 1: it started a thread, and the trace ends there
 *
 * An instruction that QEMU translates again gets another identity. Where one crosses a page, QEMU
 * 7.2 may tell its first half as an instruction of its own, which is never executed. A repeated string instruction
 * is executed once for each repetition. Only one thread is traced: its order is the program's. What
 * the kernel does is not seen. A child made by fork writes nothing. A stream without an end record
 * was cut off.
 *
 * Built by scripts/build-qemu-plugin. Debian packages no header for plugins, so the part of version
 * 1 of the interface that is used is declared here, as QEMU 7.2 documents it; QEMU refuses a plugin
 * of a version that it does not know.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum callback_flags { CALLBACK_READS_NO_REGISTERS = 0 };
enum memory_filter { MEMORY_READS_AND_WRITES = 3 };

void qemu_plugin_register_vcpu_init_cb(plugin_id, void (*)(plugin_id, unsigned vcpu));
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
                                            void (*)(unsigned vcpu, void *user),
                                            enum callback_flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                      void (*)(unsigned vcpu, uint32_t info, uint64_t address,
                                               void *user),
                                      enum callback_flags, enum memory_filter, void *user);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *user), void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
uint64_t qemu_plugin_start_code(void);

EXPORT int qemu_plugin_version = 1;

enum kind { EXECUTED, ACCESS, INSTRUCTION, END };

/* Bytes gathered for one write: as much as a pipe holds by the kernel's default. */
#define BUFFER_BYTES 65536
/* The longest record is that of an instruction. */
#define RECORD_BYTES 32

static uint8_t buffer[BUFFER_BYTES];
static size_t filled;
static int out = -1;
static pid_t owner;
static uint32_t instructions;
static bool begun, ended;

static void flush(void)
{
    size_t sent = 0;
    while (sent < filled && getpid() == owner) {
        ssize_t count = write(out, buffer + sent, filled - sent);
        if (count <= 0) {
            ended = true; /* The reader left: what cannot be told need not be gathered. */
            break;
        }
        sent += count;
    }
    filled = 0;
}

static inline void put(const void *bytes, size_t count)
{
    memcpy(buffer + filled, bytes, count);
    filled += count;
}

static inline void begin_record(enum kind kind, uint32_t value)
{
    uint32_t word = value << 2 | kind;
    if (filled + RECORD_BYTES > BUFFER_BYTES)
        flush();
    put(&word, sizeof word);
}

static void end(uint32_t value)
{
    if (ended)
        return;
    begin_record(END, value);
    flush();
    ended = true;
}

static void on_executed(unsigned vcpu, void *user)
{
    if (!ended)
        begin_record(EXECUTED, (uint32_t)(uintptr_t)user);
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *user)
{
    if (ended)
        return;
    begin_record(ACCESS, qemu_plugin_mem_size_shift(info) | qemu_plugin_mem_is_store(info) << 4);
    put(&address, sizeof address);
}

static void describe(uint32_t identity, const struct qemu_plugin_insn *instruction)
{
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    uint32_t length = qemu_plugin_insn_size(instruction);
    uint8_t code[16] = { 0 };
    memcpy(code, qemu_plugin_insn_data(instruction), length < 16 ? length : 16);
    begin_record(INSTRUCTION, identity);
    put(&address, sizeof address);
    put(&length, sizeof length);
    put(code, sizeof code);
}

static void on_translated(plugin_id id, struct qemu_plugin_tb *block)
{
    if (ended)
        return;
    if (!begun) {
        uint64_t start = qemu_plugin_start_code();
        put("BPTRACE1", 8);
        put(&start, sizeof start);
        begun = true;
    }
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        void *user = (void *)(uintptr_t)instructions;
        describe(instructions++, instruction);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_executed,
                                               CALLBACK_READS_NO_REGISTERS, user);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, CALLBACK_READS_NO_REGISTERS,
                                         MEMORY_READS_AND_WRITES, NULL);
    }
}

static void on_processor(plugin_id id, unsigned vcpu)
{
    if (vcpu != 0)
        end(1);
}

static void on_exit_of_program(plugin_id id, void *user)
{
    end(0);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
        fprintf(stderr, "trace: give the place of the stream as out=PATH, nothing else\n");
        return -1;
    }
    out = open(argv[0] + 4, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0) {
        perror(argv[0] + 4);
        return -1;
    }
    owner = getpid();
    qemu_plugin_register_vcpu_init_cb(id, on_processor);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
