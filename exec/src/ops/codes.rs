//! Codes that the IR and the machine program share: conditions, conversions, roundings, built-in function numbers.

/// Scalar types of values. `Ptr*` are 64-bit, local and private pointers 32-bit offsets.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Ty {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    PtrGlobal,
    PtrConstant,
    PtrGeneric,
    PtrLocal,
    PtrPrivate,
}

impl Ty {
    /// All, in order of their numbers.
    pub const ALL: [Ty; 13] = {
        use Ty::*;
        [Bool, I8, I16, I32, I64, F16, F32, F64, PtrGlobal, PtrConstant, PtrGeneric, PtrLocal, PtrPrivate]
    };
    /// Bits of a value in a register (1 for Bool).
    pub const fn bits(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::I8 => 8,
            Ty::I16 | Ty::F16 => 16,
            Ty::I32 | Ty::F32 | Ty::PtrLocal | Ty::PtrPrivate => 32,
            Ty::I64 | Ty::F64 | Ty::PtrGlobal | Ty::PtrConstant | Ty::PtrGeneric => 64,
        }
    }
    /// Whether it is half, single or double.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }
    /// Whether it is a pointer.
    pub const fn is_pointer(self) -> bool {
        self as u8 >= Ty::PtrGlobal as u8
    }
    /// Registers that a value takes (0 for Bool, which lives in a predicate).
    pub const fn registers(self) -> u32 {
        self.bits() / 32 + (self.bits() == 8 || self.bits() == 16) as u32
    }
}

/// Integer condition.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Cond {
    Eq,
    Ne,
    SLt,
    SLe,
    SGt,
    SGe,
    ULt,
    ULe,
    UGt,
    UGe,
}

impl Cond {
    /// All, in order of their numbers.
    pub const ALL: [Cond; 10] = {
        use Cond::*;
        [Eq, Ne, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe]
    };
}

/// Float condition: `O*` false, `U*` true where an operand is NaN.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum FCond {
    OEq,
    ONe,
    OLt,
    OLe,
    OGt,
    OGe,
    Ordered,
    UEq,
    UNe,
    ULt,
    ULe,
    UGt,
    UGe,
    Unordered,
}

impl FCond {
    /// All, in order of their numbers.
    pub const ALL: [FCond; 14] = {
        use FCond::*;
        [OEq, ONe, OLt, OLe, OGt, OGe, Ordered, UEq, UNe, ULt, ULe, UGt, UGe, Unordered]
    };
}

/// Rounding mode; also of `FRound*` (`NearestAway` is OpenCL's `round`).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Rounding {
    NearestEven,
    Zero,
    Up,
    Down,
    NearestAway,
}

impl Rounding {
    /// All, in order of their numbers.
    pub const ALL: [Rounding; 5] = {
        use Rounding::*;
        [NearestEven, Zero, Up, Down, NearestAway]
    };
}

/// A conversion between types (OpenCL C 6.2.3): packed into an immediate of `Op::Convert`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conversion {
    /// Source type: I8..=F64.
    pub from: Ty,
    /// Destination type: I8..=F64.
    pub to: Ty,
    /// An integer source is signed.
    pub from_signed: bool,
    /// An integer destination is signed.
    pub to_signed: bool,
    /// Rounding: to integers the default is `Zero`, to floats `NearestEven`.
    pub rounding: Rounding,
    /// Saturate (NaN gives 0).
    pub saturate: bool,
}

impl Conversion {
    /// Packs into an immediate.
    pub const fn pack(self) -> i32 {
        self.from as i32
            | (self.to as i32) << 4
            | (self.from_signed as i32) << 8
            | (self.to_signed as i32) << 9
            | (self.saturate as i32) << 10
            | (self.rounding as i32) << 11
    }
    /// Unpacks an immediate.
    pub const fn unpack(v: i32) -> Conversion {
        Conversion {
            from: Ty::ALL[(v & 15) as usize],
            to: Ty::ALL[(v >> 4 & 15) as usize],
            from_signed: v >> 8 & 1 != 0,
            to_signed: v >> 9 & 1 != 0,
            saturate: v >> 10 & 1 != 0,
            rounding: Rounding::ALL[(v >> 11 & 7) as usize],
        }
    }
}

/// Source modifiers of float arithmetic, in `imm`.
pub mod modifiers {
    #![allow(missing_docs)]
    pub const NEG_A: i32 = 1;
    pub const NEG_B: i32 = 2;
    pub const NEG_C: i32 = 4;
    pub const ABS_A: i32 = 8;
    pub const ABS_B: i32 = 16;
    /// Denormal sources and results become zero (`-cl-denorms-are-zero`).
    pub const FLUSH: i32 = 32;
    /// Single-precision results are brought into 0 to 1; a NaN becomes 0.
    pub const SATURATE: i32 = 64;
}

/// What compares do besides, in `imm2`.
pub mod compares {
    #![allow(missing_docs)]
    /// Absolute values of single- and double-precision sources.
    pub const ABS_A: u32 = 1;
    pub const ABS_B: u32 = 2;
    /// The result differs from predicate c (otherwise it holds where both do).
    pub const XOR: u32 = 4;
}

