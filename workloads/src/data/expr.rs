//! Arithmetic expressions over a case's variables: `N`, `2*N`, `(W+15)/16*16`.
use super::element::Scalar;
use std::collections::BTreeMap;

/// Variables of a case by name.
pub type Variables = BTreeMap<String, Number>;

/// A whole number or a floating-point one.
#[derive(Copy, Clone, PartialEq, Debug, serde::Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// As a double.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    }

    /// Appends the value in the representation of `scalar`.
    pub fn push(self, scalar: Scalar, out: &mut Vec<u8>) {
        match self {
            Number::Int(v) => scalar.push_int(v as i128, out),
            Number::Float(v) => scalar.push_float(v, out),
        }
    }
}

/// Evaluates `text`: numbers, variables, `+ - * / %`, parentheses. Division of whole numbers truncates.
pub fn evaluate(text: &str, variables: &Variables) -> Result<Number, String> {
    let mut parser = Parser { text, rest: text.trim_start(), variables, depth: 0 };
    let value = parser.sum()?;
    if parser.rest.is_empty() { Ok(value) } else { Err(format!("`{text}`: `{}` is not understood there", parser.rest)) }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    variables: &'a Variables,
    depth: u32,
}

impl Parser<'_> {
    fn take(&mut self, c: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(c) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn sum(&mut self) -> Result<Number, String> {
        let mut left = self.product()?;
        loop {
            if self.take('+') {
                left = self.apply(left, i64::checked_add, |a, b| a + b)?;
            } else if self.take('-') {
                left = self.apply(left, i64::checked_sub, |a, b| a - b)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn apply(
        &mut self,
        left: Number,
        int: fn(i64, i64) -> Option<i64>,
        float: fn(f64, f64) -> f64,
    ) -> Result<Number, String> {
        let right = self.product()?;
        self.combine(left, right, int, float)
    }

    fn combine(
        &self,
        left: Number,
        right: Number,
        int: fn(i64, i64) -> Option<i64>,
        float: fn(f64, f64) -> f64,
    ) -> Result<Number, String> {
        match (left, right) {
            (Number::Int(a), Number::Int(b)) => {
                let why = || format!("`{}`: {a} and {b} overflow 64 bits or divide by zero", self.text);
                int(a, b).map(Number::Int).ok_or_else(why)
            }
            (a, b) => Ok(Number::Float(float(a.as_f64(), b.as_f64()))),
        }
    }

    fn product(&mut self) -> Result<Number, String> {
        let mut left = self.factor()?;
        loop {
            let (int, float): (fn(i64, i64) -> Option<i64>, fn(f64, f64) -> f64) = if self.take('*') {
                (i64::checked_mul, |a, b| a * b)
            } else if self.take('/') {
                (i64::checked_div, |a, b| a / b)
            } else if self.take('%') {
                (i64::checked_rem, |a, b| a % b)
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            left = self.combine(left, right, int, float)?;
        }
    }

    fn factor(&mut self) -> Result<Number, String> {
        self.depth += 1;
        if self.depth > 64 {
            return Err(format!("`{}` is nested too deeply", self.text));
        }
        let value = self.unguarded_factor();
        self.depth -= 1;
        value
    }

    fn unguarded_factor(&mut self) -> Result<Number, String> {
        if self.take('-') {
            let v = self.factor()?;
            return self.combine(Number::Int(0), v, i64::checked_sub, |a, b| a - b);
        }
        if self.take('(') {
            let v = self.sum()?;
            return if self.take(')') { Ok(v) } else { Err(format!("`{}` lacks a closing parenthesis", self.text)) };
        }
        let end = self.token_length();
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if token.is_empty() {
            return Err(format!("`{}`: a number or a variable is missing", self.text));
        }
        if let Some(&v) = self.variables.get(token) {
            return Ok(v);
        }
        parse_number(token).ok_or_else(|| {
            let known: Vec<&str> = self.variables.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            format!("`{token}` is neither a number nor a variable of this case (variables: {known})")
        })
    }

    /// Bytes of the number or name at the front; a sign belongs to it only inside an exponent.
    fn token_length(&self) -> usize {
        let decimal = !self.rest.starts_with("0x") && self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let mut previous = ' ';
        for (i, c) in self.rest.char_indices() {
            let exponent_sign = decimal && matches!(previous, 'e' | 'E') && matches!(c, '+' | '-');
            if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || exponent_sign) {
                return i;
            }
            previous = c;
        }
        self.rest.len()
    }
}

fn parse_number(token: &str) -> Option<Number> {
    if let Some(hex) = token.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Number::Int);
    }
    if let Ok(v) = token.parse::<i64>() {
        return Some(Number::Int(v));
    }
    if token.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return token.parse::<f64>().ok().map(Number::Float);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<Number, String> {
        let variables = [("N".to_string(), Number::Int(100)), ("x".to_string(), Number::Float(0.5))].into();
        evaluate(text, &variables)
    }

    #[test]
    fn arithmetic() {
        assert_eq!(eval("N"), Ok(Number::Int(100)));
        assert_eq!(eval(" (N + 15) / 16 * 16 "), Ok(Number::Int(112)));
        assert_eq!(eval("N % 7 - -3"), Ok(Number::Int(5)));
        assert_eq!(eval("x * 4"), Ok(Number::Float(2.0)));
        assert_eq!(eval("1e-3"), Ok(Number::Float(1e-3)));
        assert_eq!(eval("0x10+1"), Ok(Number::Int(17)));
        assert_eq!(eval("-777"), Ok(Number::Int(-777)));
    }

    #[test]
    fn errors() {
        for text in ["", "N +", "(N", "N / 0", "M", "9223372036854775807 + 1", "N N", "1.2.3"] {
            assert!(eval(text).is_err(), "{text}");
        }
        assert!(eval(&"(".repeat(1000)).is_err());
        assert!(eval(&"-".repeat(100_000)).is_err());
    }
}
