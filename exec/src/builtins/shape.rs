//! What a math function takes and gives besides floats.
use crate::ops::MathFn;

/// Where integers stand among the arguments and results of a function.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The second argument is a 32-bit integer.
    pub integer_argument: bool,
    /// The first result is a 32-bit integer (or a truth value).
    pub integer_result: bool,
    /// The second result is a 32-bit integer.
    pub integer_second: bool,
}

impl Shape {
    /// The shape of a function.
    pub const fn of(function: MathFn) -> Shape {
        Shape {
            integer_argument: matches!(function, MathFn::Ldexp | MathFn::Pown | MathFn::Rootn),
            integer_result: matches!(
                function,
                MathFn::Ilogb | MathFn::IsFinite | MathFn::IsInf | MathFn::IsNan | MathFn::IsNormal | MathFn::SignBit
            ),
            integer_second: matches!(function, MathFn::Frexp | MathFn::LgammaR | MathFn::Remquo),
        }
    }
}