/// Minimum or maximum of 32-bit integers, in `imm`.
pub mod minmax {
    #![allow(missing_docs)]
    pub const MAX: i32 = 1;
    pub const UNSIGNED: i32 = 2;
}

/// Why `Trap` stops a launch.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum TrapCode {
    Unreachable,
    Abort,
}

macro_rules! functions {
    ($(#[$meta:meta])* $enum:ident { $( $name:ident $text:literal $arity:literal, )* }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum $enum { $( $name, )* }
        impl $enum {
            /// All, in order of their numbers.
            pub const ALL: &[$enum] = &[$( $enum::$name, )*];
            /// Name in OpenCL C.
            pub const fn name(self) -> &'static str { match self { $( $enum::$name => $text, )* } }
            /// Number of arguments.
            pub const fn arity(self) -> usize { match self { $( $enum::$name => $arity, )* } }
        }
    };
}

functions! {
    /// Integer built-ins that are not plain operations (OpenCL C 6.15.3); type and signedness come from the suffix.
    IntFn {
        AbsDiffS "abs_diff" 2, AbsDiffU "abs_diff" 2, AddSatS "add_sat" 2, AddSatU "add_sat" 2, SubSatS "sub_sat" 2, SubSatU "sub_sat" 2,
        HaddS "hadd" 2, HaddU "hadd" 2, RhaddS "rhadd" 2, RhaddU "rhadd" 2, MadSatS "mad_sat" 3, MadSatU "mad_sat" 3,
        Mad24S "mad24" 3, Mad24U "mad24" 3, Mul24S "mul24" 2, Mul24U "mul24" 2, BitSelect "bitselect" 3,
        UAddCarry "uadd_carry" 2, USubBorrow "usub_borrow" 2,
    }
}

functions! {
    /// Math built-ins of OpenCL.std (OpenCL C 6.15.2). A second result comes where the function returns through a
    /// pointer (fract, frexp, lgamma_r, modf, remquo, sincos): result 1 is the value returned.
    MathFn {
        Acos "acos" 1, Acosh "acosh" 1, Acospi "acospi" 1, Asin "asin" 1, Asinh "asinh" 1, Asinpi "asinpi" 1,
        Atan "atan" 1, Atan2 "atan2" 2, Atanh "atanh" 1, Atanpi "atanpi" 1, Atan2pi "atan2pi" 2, Cbrt "cbrt" 1,
        CopySign "copysign" 2, Cos "cos" 1, Cosh "cosh" 1, Cospi "cospi" 1, Erfc "erfc" 1, Erf "erf" 1,
        Exp "exp" 1, Exp2 "exp2" 1, Exp10 "exp10" 1, Expm1 "expm1" 1, Fdim "fdim" 2, Fract "fract" 1, Frexp "frexp" 1,
        Hypot "hypot" 2, Ilogb "ilogb" 1, Ldexp "ldexp" 2, Lgamma "lgamma" 1, LgammaR "lgamma_r" 1,
        Log "log" 1, Log2 "log2" 1, Log10 "log10" 1, Log1p "log1p" 1, Logb "logb" 1, MaxMag "maxmag" 2, MinMag "minmag" 2,
        Modf "modf" 1, Nan "nan" 1, NextAfter "nextafter" 2, Pow "pow" 2, Pown "pown" 2, Powr "powr" 2,
        Remainder "remainder" 2, Remquo "remquo" 2, Rootn "rootn" 2, Rsqrt "rsqrt" 1, Sin "sin" 1, SinCos "sincos" 1,
        Sinh "sinh" 1, Sinpi "sinpi" 1, Tan "tan" 1, Tanh "tanh" 1, Tanpi "tanpi" 1, Tgamma "tgamma" 1,
        HalfCos "half_cos" 1, HalfDivide "half_divide" 2, HalfExp "half_exp" 1, HalfExp2 "half_exp2" 1, HalfExp10 "half_exp10" 1,
        HalfLog "half_log" 1, HalfLog2 "half_log2" 1, HalfLog10 "half_log10" 1, HalfPowr "half_powr" 2, HalfRecip "half_recip" 1,
        HalfRsqrt "half_rsqrt" 1, HalfSin "half_sin" 1, HalfSqrt "half_sqrt" 1, HalfTan "half_tan" 1,
        NativeCos "native_cos" 1, NativeDivide "native_divide" 2, NativeExp "native_exp" 1, NativeExp2 "native_exp2" 1,
        NativeExp10 "native_exp10" 1, NativeLog "native_log" 1, NativeLog2 "native_log2" 1, NativeLog10 "native_log10" 1,
        NativePowr "native_powr" 2, NativeRecip "native_recip" 1, NativeRsqrt "native_rsqrt" 1, NativeSin "native_sin" 1,
        NativeSqrt "native_sqrt" 1, NativeTan "native_tan" 1,
        Degrees "degrees" 1, Radians "radians" 1, Mix "mix" 3, Step "step" 2, SmoothStep "smoothstep" 3, Sign "sign" 1,
        IsFinite "isfinite" 1, IsInf "isinf" 1, IsNan "isnan" 1, IsNormal "isnormal" 1, SignBit "signbit" 1,
    }
}
