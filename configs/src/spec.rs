//! The `spec!` macro: one declaration a configuration key, carrying type, unit, range and documentation.

/// What is known of one configuration key; `warpscope config show` prints these.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyInfo {
    /// Dotted path, such as `compute_unit.l1.capacity`; a map's entries appear as `*`.
    pub path: String,
    /// Rust type of the value as text.
    pub ty: &'static str,
    /// Unit (`B`, `cycles`, `MHz` …); empty for a pure number or a name.
    pub unit: &'static str,
    /// The allowed range as text; empty where any value of the type is allowed.
    pub range: &'static str,
    /// Documentation, one paragraph.
    pub doc: &'static str,
}

impl KeyInfo {
    /// Whether the key may be left out.
    pub fn is_optional(&self) -> bool {
        self.ty.starts_with("Option")
    }
}

/// What is known of one section.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionInfo {
    /// Dotted path; a map's entries appear as `*`.
    pub path: String,
    /// Documentation, one paragraph.
    pub doc: &'static str,
    /// Whether the section may be left out.
    pub optional: bool,
}

/// Every key and section below some point, in the order of their declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    /// The keys.
    pub keys: Vec<KeyInfo>,
    /// The sections that hold them.
    pub sections: Vec<SectionInfo>,
}

/// A value that is out of range or contradicts another one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Problem {
    /// Dotted path of the key.
    pub path: String,
    /// What is wrong and what would be right.
    pub why: String,
}

/// A section of the machine description, declared by [`spec!`](crate::spec).
pub trait Section {
    /// Whether the section may be left out.
    const OPTIONAL: bool = false;
    /// Appends every key below this section, with `prefix` in front.
    fn keys(prefix: &str, out: &mut Keys);
    /// Checks every key's range.
    fn check(&self, prefix: &str, problems: &mut Vec<Problem>);
}

impl<T: Section> Section for std::collections::BTreeMap<String, T> {
    fn keys(prefix: &str, out: &mut Keys) {
        let path = join(prefix, "*");
        out.sections.push(SectionInfo { path: path.clone(), doc: "", optional: true });
        T::keys(&path, out);
    }
    fn check(&self, prefix: &str, problems: &mut Vec<Problem>) {
        for (name, section) in self {
            section.check(&join(prefix, name), problems);
        }
    }
}

impl<T: Section> Section for Option<T> {
    const OPTIONAL: bool = true;
    fn keys(prefix: &str, out: &mut Keys) {
        T::keys(prefix, out);
    }
    fn check(&self, prefix: &str, problems: &mut Vec<Problem>) {
        if let Some(section) = self {
            section.check(prefix, problems);
        }
    }
}

/// Joins two parts of a dotted path.
pub fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_string() } else { format!("{prefix}.{key}") }
}

/// Declares a section: `keys` are leaves with a unit and, after `=`, an inclusive range; `sections` are nested.
#[macro_export]
macro_rules! spec {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(keys { $( #[doc = $doc:literal] $(#[doc = $more:literal])* $field:ident : $ty:ty [ $unit:literal ] $(= $range:expr)? ),* $(,)? })?
            $(sections { $( #[doc = $sdoc:literal] $(#[doc = $smore:literal])* $section:ident : $sty:ty ),* $(,)? })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($( #[doc = $doc] $(#[doc = $more])* pub $field: $ty, )*)?
            $($( #[doc = $sdoc] $(#[doc = $smore])* pub $section: $sty, )*)?
        }
        impl $crate::Section for $name {
            #[allow(unused_variables)]
            fn keys(prefix: &str, out: &mut $crate::Keys) {
                $($( out.keys.push($crate::KeyInfo {
                    path: $crate::join(prefix, stringify!($field)),
                    ty: stringify!($ty), unit: $unit,
                    range: concat!($(stringify!($range))?),
                    doc: concat!($doc, $($more,)*),
                }); )*)?
                $($(
                    let path = $crate::join(prefix, stringify!($section));
                    out.sections.push($crate::SectionInfo {
                        path: path.clone(),
                        doc: concat!($sdoc, $($smore,)*),
                        optional: <$sty as $crate::Section>::OPTIONAL,
                    });
                    <$sty as $crate::Section>::keys(&path, out);
                )*)?
            }
            #[allow(unused_variables)]
            fn check(&self, prefix: &str, problems: &mut Vec<$crate::Problem>) {
                $($( $(
                    let range: std::ops::RangeInclusive<$ty> = $range;
                    if !range.contains(&self.$field) {
                        problems.push($crate::Problem {
                            path: $crate::join(prefix, stringify!($field)),
                            why: format!("{} is out of range: allowed is {} to {}{}{}", self.$field, range.start(), range.end(),
                                if $unit.is_empty() { "" } else { " " }, $unit),
                        });
                    }
                )? )*)?
                $($( self.$section.check(&$crate::join(prefix, stringify!($section)), problems); )*)?
            }
        }
    };
}
