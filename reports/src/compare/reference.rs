//! The reference file: CSV with a header, one row a case.
use super::QUANTITIES;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Measured values.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// For each case its values in the order of [`QUANTITIES`].
    cases: BTreeMap<String, Measured>,
}

/// Measured values of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) values: Vec<Option<f64>>,
    pub(super) top_stall: String,
}

/// Why a reference cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceError {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1; 0 where none is to blame.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl std::fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.why),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.why),
        }
    }
}

impl std::error::Error for ReferenceError {}

impl Reference {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Reference, ReferenceError> {
        let text = std::fs::read_to_string(path).map_err(|e| ReferenceError {
            path: path.to_path_buf(),
            line: 0,
            why: format!("cannot be read: {e}"),
        })?;
        Reference::parse(&text, path)
    }

    /// Parses the text of a file; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Reference, ReferenceError> {
        let error = |line: usize, why: String| ReferenceError { path: path.to_path_buf(), line, why };
        let mut lines = text.lines().enumerate();
        let (_, header) = lines.next().ok_or_else(|| error(0, "is empty; the first line names the columns".into()))?;
        let header: Vec<String> = fields(header);
        let place = |name: &str| header.iter().position(|h| h == name);
        let case = place("case").ok_or_else(|| error(1, "there is no column `case`".into()))?;
        let columns: Vec<Option<usize>> = QUANTITIES.iter().map(|q| place(q.column)).collect();
        if columns.iter().all(Option::is_none) {
            let known: Vec<&str> = QUANTITIES.iter().map(|q| q.column).collect();
            return Err(error(1, format!("none of the columns is known; known are {}", known.join(", "))));
        }
        let stall = place("top_stall");
        let mut cases = BTreeMap::new();
        for (i, line) in lines.filter(|(_, l)| !l.trim().is_empty()) {
            let row = fields(line);
            if row.len() != header.len() {
                return Err(error(i + 1, format!("{} fields, but the header has {}", row.len(), header.len())));
            }
            let mut values = Vec::with_capacity(columns.len());
            for (quantity, column) in QUANTITIES.iter().zip(&columns) {
                let field = column.map_or("", |c| row[c].trim());
                let value =
                    match field {
                        "" => None,
                        text => Some(text.parse::<f64>().map_err(|_| {
                            error(i + 1, format!("column {}: `{text}` is not a number", quantity.column))
                        })?),
                    };
                values.push(value.filter(|v| v.is_finite()));
            }
            let top_stall = stall.map_or(String::new(), |c| row[c].clone());
            if cases.insert(row[case].clone(), Measured { values, top_stall }).is_some() {
                return Err(error(i + 1, format!("the case `{}` occurs twice", row[case])));
            }
        }
        Ok(Reference { cases })
    }

    /// Names of the cases.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        self.cases.keys().map(String::as_str)
    }

    pub(super) fn find(&self, case: &str) -> Option<&Measured> {
        self.cases.get(case)
    }
}

/// Splits a line of CSV; quotation marks protect commas and double themselves.
fn fields(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        // There is always a last field.
        let last = out.len() - 1;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                out[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(String::new()),
            c => out[last].push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Reference, String> {
        Reference::parse(text, Path::new("r.csv")).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_are_found_by_name_and_may_be_empty() {
        let r = parse("regs,case,other\n8,\"a,b\",x\n,c,y\n").unwrap();
        let regs = super::super::quantities::index("regs").unwrap();
        assert_eq!(r.find("a,b").unwrap().values[regs], Some(8.0));
        assert_eq!(r.find("c").unwrap().values[regs], None);
    }

    #[test]
    fn mistakes_name_the_line() {
        assert_eq!(parse("regs\n1\n").unwrap_err(), "r.csv:1: there is no column `case`");
        assert_eq!(parse("case,regs\na,x\n").unwrap_err(), "r.csv:2: column regs: `x` is not a number");
        assert_eq!(parse("case,regs\na\n").unwrap_err(), "r.csv:2: 1 fields, but the header has 2");
        assert_eq!(parse("case,regs\na,1\na,2\n").unwrap_err(), "r.csv:3: the case `a` occurs twice");
    }
}
