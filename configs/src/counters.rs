//! The `counters!` macro: one declaration a counter, carrying name, unit and documentation. The documentation is the
//! legend that reports print.

/// What is known of one counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// Dotted path inside the record, such as `issue.issued`.
    pub path: String,
    /// Unit (`cycles`, `instructions`, `B` …); empty for a ratio.
    pub unit: &'static str,
    /// Definition.
    pub doc: &'static str,
}

/// A value of a counter.
pub trait CounterValue: Copy + Default + PartialEq {
    /// As a number for tables and plots.
    fn as_f64(self) -> f64;
    /// Combines the values of two parts (of two units, or of two launches).
    fn combine(&mut self, other: Self);
    /// The value gathered since `earlier`.
    fn since(self, earlier: Self) -> Self;
}

impl CounterValue for u64 {
    fn as_f64(self) -> f64 {
        self as f64
    }
    fn combine(&mut self, other: u64) {
        *self += other;
    }
    fn since(self, earlier: u64) -> u64 {
        self - earlier
    }
}

impl CounterValue for f64 {
    fn as_f64(self) -> f64 {
        self
    }
    fn combine(&mut self, other: f64) {
        *self += other;
    }
    fn since(self, earlier: f64) -> f64 {
        self - earlier
    }
}

/// A maximum: combining two takes the larger.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Peak(pub u64);

impl CounterValue for Peak {
    fn as_f64(self) -> f64 {
        self.0 as f64
    }
    fn combine(&mut self, other: Peak) {
        self.0 = self.0.max(other.0);
    }
    fn since(self, _earlier: Peak) -> Peak {
        self
    }
}

/// A group of counters, declared by [`counters!`](crate::counters) or [`counted_enum!`](crate::counted_enum).
pub trait Counters {
    /// Appends what is known of every counter, with `prefix` in front of its path.
    fn describe(prefix: &str, out: &mut Vec<CounterInfo>);
    /// Appends every value, in the order of [`Counters::describe`].
    fn values(&self, out: &mut Vec<f64>);
    /// Combines with the counters of another part.
    fn combine(&mut self, other: &Self);
    /// What was counted since `earlier`.
    fn since(&self, earlier: &Self) -> Self;
}

