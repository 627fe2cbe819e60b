import { expect, test } from "vitest";
import { render } from "./render";

const check = (text: string, html: string) => expect(render(text).trim()).toBe(html);

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

test("an inch is no quote", () => {
	check('A 6" lamp and a 7" one.', '<p>A 6" lamp and a 7" one.</p>');
});

test("a quote left open reaches to the end of its paragraph", () => {
	check("“I was\n\nShe left.", "<p><q>“I was</q></p>\n<p>She left.</p>");
});

test("single line breaks stay", () => {
	check("one\ntwo", "<p>one<br>two</p>");
});

test("links lead nowhere and show where they would", () => {
	check("[here](https://evil.example/x)", '<p><a title="https://evil.example/x">here</a></p>');
	expect(render('<a href="https://evil.example" onclick="x()">here</a>')).not.toMatch(/href|onclick/);
	expect(render("[x](javascript:alert(1))")).not.toMatch(/href/);
});

test("pictures from elsewhere never load", () => {
	check("![a lamp](https://evil.example/pixel.png)", "<p>a lamp</p>");
	const html = render('<img src="https://evil.example/pixel.png" srcset="https://evil.example/2.png" onerror="x()">');
	expect(html).not.toMatch(/evil|onerror|srcset/);
	expect(render('<img src="data:image/svg+xml,<svg onload=x()>">')).not.toMatch(/svg/);
	expect(render("![dot](data:image/png;base64,AAAA)")).toContain('src="data:image/png;base64,AAAA"');
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
