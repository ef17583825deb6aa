//! The references by name; each lies in its kernel's folder.
use super::Reference;

#[path = "../../kernels/bfs/reference.rs"]
mod bfs;
#[path = "../../kernels/binsearch/reference.rs"]
mod binsearch;
#[path = "../../kernels/bitonic/reference.rs"]
mod bitonic;
#[path = "../../kernels/blackscholes/reference.rs"]
mod blackscholes;
#[path = "../../kernels/boxfilter/reference.rs"]
mod boxfilter;
#[path = "../../kernels/conv2d/reference.rs"]
mod conv2d;
#[path = "../../kernels/crc32/reference.rs"]
mod crc32;
#[path = "../../kernels/dgemm/reference.rs"]
mod dgemm;
#[path = "../../kernels/dot/reference.rs"]
mod dot;
#[path = "../../kernels/fft/reference.rs"]
mod fft;
#[path = "../../kernels/gaussian/reference.rs"]
mod gaussian;
#[path = "../../kernels/generic/reference.rs"]
mod generic;
#[path = "../../kernels/half_axpy/reference.rs"]
mod half_axpy;
#[path = "../../kernels/hashtable/reference.rs"]
mod hashtable;
#[path = "../../kernels/histogram/reference.rs"]
mod histogram;
#[path = "../../kernels/hotspot/reference.rs"]
mod hotspot;
#[path = "../../kernels/integers/reference.rs"]
mod integers;
#[path = "../../kernels/interpreter/reference.rs"]
mod interpreter;
#[path = "../../kernels/kmeans/reference.rs"]
mod kmeans;
#[path = "../../kernels/lavamd/reference.rs"]
mod lavamd;
#[path = "../../kernels/lu/reference.rs"]
mod lu;
#[path = "../../kernels/mandelbrot/reference.rs"]
mod mandelbrot;
#[path = "../../kernels/mathfns/reference.rs"]
mod mathfns;
#[path = "../../kernels/matmul/reference.rs"]
mod matmul;
#[path = "../../kernels/montecarlo/reference.rs"]
mod montecarlo;
#[path = "../../kernels/nbody/reference.rs"]
mod nbody;
#[path = "../../kernels/ndrange/reference.rs"]
mod ndrange;
#[path = "../../kernels/nw/reference.rs"]
mod nw;
#[path = "../../kernels/particles/reference.rs"]
mod particles;
#[path = "../../kernels/pathfinder/reference.rs"]
mod pathfinder;
#[path = "../../kernels/queens/reference.rs"]
mod queens;
#[path = "../../kernels/radix/reference.rs"]
mod radix;
#[path = "../../kernels/reduce/reference.rs"]
mod reduce;
#[path = "../../kernels/saxpy/reference.rs"]
mod saxpy;
#[path = "../../kernels/scan/reference.rs"]
mod scan;
#[path = "../../kernels/sobel/reference.rs"]
mod sobel;
#[path = "../../kernels/spmv/reference.rs"]
mod spmv;
#[path = "../../kernels/srad/reference.rs"]
mod srad;
#[path = "../../kernels/stencil3d/reference.rs"]
mod stencil3d;
#[path = "../../kernels/strsearch/reference.rs"]
mod strsearch;
#[path = "../../kernels/transpose/reference.rs"]
mod transpose;
#[path = "../../kernels/vecadd/reference.rs"]
mod vecadd;
#[path = "../../kernels/vectors/reference.rs"]
mod vectors;
#[path = "../../kernels/xtea/reference.rs"]
mod xtea;

/// Every reference.
const TABLE: &[(&str, Reference)] = &[
    ("bfs", bfs::reference),
    ("binsearch", binsearch::reference),
    ("bitonic", bitonic::reference),
    ("blackscholes", blackscholes::reference),
    ("boxfilter", boxfilter::reference),
    ("conv2d", conv2d::reference),
    ("crc32", crc32::reference),
    ("dgemm", dgemm::reference),
    ("dot", dot::reference),
    ("fft", fft::reference),
    ("gaussian", gaussian::reference),
    ("generic", generic::reference),
    ("half_axpy", half_axpy::reference),
    ("hashtable", hashtable::reference),
    ("histogram", histogram::reference),
    ("hotspot", hotspot::reference),
    ("integers", integers::reference),
    ("interpreter", interpreter::reference),
    ("kmeans", kmeans::reference),
    ("lavamd", lavamd::reference),
    ("lu", lu::reference),
    ("mandelbrot", mandelbrot::reference),
    ("mathfns", mathfns::reference),
    ("matmul", matmul::reference),
    ("montecarlo", montecarlo::reference),
    ("nbody", nbody::reference),
    ("ndrange", ndrange::reference),
    ("nw", nw::reference),
    ("particles", particles::reference),
    ("pathfinder", pathfinder::reference),
    ("queens", queens::reference),
    ("radix", radix::reference),
    ("reduce", reduce::reference),
    ("saxpy", saxpy::reference),
    ("scan", scan::reference),
    ("sobel", sobel::reference),
    ("spmv", spmv::reference),
    ("srad", srad::reference),
    ("stencil3d", stencil3d::reference),
    ("strsearch", strsearch::reference),
    ("transpose", transpose::reference),
    ("vecadd", vecadd::reference),
    ("vectors", vectors::reference),
    ("xtea", xtea::reference),
];

/// Names of all references.
pub const NAMES: &[&str] = &{
    let mut names = [""; TABLE.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = TABLE[i].0;
        i += 1;
    }
    names
};

/// The reference called `name`.
pub(crate) fn find(name: &str) -> Option<Reference> {
    TABLE.iter().find(|(n, _)| *n == name).map(|(_, r)| *r)
}
