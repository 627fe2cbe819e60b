import { beforeAll, expect, test } from "vitest";
import { extras } from "./extras.svelte";
import { Streamed } from "./streamed";

beforeAll(() => extras.loadMath());

const html = (text: string) => new Streamed(extras).blocks(text).map((block) => block.html).join("");
const formulas = (text: string) => html(text).match(/<math/g)?.length ?? 0;

test.each(["$$x^2$$", "so $$x$$ is", "$$ a + b $$", "$$\na\n- b\n$$", "\\[x\\]", "\\[\nx\n\\]", "\\(x\\)", "- \\(x\\)", "“\\(x\\)”", "*\\(x\\)*"])("%j is a formula", (text) => expect(formulas(text)).toBe(1));

test.each(["$5 and $10", "$x$", "R$ 12,29", "$$5 and $$10", "$$$", "$$ and $$", "from $$ to $$$", "$$x", "\\(x", "\\(\n\nx\\)", "`$$x$$`", "```\n$$x$$\n```", "\\\\(x)"])("%j is text", (text) => {
	expect(formulas(text)).toBe(0);
});

test("prices stay as written", () => {
	expect(html("It costs $5 here and $$10 there, **$1.50** or R$ 12,29.").trim()).toBe('<p dir="auto">It costs $5 here and $$10 there, <strong>$1.50</strong> or R$ 12,29.</p>');
});

test("invalid LaTeX stays as written", () => {
	for (const tex of ["\\frac", "\\undefined", "{".repeat(1000), "\\href{http://a}{b}", "\\def\\a{\\a\\a}\\a", "\\includegraphics{http://a.b/x.png}"]) {
		expect(html(`\\(${tex}\\)`)).toContain(`<code dir="ltr">\\(${tex}\\)</code>`);
	}
});

test("formula keeps alignment and colours only", () => {
	expect(html("$$\\begin{aligned}a&=b\\end{aligned}$$")).toMatch(/class="tml-right" style="padding-left:0em;padding-right:0em"/);
	expect(html("\\(\\color{red}x\\)")).toContain('style="color:#ff0000"');
	expect(html("\\(\\rule{900em}{900em}\\)")).not.toContain("900");
});
