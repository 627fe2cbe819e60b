import { expect, test } from "vitest";
import { allowPictures } from "./pictures";
import { render } from "./render";

/** Removes the `dir` attribute of every block to keep the tests readable. */
const shown = (text: string) => render(text).replace(/ dir="(?:auto|ltr)"/g, "").trim();
const check = (text: string, html: string) => expect(shown(text)).toBe(html);

test("dialogue is marked in the quotes of many languages", () => {
	check("“Sit,” she says.", "<p><q>“Sit,”</q> she says.</p>");
	check('"Sit," she says.', '<p><q>"Sit,"</q> she says.</p>');
	check("„Setz dich“, sagt sie.", "<p><q>„Setz dich“</q>, sagt sie.</p>");
	check("« Assieds-toi », dit-elle.", "<p><q>« Assieds-toi »</q>, dit-elle.</p>");
	check("「どうぞ」と言った。", "<p><q>「どうぞ」</q>と言った。</p>");
});

test("actions are emphasis, inside and around dialogue", () => {
	check("*She nods.* “Come *in*.”", "<p><em>She nods.</em> <q>“Come <em>in</em>.”</q></p>");
	check("*She says “no” and means it.*", "<p><em>She says <q>“no”</q> and means it.</em></p>");
});

test("inch sign is no quote", () => {
	check('A 6" lamp and a 7" one.', '<p>A 6" lamp and a 7" one.</p>');
});

test("open quote extends to the end of its paragraph", () => {
	check("“I was\n\nShe left.", "<p><q>“I was</q></p>\n<p>She left.</p>");
});

test("single line breaks are kept", () => {
	check("one\ntwo", "<p>one<br>two</p>");
});

test("link stores its address without navigating", () => {
	check("[here](https://evil.example/x)", '<p><a title="https://evil.example/x" data-address="https://evil.example/x" role="link" tabindex="0">here</a></p>');
	expect(render("[x](https://аpple.example)")).toContain('data-address="https://xn--pple-43d.example/"');
	expect(render("[x](file:///etc/passwd) [y](nook://localhost/) [z](vbscript:x)")).not.toMatch(/data-address/);
	expect(render('<a href="https://evil.example" onclick="x()" data-address="javascript:x">here</a>')).not.toMatch(/href|onclick|javascript/);
	expect(render("[x](javascript:alert(1))")).not.toMatch(/href/);
});

test("external pictures never load", () => {
	check("![a lamp](https://evil.example/pixel.png)", "<p>a lamp</p>");
	const html = render('<img src="https://evil.example/pixel.png" srcset="https://evil.example/2.png" onerror="x()">');
	expect(html).not.toMatch(/evil|onerror|srcset/);
	expect(render('<img src="data:image/svg+xml,<svg onload=x()>">')).not.toMatch(/svg/);
	expect(render("![dot](data:image/png;base64,AAAA)")).toContain('src="data:image/png;base64,AAAA"');
});

test("stored picture loads only from its own address", () => {
	const hash = "a".repeat(64);
	const windows = `http://nook.localhost/asset/${hash}`;
	const linux = `nook://localhost/asset/${hash}`;
	const shows = (address: string) => render(`![a](${address})`).includes("<img");
	expect([shows(windows), shows(linux)]).toEqual([false, false]);
	allowPictures("nook://localhost/");
	expect([shows(windows), shows(linux), shows("nook://localhost/leak?secret=x"), shows(`nook://localhost.evil/asset/${hash}`)]).toEqual([false, true, false, false]);
	allowPictures("http://nook.localhost/");
	expect([shows(windows), shows(linux), shows("http://nook.localhost/leak?x"), shows(`http://nook.localhost:81/asset/${hash}`)]).toEqual([true, false, false, false]);
	allowPictures(null);
});

test("list keeps its own numbers", () => {
	const numbers = (text: string) => [...render(text).matchAll(/value="(\d+)"/g)].map((found) => Number(found[1]));
	expect(numbers("1. one\n5. five\n\n2023. A year.")).toEqual([1, 5, 2023]);
	expect(numbers("1. a\n1. b\n1. c")).toEqual([1, 2, 3]);
	expect(numbers("7. a\n8. b")).toEqual([7, 8]);
	expect(numbers("0. a\n1. b")).toEqual([0, 1]);
	expect(numbers("2023. A year.")).toEqual([2023]);
});

