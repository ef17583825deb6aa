//! Build options (OpenCL 3.0 API, 5.8.6): parsed against a list, so that nothing else reaches the compiler.
use std::fmt;

/// Version of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standard {
    /// OpenCL C 1.0.
    Cl10,
    /// OpenCL C 1.1.
    Cl11,
    /// OpenCL C 1.2, what the specification prescribes where no option says otherwise.
    Cl12,
    /// OpenCL C 2.0.
    Cl20,
    /// OpenCL C 3.0.
    Cl30,
    /// C++ for OpenCL 1.0.
    Cpp10,
    /// C++ for OpenCL 2021.
    Cpp2021,
}

impl Standard {
    const TABLE: [(&'static str, Standard); 9] = [
        ("CL1.0", Standard::Cl10),
        ("CL1.1", Standard::Cl11),
        ("CL1.2", Standard::Cl12),
        ("CL2.0", Standard::Cl20),
        ("CL3.0", Standard::Cl30),
        ("clc++1.0", Standard::Cpp10),
        ("CLC++1.0", Standard::Cpp10),
        ("clc++2021", Standard::Cpp2021),
        ("CLC++2021", Standard::Cpp2021),
    ];

    /// The value of `-cl-std`.
    pub fn name(self) -> &'static str {
        Self::TABLE.iter().find(|(_, s)| *s == self).map_or("", |(n, _)| n)
    }
}

