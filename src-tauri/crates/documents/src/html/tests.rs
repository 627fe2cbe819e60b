use proptest::prelude::*;

use super::*;

/// Formats headings as `# heading` and line breaks as `/`.
fn shown(page: &str) -> Vec<String> {
    let shown = |piece: TextBlock| match piece {
        TextBlock::Heading(text) => format!("# {text}"),
        TextBlock::Paragraph(text) => text.replace('\n', "/"),
    };
    pieces(page.as_bytes(), &|| true)
        .unwrap()
        .into_iter()
        .map(shown)
        .collect()
}

#[test]
fn extracts_headings_and_paragraphs() {
    let page =
            "<!DOCTYPE html><html><head><title>Guide</title><meta charset=utf-8><style>p { color: red }</style></head>
            <body><header><h1>The <em>light</em>house</h1></header>
            <p>It stands\n  on a&nbsp;rock<br>of granite &amp; gneiss &#8212; la&shy;mp.
            <p>It leans.<h2 class=x>The<br>lamp</h2>It burns <b>whale</b> oil.<hr>Always.</body></html>";
    assert_eq!(
        shown(page),
        [
            "# The lighthouse",
            "It stands on a rock/of granite & gneiss — lamp.",
            "It leans.",
            "# The lamp",
            "It burns whale oil.",
            "Always."
        ]
    );
}

#[test]
fn lists_tables_and_preformatted_text_keep_shape() {
    assert_eq!(
        shown("<ul><li>oil<li><p>wick</p><li></ul><p>end"),
        ["- oil", "- wick", "end"]
    );
    assert_eq!(
        shown("<table><tr><th>lamp<th>oil<tr><td>one</td><td>two</td></table>"),
        ["lamp | oil", "one | two"]
    );
    assert_eq!(shown("<pre>a\n  b</pre> c  d"), ["a/  b", "c d"]);
}

#[test]
fn skips_hidden_and_unreadable_elements() {
    for hidden in [
        "<script>if (1 < 2) document.write('<p>no</p>')</script>",
        "<SCRIPT src='https://example.org/x.js'></SCRIPT>",
        "<script src='x'/>",
        "<style>no</style>",
        "<nav><ul><li>no</ul><nav>no</nav>no</nav>",
        "<div role=navigation>no<div>no</div>no</div>",
        "<div hidden>no</div>",
        "<p hidden>no",
        "<span style='color: red; DISPLAY : none'>no</span>",
        "<i aria-hidden=true>no</i>",
        "<svg><title>no</title><text>no</text></svg>",
        "<template>no</template><noscript>no</noscript><!-- no --><iframe src=x>no</iframe>",
        "<select><option>no</select><input hidden value=no>",
        "<img src='https://example.org/no.png' alt=no>",
    ] {
        assert_eq!(
            shown(&format!("<p>yes</p>{hidden}<p>yes</p>")),
            ["yes", "yes"],
            "{hidden}"
        );
    }
    assert_eq!(shown("<ruby>灯<rt>とう<rp>)</rp></ruby>台"), ["灯台"]);
}

#[test]
fn broken_html_loses_no_text() {
    assert_eq!(shown("<h1>Never closed <p>"), ["# Never closed"]);
    let long = "word ".repeat(200);
    assert_eq!(shown(&format!("<h1>{long}<p>more")), [long.trim(), "more"]);
    assert_eq!(
        shown("a < b > c &unknown; <1>"),
        ["a < b > c &unknown; <1>"]
    );
    assert_eq!(shown("<p>a<![CDATA[ & b]]>"), ["a & b"]);
    assert_eq!(
        shown(&format!("{}deep", "<div><b>".repeat(200_000))),
        ["deep"]
    );
}

#[test]
fn passages_cite_the_headings_of_the_page() {
    let passages = read(b"<h2>The lamp</h2><p>Whale oil.</p><p># 2</p>", &|| true).unwrap();
    assert_eq!(
        passages,
        [Passage {
            heading: "The lamp".into(),
            text: "Whale oil.\n# 2".into()
        }]
    );
    assert_eq!(
        read(b"<html><title>x</title>", &|| true),
        Err(DocumentError::Empty)
    );
    let large = vec![b' '; MAX_FILE + 1];
    assert_eq!(
        read(&large, &|| true),
        Err(DocumentError::TooLarge {
            bytes: MAX_FILE + 1,
            limit: MAX_FILE
        })
    );
}

proptest! {
    /// Reading ends with a result or an error for any input.
    #[test]
    fn any_html_ends_with_a_result_or_an_error(page in "(<[/!?]?[a-z0-9]{0,6}( hidden| style=\"display:none\")?[ />\"]{0,3}|[a-z&;# \n]{0,9}){0,40}") {
        let _ = read(page.as_bytes(), &|| true);
    }
}