test("tasks have checkboxes, and raw inputs are removed", () => {
	expect(render("- [x] done\n- [ ] open").match(/<input type="checkbox" disabled=""( checked="")?>/g)).toHaveLength(2);
	expect(render('<input type="checkbox">')).not.toContain("input");
});

test("table scrolls in a box and keeps its alignment", () => {
	const html = render("|a|b|\n|:-:|-:|\n|1|2|");
	expect(html).toMatch(/^<div class="table" tabindex="0"><table>/);
	expect(html).toContain('align="right"');
});

test("code shows its language and its source", () => {
	const html = render("```python title=x\na < b\n```");
	expect(html).toMatch(/^<figure class="code" dir="ltr"><figcaption><span>python<\/span><button type="button" data-copy="">Copy<\/button>/);
	expect(html).toContain("a &lt; b");
	expect(render("- x\n\n  ```\n  y\n  ```")).toMatch(/<li.*<figure class="code" dir="ltr">/s);
});

test("link definitions stay readable", () => {
	expect(shown("[1]: https://example.org/Path")).toMatch(/\[1\]: .*Path/);
});

test("addresses and paths keep their case", () => {
	const html = render("HTTPS://Example.org/Some/Path?Q=A and /Home/Sam/File.TXT and C:\\Users\\Sam");
	for (const kept of ["HTTPS://Example.org/Some/Path?Q=A", "/Home/Sam/File.TXT", "C:\\Users\\Sam"]) expect(html).toContain(kept);
	expect(html).toContain('data-address="https://example.org/Some/Path?Q=A"');
});

test("raw HTML cannot break out through our placeholder", () => {
	for (const piece of ["$$x$$", "```js\n1\n```", "- [ ] a"]) {
		const html = render(`<p title="\n\n${piece}\n\n" onclick=x() y="<img src=x onerror=x()>`);
		const page = document.createElement("div");
		page.innerHTML = html;
		expect(page.querySelector("[onclick], [onerror], img")).toBeNull();
	}
});

test.each([
	"<script>alert(1)</script>",
	"<iframe src='https://evil.example'></iframe>",
	"<style>body{display:none}</style>",
	"<svg><a href='https://evil.example'/></svg>",
	"<form action='https://evil.example'><input name='x'></form>",
	"<p style='position:fixed' class='modal' id='app' data-testid='send'>x</p>",
	"<div onmouseover='x()'>x</div>",
])("nothing of %s gets through", (text) => {
	expect(render(text)).not.toMatch(/script|iframe|style|svg|form|input|evil|class=|id=|data-|onmouse/);
});

const arabic = "مرحبا بالعالم";
const hebrew = "שלום עולם";

test.each([
	["numbers", `1. ${arabic}\n2. ${hebrew}`, "ol"],
	["bullets whose first item begins with code", `- \`./run.sh -v\` ${arabic}\n- ${arabic}`, "ul"],
	["tasks", `- [ ] ${hebrew}`, "ul"],
	["a loose list", `- ${arabic}\n\n- ${arabic}`, "ul"],
	["a quotation", `> ${hebrew}`, "blockquote"],
	["a table", `| ${arabic} | b |\n|---|---|\n| 1 | 2 |`, "table"],
])("right-to-left %s begin at the right", (_, text, tag) => {
	const page = render(text);
	expect(page).toContain(`<${tag} dir="rtl"`);
});

test("lists take the side of their own text", () => {
	expect(render("- one\n  - ".concat(arabic))).toMatch(/<ul>[\s\S]*<ul dir="rtl">/);
	expect(render(`- ${arabic}\n  - one`)).toMatch(/<ul dir="rtl">[\s\S]*<ul dir="ltr">/);
	expect(render("1. 12\n2. 34")).not.toContain('<ol dir=');
	expect(render(`- \\(x\\) ${arabic}`)).toContain('<ul dir="rtl"');
});

test("code keeps its own direction and does not decide the paragraph's", () => {
	expect(render(`\`./run.sh -v\` ${arabic}`)).toContain('<p dir="auto"><code dir="ltr">./run.sh -v</code>');
	expect(render(`- ${arabic}\n\n  \`\`\`sh\n  ls\n  \`\`\``)).toContain('<figure class="code" dir="ltr">');
});
