//! The machines that come with the program.

/// A machine that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name, as `--config` takes it.
    pub name: &'static str,
    /// Its TOML.
    pub text: &'static str,
    /// Whether it only serves as a base of others.
    pub hidden: bool,
}

impl Preset {
    /// File name within the repository.
    pub fn file(&self) -> String {
        format!("configs/machines/{}.toml", self.name)
    }
}

macro_rules! presets {
    ($($name:literal $hidden:literal),* $(,)?) => {
        /// All of them.
        pub const PRESETS: &[Preset] = &[
            $(Preset { name: $name, text: include_str!(concat!("../machines/", $name, ".toml")), hidden: $hidden }),*
        ];
    };
}

presets! {
    "nvidia-h200" false,
    "wave64" false,
    "simd32" false,
    "tiny" false,
    "generic" true,
}

/// What machines build on that is no machine itself.
const LAYERS: &[Preset] = &[Preset { name: "library", text: include_str!("../machines/library.toml"), hidden: true }];

pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().chain(LAYERS).find(|p| p.name == name)
}
