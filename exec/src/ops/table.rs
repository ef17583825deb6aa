//! One row an operation: name, default timing class, mnemonic, documentation.
//!
//! Suffixes give the width or type: `8 16 32 64` for integers (8 and 16 zero-extended in a 32-bit register), `F16
//! F32 F64` for floats. `d`, `a`, `b`, `c` are the first destination and the sources 0, 1, 2. A missing semantic
//! function does not compile, because `exec` matches on [`Op`] without a default arm.
use super::OpClass;

macro_rules! ops {
    ($( $name:ident : $class:ident, $mnemonic:literal, $doc:literal; )*) => {
        /// Semantics of a machine operation.
        #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Op { $( #[doc = $doc] $name, )* }
        impl Op {
            /// Every operation.
            pub const ALL: &[Op] = &[$( Op::$name, )*];
            /// Mnemonic in a disassembly.
            pub const fn mnemonic(self) -> &'static str { match self { $( Op::$name => $mnemonic, )* } }
            /// The class it has unless lowering gives another.
            pub const fn class(self) -> OpClass { match self { $( Op::$name => OpClass::$class, )* } }
            /// Documentation.
            pub const fn doc(self) -> &'static str { match self { $( Op::$name => $doc, )* } }
        }
    };
}

ops! {
    // Moves, selects, predicates
    Nop: Move, "nop", "Nothing; as a ghost it carries only time.";
    Mov32: Move, "mov", "d = a";
    Mov64: Move, "mov.64", "d = a (pair)";
    Sel32: Alu, "sel", "d = predicate c ? a : b";
    Sel64: Alu, "sel.64", "d = predicate c ? a : b (pairs)";
    PredToReg: Alu, "p2r", "d = predicate a ? 1 : 0";
    RegToPred: Compare, "r2p", "predicate d = a != 0";
    PMov: Compare, "pmov", "predicate d = predicate a";
    PAnd: Compare, "pand", "predicate d = a && b (operands may be negated)";
    POr: Compare, "por", "predicate d = a || b";
    PXor: Compare, "pxor", "predicate d = a != b";
    PSel: Compare, "psel", "predicate d = predicate c ? a : b";
    ReadSpecial: ReadSpecial, "s2r", "d = special register number imm";
    // Integer arithmetic
    IAdd8: Alu, "iadd.8", "d = a + b";
    IAdd16: Alu, "iadd.16", "d = a + b";
    IAdd32: Alu, "iadd", "d = a + b";
    IAdd64: Alu, "iadd.64", "d = a + b";
    ISub8: Alu, "isub.8", "d = a - b";
    ISub16: Alu, "isub.16", "d = a - b";
    ISub32: Alu, "isub", "d = a - b";
    ISub64: Alu, "isub.64", "d = a - b";
    IMul8: IMad, "imul.8", "d = a * b";
    IMul16: IMad, "imul.16", "d = a * b";
    IMul32: IMad, "imul", "d = a * b";
    IMul64: IMadWide, "imul.64", "d = a * b";
    IMad32: IMad, "imad", "d = a * b + c";
    IMad64: IMadWide, "imad.64", "d = a * b + c (64-bit)";
    IMadWideS: IMadWide, "imad.wide", "d (pair) = sext(a32) * sext(b32) + c (pair)";
    IMadWideU: IMadWide, "imad.wide.u32", "d (pair) = zext(a32) * zext(b32) + c (pair)";
    IAdd3: Alu, "iadd3", "d = a + b + c";
    Lea32: Alu, "lea", "d = (a << imm) + b";
    LeaHiU32: Alu, "lea.hi", "d = (a >> imm) + b";
    LeaHiS32: Alu, "lea.hi.sx32", "d = (a >> imm, arithmetic) + b";
    Lea64: Alu, "lea.64", "d (pair) = (a (pair) << imm) + b (pair)";
    LeaSext: Alu, "lea.sx32", "d (pair) = (sext(a32) << imm) + b (pair)";
    LeaZext: Alu, "lea.ux32", "d (pair) = (zext(a32) << imm) + b (pair)";
    IAddSext: Alu, "iadd.sx32", "d (pair) = sext(a32) + b (pair)";
    IAddZext: Alu, "iadd.ux32", "d (pair) = zext(a32) + b (pair)";
    SMulHi8: IMad, "imul.hi.s8", "d = high half of signed a * b";
    SMulHi16: IMad, "imul.hi.s16", "d = high half of signed a * b";
    SMulHi32: IMadHigh, "imul.hi.s32", "d = high half of signed a * b";
    SMulHi64: IMadHigh, "imul.hi.s64", "d = high half of signed a * b";
    UMulHi8: IMad, "imul.hi.u8", "d = high half of unsigned a * b";
    UMulHi16: IMad, "imul.hi.u16", "d = high half of unsigned a * b";
    UMulHi32: IMadHigh, "imul.hi.u32", "d = high half of unsigned a * b";
    UMulHi64: IMadHigh, "imul.hi.u64", "d = high half of unsigned a * b";
    SDiv8: Alu, "idiv.s8", "d = a / b towards zero; x / 0 = 0 bits all set, MIN / -1 = MIN (no trap)";
    SDiv16: Alu, "idiv.s16", "as SDiv8";
    SDiv32: Alu, "idiv.s32", "as SDiv8";
    SDiv64: Alu, "idiv.s64", "as SDiv8";
    UDiv8: Alu, "idiv.u8", "d = a / b; x / 0 = all bits set";
    UDiv16: Alu, "idiv.u16", "as UDiv8";
    UDiv32: Alu, "idiv.u32", "as UDiv8";
    UDiv64: Alu, "idiv.u64", "as UDiv8";
    SRem8: Alu, "irem.s8", "d = a % b, sign of a; x % 0 = x";
    SRem16: Alu, "irem.s16", "as SRem8";
    SRem32: Alu, "irem.s32", "as SRem8";
    SRem64: Alu, "irem.s64", "as SRem8";
    URem8: Alu, "irem.u8", "d = a % b; x % 0 = x";
    URem16: Alu, "irem.u16", "as URem8";
    URem32: Alu, "irem.u32", "as URem8";
    URem64: Alu, "irem.u64", "as URem8";
    INeg8: Alu, "ineg.8", "d = -a";
    INeg16: Alu, "ineg.16", "d = -a";
    INeg32: Alu, "ineg", "d = -a";
    INeg64: Alu, "ineg.64", "d = -a";
    IAbs8: Alu, "iabs.8", "d = |a| as unsigned";
    IAbs16: Alu, "iabs.16", "d = |a| as unsigned";
    IAbs32: Alu, "iabs", "d = |a| as unsigned";
    IAbs64: Alu, "iabs.64", "d = |a| as unsigned";
    // Logic and shifts (8- and 16-bit logic uses the 32-bit forms)
    And32: Alu, "and", "d = a & b";
    And64: Alu, "and.64", "d = a & b";
    Or32: Alu, "or", "d = a | b";
    Or64: Alu, "or.64", "d = a | b";
    Xor32: Alu, "xor", "d = a ^ b";
    Xor64: Alu, "xor.64", "d = a ^ b";
    Not8: Alu, "not.8", "d = !a";
    Not16: Alu, "not.16", "d = !a";
    Not32: Alu, "not", "d = !a";
    Not64: Alu, "not.64", "d = !a";
    Lop3: Alu, "lop3", "d = bitwise function of a, b, c with look-up table imm (bit a*4 + b*2 + c)";
    Shl8: Alu, "shl.8", "d = a << (b mod 8); b is 32 bits";
    Shl16: Alu, "shl.16", "d = a << (b mod 16)";
    Shl32: Alu, "shl", "d = a << (b mod 32)";
    Shl64: Alu, "shl.64", "d = a << (b mod 64); b is 32 bits";
    LShr8: Alu, "shr.u8", "d = a >> (b mod 8), zeros in";
    LShr16: Alu, "shr.u16", "d = a >> (b mod 16), zeros in";
    LShr32: Alu, "shr.u32", "d = a >> (b mod 32), zeros in";
    LShr64: Alu, "shr.u64", "d = a >> (b mod 64), zeros in";
    AShr8: Alu, "shr.s8", "d = a >> (b mod 8), sign in";
    AShr16: Alu, "shr.s16", "d = a >> (b mod 16), sign in";
    AShr32: Alu, "shr.s32", "d = a >> (b mod 32), sign in";
    AShr64: Alu, "shr.s64", "d = a >> (b mod 64), sign in";
    Rotl8: Alu, "rotl.8", "d = a rotated left by b mod 8";
    Rotl16: Alu, "rotl.16", "d = a rotated left by b mod 16";
    Rotl32: Alu, "shf.l.wrap", "d = a rotated left by b mod 32";
    Rotl64: Alu, "rotl.64", "d = a rotated left by b mod 64; b is 32 bits";
    ShfL: Alu, "shf.l", "d = high 32 bits of (b:a << (c mod 32)); a is the low word";
    ShfR: Alu, "shf.r", "d = low 32 bits of (b:a >> (c mod 32))";
    Bfe32U: Alu, "bfe.u32", "d = bits imm&31 .. of a, (imm >> 8)&63 of them, zero-extended";
    Bfe32S: Alu, "bfe.s32", "as Bfe32U, sign-extended";
    // Min, max, counts
    SMin8: Alu, "imin.s8", "d = min(a, b)"; SMin16: Alu, "imin.s16", "d = min(a, b)";
    SMin32: Alu, "imin.s32", "d = min(a, b)"; SMin64: Alu, "imin.s64", "d = min(a, b)";
    SMax8: Alu, "imax.s8", "d = max(a, b)"; SMax16: Alu, "imax.s16", "d = max(a, b)";
    SMax32: Alu, "imax.s32", "d = max(a, b)"; SMax64: Alu, "imax.s64", "d = max(a, b)";
    UMin8: Alu, "imin.u8", "d = min(a, b)"; UMin16: Alu, "imin.u16", "d = min(a, b)";
    UMin32: Alu, "imin.u32", "d = min(a, b)"; UMin64: Alu, "imin.u64", "d = min(a, b)";
    UMax8: Alu, "imax.u8", "d = max(a, b)"; UMax16: Alu, "imax.u16", "d = max(a, b)";
    UMax32: Alu, "imax.u32", "d = max(a, b)"; UMax64: Alu, "imax.u64", "d = max(a, b)";
    IAddMnMx: Alu, "viaddmnmx", "d = a + b, then its minimum or maximum with c; imm: `minmax`";
    IMnMx3: Alu, "vimnmx3", "d = minimum or maximum of a, b and c; imm: `minmax`";
    Popc32: Convert, "popc", "d = number of set bits (8 and 16 bits too)";
    Popc64: Convert, "popc.64", "d (pair) = number of set bits";
    Clz8: Convert, "flo.8", "d = leading zeros"; Clz16: Convert, "flo.16", "d = leading zeros";
    Clz32: Convert, "flo", "d = leading zeros"; Clz64: Convert, "flo.64", "d (pair) = leading zeros";
    Ctz8: Convert, "ctz.8", "d = trailing zeros (the width for 0)"; Ctz16: Convert, "ctz.16", "as Ctz8";
    Ctz32: Convert, "ctz", "as Ctz8"; Ctz64: Convert, "ctz.64", "as Ctz8 (pair)";
    BitRev8: Alu, "brev.8", "d = bits reversed"; BitRev16: Alu, "brev.16", "d = bits reversed";
    BitRev32: Alu, "brev", "d = bits reversed"; BitRev64: Alu, "brev.64", "d = bits reversed";
    IntFn: Alu, "ifn", "d = integer built-in imm (`IntFn`) of type imm2 (`Ty` code) applied to a, b, c: saturating, halving, difference and the like";
    // Integer widening and narrowing
    Sext8To32: Alu, "sext.8", "d = sign-extended low byte of a, 32 bits"; Sext16To32: Alu, "sext.16", "d = sign-extended low half of a";
    Sext8To16: Alu, "sext.8.16", "d = sign-extended low byte, 16 bits held zero-extended";
    Sext32To64: Alu, "sext.64", "d (pair) = sext(a32)"; Zext32To64: Alu, "zext.64", "d (pair) = zext(a32)";
    Trunc8: Alu, "trunc.8", "d = a & 0xff"; Trunc16: Alu, "trunc.16", "d = a & 0xffff";
    // Compares: predicate d = a op b, combined with predicate c where there is one; imm2: `compares`
    ICmp8: Compare, "isetp.8", "integer compare, condition imm (`Cond`)"; ICmp16: Compare, "isetp.16", "integer compare";
    ICmp32: Compare, "isetp", "integer compare"; ICmp64: Compare, "isetp.64", "integer compare";
    Test32: Compare, "lop3.p", "predicate d = (a & b) compared with 0, imm `Cond::Eq` or `Cond::Ne`";
    FCmpF16: Compare, "hsetp", "float compare, condition imm (`FCond`)"; FCmpF32: Compare, "fsetp", "float compare";
    FCmpF64: Fp64, "dsetp", "float compare";
    // Float arithmetic; imm holds source modifiers (`modifiers`)
    FAddF16: Fp16, "hadd", "d = a + b"; FAddF32: Fp32, "fadd", "d = a + b"; FAddF64: Fp64, "dadd", "d = a + b";
    FMulF16: Fp16, "hmul", "d = a * b"; FMulF32: Fp32, "fmul", "d = a * b"; FMulF64: Fp64, "dmul", "d = a * b";
    FFmaF16: Fp16, "hfma", "d = a * b + c, one rounding"; FFmaF32: Fp32, "ffma", "d = a * b + c, one rounding";
    FFmaF64: Fp64, "dfma", "d = a * b + c, one rounding";
    FDivF16: Xu, "hdiv", "d = a / b, correctly rounded"; FDivF32: Xu, "fdiv", "d = a / b, correctly rounded";
    FDivF64: Fp64, "ddiv", "d = a / b, correctly rounded";
    FRemF16: Xu, "hrem", "d = fmod(a, b)"; FRemF32: Xu, "frem", "d = fmod(a, b)"; FRemF64: Fp64, "drem", "d = fmod(a, b)";
    FMinF16: Fp16, "hmin", "d = fmin(a, b)"; FMinF32: Alu, "fmin", "d = fmin(a, b), a NaN loses"; FMinF64: Fp64, "dmin", "d = fmin(a, b)";
    FMaxF16: Fp16, "hmax", "d = fmax(a, b)"; FMaxF32: Alu, "fmax", "d = fmax(a, b), a NaN loses"; FMaxF64: Fp64, "dmax", "d = fmax(a, b)";
    FSqrtF16: Xu, "hsqrt", "d = sqrt(a)"; FSqrtF32: Xu, "fsqrt", "d = sqrt(a)"; FSqrtF64: Fp64, "dsqrt", "d = sqrt(a)";
    FNegF16: Alu, "hneg", "d = -a"; FNegF32: Alu, "fneg", "d = -a"; FNegF64: Alu, "dneg", "d = -a";
    FAbsF16: Alu, "habs", "d = |a|"; FAbsF32: Alu, "fabs", "d = |a|"; FAbsF64: Alu, "dabs", "d = |a|";
    FRoundF16: Convert, "hrnd", "d = a rounded to integral, mode imm (`Rounding`)"; FRoundF32: Convert, "frnd", "as FRoundF16";
    FRoundF64: Convert, "drnd", "as FRoundF16";
    MathF16: Xu, "mufu.f16", "d = OpenCL.std math function imm2 (`MathFn`) of a, b, c; second result in d2";
    MathF32: Xu, "mufu", "as MathF16"; MathF64: Xu, "mufu.f64", "as MathF16";
    Convert: Convert, "cvt", "conversion packed in imm (`Conversion`): types, rounding, saturation";
    // Memory: address a (64-bit for global, constant, generic; 32-bit for local, private) plus imm bytes; shape in imm2
    LdGlobal: LoadGlobal, "ldg", "d = memory[a + imm]"; LdConstant: LoadConstant, "ldc", "d = constant memory[a + imm]";
    LdLocal: LoadLocal, "lds", "d = local[a + imm]"; LdPrivate: LoadPrivate, "ldl", "d = private[a + imm]";
    LdGeneric: LoadGlobal, "ld", "d = generic[a + imm]";
    StGlobal: StoreGlobal, "stg", "memory[a + imm] = b"; StLocal: StoreLocal, "sts", "local[a + imm] = b";
    StPrivate: StorePrivate, "stl", "private[a + imm] = b"; StGeneric: StoreGlobal, "st", "generic[a + imm] = b";
    AtomGlobal: AtomicGlobal, "atomg", "d = old value; memory[a + imm] op= b (compare value c); no d: a reduction";
    AtomLocal: AtomicLocal, "atoms", "as AtomGlobal, local memory"; AtomGeneric: AtomicGlobal, "atom", "as AtomGlobal, generic address";
    // Control
    Bra: Branch, "bra", "lanes in which the guard holds go to imm; imm2 is the reconvergence point";
    Brx: Branch, "brx", "jump table imm indexed by a (unsigned, clamped to the last entry); imm2 is the reconvergence point";
    Exit: Exit, "exit", "lanes in which the guard holds end";
    Bar: Barrier, "bar.sync", "work-group barrier; imm: memory fence flags";
    BarSub: Barrier, "bar.warp", "sub-group barrier; imm: memory fence flags";
    MemBar: Fence, "membar", "memory fence; imm: flags, imm2: scope";
    Trap: Branch, "trap", "stops the launch with diagnosis imm (`TrapCode`)";
    // Cross-lane (inside a sub-group); lanes outside the active mask do not take part
    WarpReduce: WarpReduce, "redux", "d = a of all active lanes combined by imm (`AtomicOp`), 32 bits"; WarpFull: Vote, "vote.full", "predicate d = all lanes of the warp are active";
    WarpElect: Vote, "elect", "predicate d = a is the highest (unsigned) a of the active lanes"; WarpScan: Shuffle, "scan.add", "d = sum of a over the active lanes up to the own one";
    VoteAny: Vote, "vote.any", "predicate d = any active lane has a"; VoteAll: Vote, "vote.all", "predicate d = all active lanes have a";
    Ballot: Vote, "vote.ballot", "d (4 registers) = mask of active lanes with predicate a";
    ShflIdx: Shuffle, "shfl.idx", "d = a of lane b"; ShflXor: Shuffle, "shfl.bfly", "d = a of lane (own ^ b)";
    ShflUp: Shuffle, "shfl.up", "d = a of lane (own - b), own where there is none"; ShflDown: Shuffle, "shfl.down", "d = a of lane (own + b), own where there is none";
}
