//! Writes simple PDFs: one page per text, in a standard font.

/// Writes each text, which must not contain brackets, on a separate page.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let page = |at: usize| 4 + 2 * at;
    let kids: Vec<String> = (0..pages.len())
        .map(|at| format!("{} 0 R", page(at)))
        .collect();
    let mut objects = vec![
        "<</Type /Catalog /Pages 2 0 R>>".to_owned(),
        format!(
            "<</Type /Pages /Kids [{}] /Count {}>>",
            kids.join(" "),
            pages.len()
        ),
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>"
            .to_owned(),
    ];
    for (at, text) in pages.iter().enumerate() {
        let resources = "<</Font <</F1 3 0 R>>>>";
        objects.push(format!(
            "<</Type /Page /Parent 2 0 R /Resources {resources} /Contents {} 0 R>>",
            page(at) + 1
        ));
        let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!(
            "<</Length {}>>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    let (mut file, mut list) = (
        "%PDF-1.4\n".to_owned(),
        format!("0 {}\n0000000000 65535 f \n", objects.len() + 1),
    );
    for (number, object) in (1..).zip(&objects) {
        list += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    file +=
        &format!("xref\n{list}trailer\n<</Size {size} /Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}