/// Parsed build options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// `-cl-std`, or the default given to the parser.
    pub standard: Standard,
    /// `-D` definitions, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-I` directories.
    pub include: Vec<String>,
    /// `-cl-single-precision-constant`.
    pub single_precision_constant: bool,
    /// `-cl-denorms-are-zero`.
    pub denorms_are_zero: bool,
    /// `-cl-fp32-correctly-rounded-divide-sqrt`.
    pub correctly_rounded_divide_sqrt: bool,
    /// `-cl-opt-disable`.
    pub opt_disable: bool,
    /// `-cl-mad-enable`, or an option that implies it.
    pub mad_enable: bool,
    /// `-cl-no-signed-zeros`, or an option that implies it.
    pub no_signed_zeros: bool,
    /// `-cl-unsafe-math-optimizations`, or an option that implies it.
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`, or an option that implies it.
    pub finite_math_only: bool,
    /// `-cl-fast-relaxed-math`.
    pub fast_relaxed_math: bool,
    /// `-cl-uniform-work-group-size`.
    pub uniform_work_group_size: bool,
    /// `-cl-no-subgroup-ifp`.
    pub no_subgroup_ifp: bool,
    /// `-cl-kernel-arg-info`.
    pub kernel_arg_info: bool,
    /// `-w`.
    pub no_warnings: bool,
    /// `-Werror`.
    pub warnings_are_errors: bool,
}

/// An option that is not known, or lacks its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// Not on the list.
    #[error("build option {0:?} is not one that OpenCL defines")]
    Unknown(String),
    /// `-D` or `-I` at the end.
    #[error("build option {0} lacks its value")]
    Lacking(&'static str),
    /// `-cl-std` with another value.
    #[error("-cl-std={0} is not known: use CL1.0, CL1.1, CL1.2, CL2.0, CL3.0, CLC++1.0 or CLC++2021")]
    Standard(String),
    /// `-D` followed by something that is no macro name.
    #[error("-D {0:?} does not begin with a macro name")]
    Define(String),
    /// A quotation that does not end.
    #[error("a quotation mark in the build options is not closed")]
    Quotation,
}

impl BuildOptions {
    /// No options.
    pub fn new(standard: Standard) -> BuildOptions {
        BuildOptions {
            standard,
            defines: Vec::new(),
            include: Vec::new(),
            single_precision_constant: false,
            denorms_are_zero: false,
            correctly_rounded_divide_sqrt: false,
            opt_disable: false,
            mad_enable: false,
            no_signed_zeros: false,
            unsafe_math: false,
            finite_math_only: false,
            fast_relaxed_math: false,
            uniform_work_group_size: false,
            no_subgroup_ifp: false,
            kernel_arg_info: false,
            no_warnings: false,
            warnings_are_errors: false,
        }
    }

    /// Parses an option string; `standard` holds where it has no `-cl-std`.
    pub fn parse(text: &str, standard: Standard) -> Result<BuildOptions, OptionsError> {
        let mut options = BuildOptions::new(standard);
        let mut words = split(text)?.into_iter();
        while let Some(word) = words.next() {
            if let Some(rest) = word.strip_prefix("-D") {
                let value = joined(rest, &mut words).ok_or(OptionsError::Lacking("-D"))?;
                if !value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                    return Err(OptionsError::Define(value));
                }
                options.defines.push(value);
            } else if let Some(rest) = word.strip_prefix("-I") {
                options.include.push(joined(rest, &mut words).ok_or(OptionsError::Lacking("-I"))?);
            } else if let Some(name) = word.strip_prefix("-cl-std=") {
                let known = Standard::TABLE.iter().find(|(n, _)| *n == name);
                options.standard = known.ok_or_else(|| OptionsError::Standard(name.to_string()))?.1;
            } else {
                options.flag(&word)?;
            }
        }
        Ok(options)
    }

    fn flag(&mut self, word: &str) -> Result<(), OptionsError> {
        match word {
            "-cl-single-precision-constant" => self.single_precision_constant = true,
            "-cl-denorms-are-zero" => self.denorms_are_zero = true,
            "-cl-fp32-correctly-rounded-divide-sqrt" => self.correctly_rounded_divide_sqrt = true,
            "-cl-opt-disable" => self.opt_disable = true,
            "-cl-mad-enable" => self.mad_enable = true,
            "-cl-no-signed-zeros" => self.no_signed_zeros = true,
            "-cl-unsafe-math-optimizations" => self.set_unsafe_math(),
            "-cl-finite-math-only" => self.finite_math_only = true,
            "-cl-fast-relaxed-math" => {
                self.set_unsafe_math();
                self.finite_math_only = true;
                self.fast_relaxed_math = true;
            }
            "-cl-uniform-work-group-size" => self.uniform_work_group_size = true,
            "-cl-no-subgroup-ifp" => self.no_subgroup_ifp = true,
            "-cl-kernel-arg-info" => self.kernel_arg_info = true,
            "-w" => self.no_warnings = true,
            "-Werror" => self.warnings_are_errors = true,
            // Line tables are always made; -g asks for nothing more here.
            "-g" | "-cl-strict-aliasing" => {}
            _ => return Err(OptionsError::Unknown(word.to_string())),
        }
        Ok(())
    }

    /// The specification lets this one imply multiply-add and the sign of zero.
    fn set_unsafe_math(&mut self) {
        self.unsafe_math = true;
        self.mad_enable = true;
        self.no_signed_zeros = true;
    }

    /// The arguments for clang that follow from these options.
    pub(crate) fn clang_arguments(&self) -> Vec<String> {
        let mut out = vec![format!("-cl-std={}", self.standard.name())];
        out.extend(self.defines.iter().map(|d| format!("-D{d}")));
        out.extend(self.include.iter().map(|d| format!("-I{d}")));
        let flags = [
            (self.single_precision_constant, "-cl-single-precision-constant"),
            (self.denorms_are_zero, "-cl-denorms-are-zero"),
            (self.correctly_rounded_divide_sqrt, "-cl-fp32-correctly-rounded-divide-sqrt"),
            (self.mad_enable, "-cl-mad-enable"),
            (self.no_signed_zeros, "-cl-no-signed-zeros"),
            (self.unsafe_math, "-cl-unsafe-math-optimizations"),
            (self.finite_math_only, "-cl-finite-math-only"),
            (self.fast_relaxed_math, "-cl-fast-relaxed-math"),
            (self.uniform_work_group_size && self.standard >= Standard::Cl20, "-cl-uniform-work-group-size"),
            (self.kernel_arg_info, "-cl-kernel-arg-info"),
            (self.no_warnings, "-w"),
            (self.warnings_are_errors, "-Werror"),
        ];
        out.extend(flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag.to_string()));
        out
    }
}

impl PartialOrd for Standard {
    fn partial_cmp(&self, other: &Standard) -> Option<std::cmp::Ordering> {
        Some((*self as u8).cmp(&(*other as u8)))
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn joined(rest: &str, words: &mut impl Iterator<Item = String>) -> Option<String> {
    if rest.is_empty() { words.next() } else { Some(rest.to_string()) }
}

/// Splits at white space outside quotation marks; a backslash takes the next character as it is.
fn split(text: &str) -> Result<Vec<String>, OptionsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(OptionsError::Quotation);
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_keep_spaces_in_quotation_marks() {
        let o = BuildOptions::parse("-D N=4 -DT='unsigned int' -I \"a b\" -cl-std=CL2.0", Standard::Cl12).unwrap();
        assert_eq!(o.defines, ["N=4", "T=unsigned int"]);
        assert_eq!(o.include, ["a b"]);
        assert_eq!(o.standard, Standard::Cl20);
    }

    #[test]
    fn relaxed_math_implies_the_others() {
        let o = BuildOptions::parse("-cl-fast-relaxed-math", Standard::Cl12).unwrap();
        assert!(o.mad_enable && o.no_signed_zeros && o.unsafe_math && o.finite_math_only);
    }

    #[test]
    fn options_of_the_compiler_are_refused() {
        for bad in ["-fplugin=x.so", "-o", "-Xclang", "-cl-nv-verbose", "x.c", "@file"] {
            assert_eq!(BuildOptions::parse(bad, Standard::Cl12), Err(OptionsError::Unknown(bad.into())));
        }
        assert_eq!(BuildOptions::parse("-D", Standard::Cl12), Err(OptionsError::Lacking("-D")));
        assert_eq!(BuildOptions::parse("-D -x", Standard::Cl12), Err(OptionsError::Define("-x".into())));
        assert_eq!(BuildOptions::parse("-D 'a", Standard::Cl12), Err(OptionsError::Quotation));
    }
}
