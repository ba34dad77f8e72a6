//! What an x86-64 instruction needs and does, as far as a core's timing depends on it.
//!
//! ```text
//! address registers ──► load ──┐
//! data registers ──────────────┴──► unit ──► results, store
//! ```
//!
//! An instruction is one entry of the window. It may load, compute and store; its parts wait for
//! their own operands only.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};

/// Number below which all register numbers are: 16 general, 32 vector, 8 mask, 8 of the x87, flags.
pub const REGISTERS: usize = 65;

const FIRST_VECTOR: usize = 16;
const FIRST_MASK: usize = 48;
const FIRST_X87: usize = 56;
const FLAGS: usize = 64;

/// A set of registers by number. A part of a register counts as the whole, the flags as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(u128);

impl Registers {
    /// The set of these numbers; numbers from [`REGISTERS`] on are left out.
    #[must_use]
    pub fn of(numbers: &[usize]) -> Self {
        let mut set = Self::default();
        numbers.iter().for_each(|&number| set.insert(number));
        set
    }

    /// The numbers in it, ascending.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (number < u128::BITS).then_some(number as usize)
        })
    }

    fn insert(&mut self, number: usize) {
        if number < REGISTERS {
            self.0 |= 1 << number;
        }
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The kind of unit that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Additions, logic, shifts, moves between registers, branches; of vectors of integers too.
    Integer,
    /// Multiplication of integers.
    IntegerMultiply,
    /// Division of integers.
    IntegerDivide,
    /// Addition, comparison and conversion of floating-point numbers.
    FloatAdd,
    /// Multiplication of floating-point numbers, also with addition.
    FloatMultiply,
    /// Division of floating-point numbers.
    FloatDivide,
    /// Square root.
    FloatSquareRoot,
}

/// Where an instruction may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the instruction behind it.
    Next,
    /// There, or to the instruction behind it.
    Conditional {
        /// Address if taken.
        target: u64,
    },
    /// There.
    Jump {
        /// Its address.
        target: u64,
    },
    /// To a computed address.
    IndirectJump,
    /// Into a function that returns behind the call.
    Call {
        /// The function's address.
        target: u64,
    },
    /// Into a function at a computed address.
    IndirectCall,
    /// To where the last call came from.
    Return,
}

impl Flow {
    /// Whether it counts as a branch: whatever may leave the straight line.
    #[must_use]
    pub fn is_branch(self) -> bool {
        self != Self::Next
    }

    /// Whether it is a call of either kind.
    #[must_use]
    pub fn is_call(self) -> bool {
        matches!(self, Self::Call { .. } | Self::IndirectCall)
    }

    /// The target that the code itself tells.
    #[must_use]
    pub fn target(self) -> Option<u64> {
        match self {
            Self::Conditional { target } | Self::Jump { target } | Self::Call { target } => {
                Some(target)
            }
            Self::Next | Self::IndirectJump | Self::IndirectCall | Self::Return => None,
        }
    }
}

/// What is known of an instruction before it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Where it lies in memory.
    pub address: u64,
    /// Its length.
    pub length_bytes: u8,
    /// Registers from which the addresses in memory are made.
    pub address_registers: Registers,
    /// Registers that are read otherwise.
    pub data_registers: Registers,
    /// Registers that hold its result.
    pub results: Registers,
    /// Registers that step on without waiting for memory: the stack pointer, string pointers.
    pub stepped: Registers,
    /// What computes; `None` if it only moves to or from memory, or does nothing.
    pub unit: Option<Unit>,
    /// Where it may go.
    pub flow: Flow,
}

impl Operation {
    /// Address of the instruction behind it.
    #[must_use]
    pub fn next_address(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length_bytes))
    }
}

#[cfg(test)]
impl Operation {
    /// An instruction of 4 bytes that goes somewhere and does nothing else.
    pub(super) fn going(address: u64, flow: Flow) -> Self {
        let none = Registers::default();
        Self {
            address,
            length_bytes: 4,
            address_registers: none,
            data_registers: none,
            results: none,
            stepped: none,
            unit: None,
            flow,
        }
    }
}

/// Turns code bytes into operations.
pub struct OperationDecoder {
    info: InstructionInfoFactory,
}

impl Default for OperationDecoder {
    fn default() -> Self {
        Self { info: InstructionInfoFactory::new() }
    }
}

impl std::fmt::Debug for OperationDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OperationDecoder").finish_non_exhaustive()
    }
}