/// Declares a struct of counters: `counters` are leaves with a unit, `sections` are nested groups.
#[macro_export]
macro_rules! counters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(counters { $( $(#[doc = $doc:literal])+ $field:ident : $ty:ty [ $unit:literal ] ),* $(,)? })?
            $(sections { $( $(#[doc = $sdoc:literal])+ $section:ident : $sty:ty ),* $(,)? })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(default)]
        pub struct $name {
            $($( $(#[doc = $doc])+ pub $field: $ty, )*)?
            $($( $(#[doc = $sdoc])+ pub $section: $sty, )*)?
        }
        impl $crate::Counters for $name {
            #[allow(unused_variables)]
            fn describe(prefix: &str, out: &mut Vec<$crate::CounterInfo>) {
                $($( out.push($crate::CounterInfo {
                    path: $crate::join(prefix, stringify!($field)), unit: $unit, doc: concat!($($doc),+).trim_ascii(),
                }); )*)?
                $($( <$sty as $crate::Counters>::describe(&$crate::join(prefix, stringify!($section)), out); )*)?
            }
            #[allow(unused_variables)]
            fn values(&self, out: &mut Vec<f64>) {
                $($( out.push($crate::CounterValue::as_f64(self.$field)); )*)?
                $($( $crate::Counters::values(&self.$section, out); )*)?
            }
            #[allow(unused_variables)]
            fn combine(&mut self, other: &Self) {
                $($( $crate::CounterValue::combine(&mut self.$field, other.$field); )*)?
                $($( $crate::Counters::combine(&mut self.$section, &other.$section); )*)?
            }
            #[allow(unused_variables)]
            fn since(&self, earlier: &Self) -> Self {
                $name {
                    $($( $field: $crate::CounterValue::since(self.$field, earlier.$field), )*)?
                    $($( $section: $crate::Counters::since(&self.$section, &earlier.$section), )*)?
                }
            }
        }
    };
}

/// Declares an enum together with an array of counts, one for each of its values: `counts[Cause::Fetch] += 1`.
#[macro_export]
macro_rules! counted_enum {
    (
        $(#[$emeta:meta])* pub enum $enum:ident;
        $(#[$meta:meta])* pub struct $name:ident [ $unit:literal ]
        { $( $(#[doc = $doc:literal])+ $variant:ident = $key:literal, )+ }
    ) => {
        $(#[$emeta])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $enum { $( $(#[doc = $doc])+ $variant, )+ }
        impl $enum {
            /// All, in order.
            pub const ALL: &[$enum] = &[$( $enum::$variant, )+];
            /// Name in records.
            pub const fn key(self) -> &'static str { match self { $( $enum::$variant => $key, )+ } }
            /// Definition.
            pub const fn doc(self) -> &'static str { match self { $( $enum::$variant => concat!($($doc),+).trim_ascii(), )+ } }
        }
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub [u64; $enum::ALL.len()]);
        $crate::count_array!($name, $enum, $unit);
    };
}

/// Implements what a count array indexed by an enum (with `ALL`, `key` and `doc`) needs: indexing, serialisation as a
/// table by key, and [`Counters`](crate::Counters).
#[macro_export]
macro_rules! count_array {
    ($name:ident, $enum:ty, $unit:literal) => {
        impl Default for $name {
            fn default() -> Self {
                $name([0; <$enum>::ALL.len()])
            }
        }
        impl std::ops::Index<$enum> for $name {
            type Output = u64;
            fn index(&self, i: $enum) -> &u64 {
                &self.0[i as usize]
            }
        }
        impl std::ops::IndexMut<$enum> for $name {
            fn index_mut(&mut self, i: $enum) -> &mut u64 {
                &mut self.0[i as usize]
            }
        }
        impl $name {
            /// Sum over all.
            pub fn total(&self) -> u64 {
                self.0.iter().sum()
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(<$enum>::ALL.iter().map(|e| (e.key(), self.0[*e as usize])))
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let map = <std::collections::BTreeMap<String, u64> as serde::Deserialize>::deserialize(deserializer)?;
                let mut counts = $name::default();
                for e in <$enum>::ALL {
                    counts.0[*e as usize] = map.get(e.key()).copied().unwrap_or(0);
                }
                Ok(counts)
            }
        }
        impl $crate::Counters for $name {
            fn describe(prefix: &str, out: &mut Vec<$crate::CounterInfo>) {
                for e in <$enum>::ALL {
                    out.push($crate::CounterInfo { path: $crate::join(prefix, e.key()), unit: $unit, doc: e.doc() });
                }
            }
            fn values(&self, out: &mut Vec<f64>) {
                out.extend(self.0.iter().map(|v| *v as f64));
            }
            fn combine(&mut self, other: &Self) {
                for (a, b) in self.0.iter_mut().zip(&other.0) {
                    *a += b;
                }
            }
            fn since(&self, earlier: &Self) -> Self {
                let mut counts = self.clone();
                for (a, b) in counts.0.iter_mut().zip(&earlier.0) {
                    *a -= b;
                }
                counts
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{Counters, Peak};

    counted_enum! {
        /// Why.
        pub enum Cause;
        /// Cycles by cause.
        pub struct Cycles ["cycles"] {
            /// One.
            One = "one",
            /// Two.
            Two = "two",
        }
    }
    counters! {
        /// Some.
        pub struct Some {
            counters {
                /// A sum.
                sum: u64 ["B"],
                /// A maximum.
                peak: Peak ["B"],
            }
            sections {
                /// Nested.
                cycles: Cycles,
            }
        }
    }

    #[test]
    fn counters_combine_describe_and_subtract() {
        let mut a = Some { sum: 3, peak: Peak(5), cycles: Cycles([1, 2]) };
        let b = Some { sum: 4, peak: Peak(2), cycles: Cycles([10, 20]) };
        let before = a.clone();
        a.combine(&b);
        let mut values = Vec::new();
        a.values(&mut values);
        assert_eq!(values, [7.0, 5.0, 11.0, 22.0]);
        assert_eq!(a.since(&before).cycles, b.cycles);
        let mut infos = Vec::new();
        Some::describe("x", &mut infos);
        assert_eq!(infos[3].path, "x.cycles.two");
        assert_eq!(infos[0].doc, "A sum.");
        assert_eq!(Cycles([1, 2]).total(), 3);
        assert_eq!(Cause::ALL.len(), 2);
        let mut c = Cycles::default();
        c[Cause::Two] += 4;
        assert_eq!(c[Cause::Two], 4);
    }
}
