//! Self-contained HTML pages: no script from elsewhere, no font, no image file.
use super::table::Align;

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:14px/1.45 system-ui,sans-serif;color:#282c34;max-width:1280px;margin:24px auto;padding:0 16px}\
h1{font-size:22px}h2{font-size:17px;margin-top:32px}table{border-collapse:collapse;font-size:13px}\
th,td{padding:3px 9px;border-bottom:1px solid #e2e5ea;white-space:nowrap}th{text-align:left;cursor:pointer;\
background:#f5f6f8;position:sticky;top:0}td.n{text-align:right;font-variant-numeric:tabular-nums}\
td.bad{color:#cd3c32;font-weight:600}.wide{overflow-x:auto}dt{font-weight:600}dd{margin:0 0 6px 20px}\
svg{max-width:100%;height:auto}";

/// Sorts a table by the column whose heading is clicked.
const SCRIPT: &str = "document.querySelectorAll('th').forEach(h=>h.onclick=()=>{const i=[...h.parentNode.children]\
.indexOf(h),b=h.closest('table').tBodies[0],up=h.dataset.up=h.dataset.up==='1'?'0':'1',k=r=>{const t=r.cells[i]\
.textContent,n=parseFloat(t);return isNaN(n)?t:n};[...b.rows].sort((x,y)=>{const a=k(x),c=k(y),d=typeof a===typeof c?\
(a<c?-1:a>c?1:0):(typeof a==='number'?-1:1);return up==='1'?d:-d}).forEach(r=>b.append(r))})";

/// A page under construction.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Page {
        Page { title: escape(title), body: format!("<h1>{}</h1>\n", escape(title)) }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        self.body += &format!("<h2>{}</h2>\n", escape(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", escape(text));
    }

    /// A plot (SVG made by this crate).
    pub fn plot(&mut self, svg: &str) {
        self.body += &format!("<div class=\"wide\">{svg}</div>\n");
    }

    /// A table; a cell that begins with `FAILED` stands out.
    pub fn table(&mut self, headings: &[(&str, &str)], align: &[Align], rows: &[Vec<String>]) {
        let head: String =
            headings.iter().map(|(h, doc)| format!("<th title=\"{}\">{}</th>", escape(doc), escape(h))).collect();
        let cell = |(text, align): (&String, &Align)| {
            let class = match (text.starts_with("FAILED"), align) {
                (true, _) => " class=\"bad\"",
                (_, Align::Right) => " class=\"n\"",
                (_, Align::Left) => "",
            };
            format!("<td{class}>{}</td>", escape(text))
        };
        let body: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>\n", row.iter().zip(align).map(cell).collect::<String>()))
            .collect();
        self.body += &format!(
            "<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
        );
    }

    /// Terms and their definitions.
    pub fn definitions<'a>(&mut self, items: impl IntoIterator<Item = (&'a str, String)>) {
        let items: String = items
            .into_iter()
            .map(|(term, text)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(term), escape(&text)))
            .collect();
        self.body += &format!("<dl>\n{items}</dl>\n");
    }

    /// The whole page.
    pub fn finish(self) -> String {
        let Page { title, body } = self;
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <style>{STYLE}</style></head>\n<body>\n{body}<script>{SCRIPT}</script>\n</body></html>\n"
        )
    }
}