impl OperationDecoder {
    /// Decodes one instruction; `None` if the bytes are not exactly one instruction.
    #[must_use]
    pub fn decode(&mut self, address: u64, code: &[u8]) -> Option<Operation> {
        let instruction =
            Decoder::with_ip(64, code, address, DecoderOptions::NONE).iter().next()?;
        if instruction.is_invalid() || instruction.len() != code.len() {
            return None;
        }
        let flow = flow(&instruction);
        let mut operation = Operation {
            address,
            length_bytes: u8::try_from(code.len()).ok()?,
            address_registers: Registers::default(),
            data_registers: Registers::default(),
            results: Registers::default(),
            stepped: Registers::default(),
            unit: None,
            flow,
        };
        self.registers(&instruction, &mut operation);
        operation.unit = self.unit(&instruction, flow);
        Some(operation)
    }

    fn registers(&mut self, instruction: &Instruction, operation: &mut Operation) {
        let info = self.info.info(instruction);
        for memory in info.used_memory().iter().filter(|memory| touches(memory.access())) {
            for register in [memory.base(), memory.index()] {
                operation.address_registers.insert(number(register));
            }
        }
        let (mut reads, mut writes) = (Registers::default(), Registers::default());
        for used in info.used_registers() {
            let (register, access) = (used.register(), used.access());
            // The rest of a register of which 8 or 16 bits are written is kept.
            let keeps = register.is_gpr8() || register.is_gpr16();
            if is_read(access) || (is_write(access) && keeps) {
                reads.insert(number(register));
            }
            if is_write(access) {
                writes.insert(number(register));
            }
        }
        if instruction.rflags_read() != 0 {
            reads.insert(FLAGS);
        }
        if instruction.rflags_modified() != 0 {
            writes.insert(FLAGS);
        }
        operation.data_registers = reads.without(operation.address_registers);
        operation.stepped = Registers(writes.0 & stepping(instruction).0);
        operation.results = writes.without(operation.stepped);
    }

    /// A move between memory and a register needs no unit, and neither does what does nothing.
    fn unit(&mut self, instruction: &Instruction, flow: Flow) -> Option<Unit> {
        let mnemonic = instruction.mnemonic();
        let mut memory = self.info.info(instruction).used_memory().iter();
        let moves = is_move(mnemonic) || instruction.is_string_instruction();
        if is_idle(mnemonic) || (moves && memory.any(|memory| touches(memory.access()))) {
            return None;
        }
        Some(if flow.is_branch() { Unit::Integer } else { unit_of(mnemonic) })
    }
}

fn number(register: Register) -> usize {
    let full = register.full_register();
    if full.is_gpr64() {
        full.number()
    } else if full.is_zmm() {
        FIRST_VECTOR + full.number()
    } else if full.is_k() {
        FIRST_MASK + full.number()
    } else if full.is_mm() || full.is_st() {
        FIRST_X87 + full.number()
    } else {
        REGISTERS
    }
}

fn is_read(access: OpAccess) -> bool {
    use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite};
    // What is written under a condition is kept otherwise.
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite | CondWrite)
}

fn is_write(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

fn touches(access: OpAccess) -> bool {
    !matches!(access, OpAccess::None | OpAccess::NoMemAccess)
}

fn stepping(instruction: &Instruction) -> Registers {
    let mut set = Registers::default();
    if instruction.is_stack_instruction() {
        set.insert(number(Register::RSP));
    }
    if instruction.is_string_instruction() {
        for register in [Register::RSI, Register::RDI, Register::RCX] {
            set.insert(number(register));
        }
    }
    set
}

fn flow(instruction: &Instruction) -> Flow {
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        // A system call goes to the kernel, which a user's trace does not see.
        FlowControl::Call if !instruction.is_call_near() => Flow::Next,
        FlowControl::Call => Flow::Call { target },
        FlowControl::IndirectCall => Flow::IndirectCall,
        FlowControl::UnconditionalBranch => Flow::Jump { target },
        FlowControl::IndirectBranch => Flow::IndirectJump,
        FlowControl::ConditionalBranch => Flow::Conditional { target },
        FlowControl::Return => Flow::Return,
        FlowControl::Next
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend
        | FlowControl::Exception => Flow::Next,
    }
}

