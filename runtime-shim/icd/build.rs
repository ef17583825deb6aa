//! Link arguments: symbols bind inside the library (a program may export the same names), and the library stays
//! mapped after `dlclose` because its worker threads and object headers live on.
fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
