//! Which launches of a long program are simulated in time (and captured); the others run functionally, so that results
//! are right all the same.
use super::nominal::Shape;
use std::collections::HashMap;
use std::str::FromStr;

/// Names of the environment variables.
mod variable {
    pub const FUNCTIONAL_AFTER: &str = "WARPSCOPE_FUNCTIONAL_AFTER";
    pub const KERNELS: &str = "WARPSCOPE_KERNELS";
    pub const EXCLUDE: &str = "WARPSCOPE_EXCLUDE";
    pub const SKIP: &str = "WARPSCOPE_SKIP";
    pub const LIMIT: &str = "WARPSCOPE_LIMIT";
    pub const PER_KERNEL: &str = "WARPSCOPE_PER_KERNEL";
}

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Launches of a context after which none is timed.
    functional_after: Option<u64>,
    /// Names of kernels, with `*` for any text; empty: all.
    include: Vec<String>,
    /// Names of kernels that are left out.
    exclude: Vec<String>,
    /// Launches of chosen kernels that are passed over first.
    skip: u64,
    /// Launches of chosen kernels after those; none: all.
    limit: Option<u64>,
    /// Launches of each kernel at each size; none: all.
    per_kernel: Option<u64>,
}

impl Rules {
    /// From the environment, or what is wrong there.
    pub fn from_environment() -> Result<Rules, String> {
        Ok(Rules {
            functional_after: number(variable::FUNCTIONAL_AFTER)?,
            include: names(variable::KERNELS),
            exclude: names(variable::EXCLUDE),
            skip: number(variable::SKIP)?.unwrap_or(0),
            limit: number(variable::LIMIT)?,
            per_kernel: number(variable::PER_KERNEL)?,
        })
    }
}

fn text(variable: &str) -> Option<String> {
    std::env::var_os(variable).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
}

fn number<T: FromStr>(variable: &str) -> Result<Option<T>, String> {
    let Some(text) = text(variable) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| format!("{variable} is {text:?}: it takes a whole number"))
}

/// Patterns separated by commas.
fn names(variable: &str) -> Vec<String> {
    let text = text(variable).unwrap_or_default();
    text.split(',').map(|n| n.trim().to_string()).filter(|n| !n.is_empty()).collect()
}

/// The launches of a context so far.
#[derive(Default, Debug)]
pub struct Selection {
    launches: u64,
    chosen: u64,
    taken: u64,
    /// Those of each kernel and size.
    by_shape: HashMap<Shape, u64>,
}

impl Selection {
    /// Counts a launch; says whether it is one of those to be timed.
    pub fn takes(&mut self, rules: &Rules, shape: &Shape) -> bool {
        let kernel = shape.kernel();
        let early = rules.functional_after.is_none_or(|n| self.launches < n);
        self.launches += 1;
        let any = |patterns: &[String]| patterns.iter().any(|p| matches(p.as_bytes(), kernel.as_bytes()));
        if !(rules.include.is_empty() || any(&rules.include)) || any(&rules.exclude) {
            return false;
        }
        let index = self.chosen;
        self.chosen += 1;
        let taken = early
            && index >= rules.skip
            && rules.limit.is_none_or(|limit| index - rules.skip < limit)
            && rules.per_kernel.is_none_or(|most| self.another(shape, most));
        self.taken += u64::from(taken);
        taken
    }

    /// Counts a launch of a shape, unless there were `most` already.
    fn another(&mut self, shape: &Shape, most: u64) -> bool {
        let count = self.by_shape.entry(shape.clone()).or_default();
        let more = *count < most;
        *count += u64::from(more);
        more
    }

    /// Whether the launch just counted is the first one that was taken.
    pub fn first_taken(&self) -> bool {
        self.taken == 1
    }
}

/// Whether `name` is `pattern`, in which `*` stands for any text.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to go on if what follows the last star does not fit here.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((behind, from)) = star {
            star = Some((behind, from + 1));
            p = behind;
            n = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let check = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(check("gemm", "gemm") && check("*", "") && check("*gemm*", "my_gemm_2") && check("a*b*c", "aXbYbc"));
        assert!(!check("gemm", "gemm2") && !check("a*b", "abc") && !check("", "a") && !check("a*b*c", "acb"));
        // Many stars do not take for ever.
        assert!(!check(&"*a".repeat(30), &"a".repeat(29)));
    }

    #[test]
    fn rules_choose_by_name_and_by_number() {
        let chosen = |rules: &Rules, names: &[&str]| {
            let mut selection = Selection::default();
            names.iter().map(|n| selection.takes(rules, &Shape::new(n, 64))).collect::<Vec<_>>()
        };
        let names = ["a", "b", "a", "b", "a", "a"];
        let all = Rules::default();
        assert_eq!(chosen(&all, &names), [true; 6]);
        let window = Rules { include: vec!["a".into()], skip: 1, limit: Some(2), ..all.clone() };
        assert_eq!(chosen(&window, &names), [false, false, true, false, true, false]);
        let first = Rules { functional_after: Some(3), exclude: vec!["b*".into()], ..all.clone() };
        assert_eq!(chosen(&first, &names), [true, false, true, false, false, false]);
        let each = Rules { per_kernel: Some(2), ..all };
        assert_eq!(chosen(&each, &names), [true, true, true, true, false, false]);
        let mut selection = Selection::default();
        let sizes = [64, 64, 64, 128].map(|n| selection.takes(&each, &Shape::new("a", n)));
        assert_eq!(sizes, [true, true, false, true]);
    }
}