fn is_idle(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Nop
            | M::Endbr64
            | M::Prefetcht0
            | M::Prefetcht1
            | M::Prefetcht2
            | M::Prefetchnta
            | M::Prefetchw
            | M::Lfence
            | M::Mfence
            | M::Sfence
            | M::Vzeroupper
    )
}

fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    #[rustfmt::skip]
    let moves = matches!(
        mnemonic,
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Movbe | M::Push | M::Pop | M::Leave
            | M::Movd | M::Movq | M::Movss | M::Movsd | M::Movaps | M::Movups | M::Movapd
            | M::Movupd | M::Movdqa | M::Movdqu | M::Lddqu | M::Movnti | M::Movntdq | M::Movntps
            | M::Vmovd | M::Vmovq | M::Vmovss | M::Vmovsd | M::Vmovaps | M::Vmovups | M::Vmovapd
            | M::Vmovupd | M::Vmovdqa | M::Vmovdqu | M::Vlddqu | M::Vmovntdq | M::Vmovdqu8
            | M::Vmovdqu16 | M::Vmovdqu32 | M::Vmovdqu64 | M::Vmovdqa32 | M::Vmovdqa64
            | M::Vbroadcastss | M::Vbroadcastsd | M::Vpbroadcastd | M::Vpbroadcastq
    );
    moves
}

