//! From columns and sections to text, CSV, SVG and HTML.
mod bitmap;
mod csv;
mod html;
mod legends;
mod plots;
mod suite;
mod table;
mod timeline;

pub use csv::{csv, csv_field};
pub use html::{Page, escape};
pub use legends::counter_reference;
pub use plots::{Point, occupancy_plot, roofline, scatter, scatter_png, stall_stacks};
pub use suite::{rooflines, suite_page};
pub use table::{Align, markdown, summary, table};
pub use timeline::{Lane, Span, program_timeline};