/// The unit of what computes. The x87's additions count as those of other floating-point numbers.
fn unit_of(mnemonic: Mnemonic) -> Unit {
    use Mnemonic as M;
    #[rustfmt::skip]
    let unit = match mnemonic {
        M::Imul | M::Mul | M::Mulx | M::Pmuludq | M::Pmulld | M::Pmullw | M::Pmulhw | M::Pmulhuw
        | M::Pmaddwd | M::Pmaddubsw | M::Vpmuludq | M::Vpmulld | M::Vpmullw | M::Vpmulhw
        | M::Vpmulhuw | M::Vpmaddwd | M::Vpmaddubsw | M::Pclmulqdq | M::Crc32 => {
            Unit::IntegerMultiply
        }
        M::Div | M::Idiv => Unit::IntegerDivide,
        M::Addss | M::Addsd | M::Addps | M::Addpd | M::Subss | M::Subsd | M::Subps | M::Subpd
        | M::Vaddss | M::Vaddsd | M::Vaddps | M::Vaddpd | M::Vsubss | M::Vsubsd | M::Vsubps
        | M::Vsubpd | M::Minss | M::Minsd | M::Maxss | M::Maxsd | M::Vminss | M::Vminsd
        | M::Vmaxss | M::Vmaxsd | M::Ucomiss | M::Ucomisd | M::Comiss | M::Comisd
        | M::Vucomiss | M::Vucomisd | M::Vcomiss | M::Vcomisd | M::Cmpss | M::Cmpsd | M::Cmpps
        | M::Cmppd | M::Cvtsi2sd | M::Cvtsi2ss | M::Cvttsd2si | M::Cvttss2si | M::Cvtsd2si
        | M::Cvtss2si | M::Cvtss2sd | M::Cvtsd2ss | M::Cvtdq2pd | M::Cvtdq2ps | M::Roundsd
        | M::Roundss | M::Fadd | M::Faddp | M::Fsub | M::Fsubp | M::Fild | M::Fistp => {
            Unit::FloatAdd
        }
        M::Mulss | M::Mulsd | M::Mulps | M::Mulpd | M::Vmulss | M::Vmulsd | M::Vmulps | M::Vmulpd
        | M::Vfmadd132sd | M::Vfmadd213sd | M::Vfmadd231sd | M::Vfmadd132ss | M::Vfmadd213ss
        | M::Vfmadd231ss | M::Vfmadd231ps | M::Vfmadd231pd | M::Fmul | M::Fmulp => {
            Unit::FloatMultiply
        }
        M::Divss | M::Divsd | M::Divps | M::Divpd | M::Vdivss | M::Vdivsd | M::Vdivps
        | M::Vdivpd | M::Fdiv | M::Fdivp => Unit::FloatDivide,
        M::Sqrtss | M::Sqrtsd | M::Sqrtps | M::Sqrtpd | M::Vsqrtss | M::Vsqrtsd | M::Fsqrt => {
            Unit::FloatSquareRoot
        }
        _ => Unit::Integer,
    };
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAX: usize = 0;
    const RCX: usize = 1;
    const RBX: usize = 3;
    const RSP: usize = 4;

    fn decoded(code: &[u8]) -> Operation {
        OperationDecoder::default().decode(0x1000, code).unwrap()
    }

    #[test]
    fn a_sum_with_memory_loads_and_computes() {
        let add = decoded(&[0x48, 0x03, 0x03]); // add rax, [rbx]
        assert_eq!(add.address_registers, Registers::of(&[RBX]));
        assert_eq!(add.data_registers, Registers::of(&[RAX]));
        assert_eq!(add.results, Registers::of(&[RAX, FLAGS]));
        assert_eq!(add.unit, Some(Unit::Integer));
    }

    #[test]
    fn moves_to_and_from_memory_need_no_unit() {
        assert_eq!(decoded(&[0x48, 0x8b, 0x03]).unit, None); // mov rax, [rbx]
        assert_eq!(decoded(&[0x48, 0x89, 0x03]).unit, None); // mov [rbx], rax
        assert_eq!(decoded(&[0xf3, 0xa4]).unit, None); // rep movsb
        assert_eq!(decoded(&[0x48, 0x89, 0xd8]).unit, Some(Unit::Integer)); // mov rax, rbx
    }

    #[test]
    fn the_stack_pointer_steps_without_memory() {
        let pop = decoded(&[0x58]); // pop rax
        assert_eq!((pop.results, pop.stepped), (Registers::of(&[RAX]), Registers::of(&[RSP])));
    }

    #[test]
    fn an_address_alone_is_no_access() {
        let lea = decoded(&[0x48, 0x8d, 0x04, 0x0b]); // lea rax, [rbx + rcx]
        assert_eq!(lea.address_registers, Registers::default());
        assert_eq!(lea.data_registers, Registers::of(&[RBX, RCX]));
    }

    #[test]
    fn a_register_cleared_by_itself_depends_on_nothing() {
        assert_eq!(decoded(&[0x31, 0xc0]).data_registers, Registers::default()); // xor eax, eax
    }

    #[test]
    fn a_written_part_keeps_the_rest() {
        assert_eq!(decoded(&[0xb0, 0x01]).data_registers, Registers::of(&[RAX])); // mov al, 1
        assert_eq!(decoded(&[0xb8, 1, 0, 0, 0]).data_registers, Registers::default()); // mov eax, 1
    }

    #[test]
    fn flow_is_what_the_code_says() {
        let cases: &[(&[u8], Flow)] = &[
            (&[0x75, 0x10], Flow::Conditional { target: 0x1012 }),
            (&[0xeb, 0xfe], Flow::Jump { target: 0x1000 }),
            (&[0xff, 0xe0], Flow::IndirectJump),
            (&[0xe8, 0, 1, 0, 0], Flow::Call { target: 0x1105 }),
            (&[0xff, 0xd0], Flow::IndirectCall),
            (&[0xc3], Flow::Return),
            (&[0x0f, 0x05], Flow::Next), // syscall
            (&[0x90], Flow::Next),
        ];
        for (code, flow) in cases {
            assert_eq!(decoded(code).flow, *flow, "{code:x?}");
        }
    }

    #[test]
    fn units_are_told_apart() {
        let cases: &[(&[u8], Unit)] = &[
            (&[0x48, 0x0f, 0xaf, 0xc3], Unit::IntegerMultiply), // imul rax, rbx
            (&[0x48, 0xf7, 0xf3], Unit::IntegerDivide),         // div rbx
            (&[0xf2, 0x0f, 0x58, 0xc1], Unit::FloatAdd),        // addsd xmm0, xmm1
            (&[0xf2, 0x0f, 0x59, 0xc1], Unit::FloatMultiply),   // mulsd xmm0, xmm1
            (&[0xf2, 0x0f, 0x5e, 0xc1], Unit::FloatDivide),     // divsd xmm0, xmm1
            (&[0xf2, 0x0f, 0x51, 0xc1], Unit::FloatSquareRoot), // sqrtsd xmm0, xmm1
        ];
        for (code, unit) in cases {
            assert_eq!(decoded(code).unit, Some(*unit), "{code:x?}");
        }
    }

    #[test]
    fn a_code_that_is_no_instruction_is_refused() {
        let mut decoder = OperationDecoder::default();
        assert_eq!(decoder.decode(0, &[]), None);
        assert_eq!(decoder.decode(0, &[0x06]), None);
        assert_eq!(decoder.decode(0, &[0x48, 0x8b]), None);
        assert_eq!(decoder.decode(0, &[0x90, 0x90]), None);
    }
}
