import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { patterns } from "../../../tests/mock/patterns";
import { extras } from "./extras.svelte";
import { highlight } from "./highlight";
import { Streamed } from "./streamed";

/** `INGLENOOK_FUZZ_SECONDS` makes the generators run longer, with a new seed each time. */
const seconds = Number(process.env.INGLENOOK_FUZZ_SECONDS ?? 0);
const run = (numRuns: number) => (seconds > 0 ? { numRuns: 10_000_000, interruptAfterTimeLimit: seconds * 1000 } : { numRuns, seed: 20_261_126 });
const patience = (seconds + 180) * 1000;

/** Gives control back to the event loop: within one task, the weak references of jsdom keep every page in memory. */
const released = () => new Promise<void>((resolve) => setImmediate(resolve));

/** jsdom is much slower than a browser, and the machine may be slow too. A browser test limits 64 KiB of each pattern to 100 ms. */
const MOST_MS = 30_000;

const mark = fc.constantFrom(
	...["*", "**", "***", "_", "__", "`", "```", "~~~", "```js", "[", "](", ")", "![", "<", ">", "</", "/>", "<!--", "-->", "|", "|-|", "- ", "* ", "1. ", "2023. ", "# ", "> ", "---", "===", "~~"],
	...["\n", "\n\n", "  \n", "\r", "    ", "\t", " ", "\\", "\\(", "\\)", "\\[", "\\]", "$$", "$", "{", "}", "^", "&amp;", "&#", '"', "'", "“", "”", "„", "«", "»", "「", "」", "\0", "\ud800", "\udc00", "\u202e", "e\u0301", "🕯️"],
	...["http://a.b/", "https://Пример.рф/x?y=z", "mailto:a@b.c", "www.a.b", "a@b.c", "javascript:x()", "data:text/html,x", "data:image/png;base64,AA", "//a.b/x", "nook://localhost/x", "http://nook.localhost/x", "file:///etc/passwd", "[a]: ", "- [ ] ", "- [x] "],
	...["<img src=", "<img srcset=", "<video poster=", "<audio src=", "<a href=", "<p style='background:url(", "<svg onload=", "<math href=", "<iframe src=", "<link rel=stylesheet href=", "<style>@import ", "<script>", "<table background=", "<object data=", "<input type=image src=", "<body onload=", "<form action=", "<textarea>", "<noscript>", "<template>", "<base href=", "<meta http-equiv=refresh content=", "onerror=x()", "onclick=x()", "title='", "title=\"", "xlink:href=", "id=app", "class=modal"],
	...["\\frac{", "\\href{javascript:x()}{", "\\url{http://a.b}", "\\includegraphics{http://a.b}", "\\def\\a{\\a}", "\\htmlStyle{", "\\class{", "\\color{", "\\begin{matrix}", "\\end{matrix}", "\\rule{9999em}{9999em}", "\\text{<img src=x onerror=x()>}"],
);
const words = fc.oneof({ weight: 4, arbitrary: mark }, { weight: 2, arbitrary: fc.string({ maxLength: 12 }) }, { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) });
/** Marks and words in any order, with long repetitions as degenerate models produce them. */
const message = fc.array(fc.oneof({ weight: 9, arbitrary: words }, { weight: 1, arbitrary: fc.tuple(words, fc.integer({ min: 1, max: 400 })).map(([unit, times]) => unit.repeat(times)) }), { maxLength: 60 }).map((pieces) => pieces.join(""));

/** Elements and attributes that could run scripts, fetch, send data or clobber the page. */
const FETCHING = "script, style, iframe, object, embed, link, base, meta, form, svg, video, audio, source, picture, template, textarea, foreignObject, annotation-xml, [srcset], [poster], [background], [href], [action], [formaction], [data], [id], [name], [xlink\\:href]";
const SOURCES = /^data:image\/(?:png|jpeg|gif|webp);/i;

function drawn(text: string): HTMLElement {
	const page = document.implementation.createHTMLDocument().createElement("div");
	page.innerHTML = new Streamed(extras).blocks(text).map((block) => block.html).join("");
	return page;
}

function expectHarmless(page: HTMLElement): void {
	expect(page.querySelector(FETCHING)).toBeNull();
	for (const node of page.querySelectorAll("*")) {
		for (const { name, value } of node.attributes) {
			expect(name).not.toMatch(/^on/i);
			if (name === "src") expect(value).toMatch(SOURCES);
			if (name === "style") expect(value).not.toMatch(/url|image|position|fixed|expression|@/i);
			if (name === "class") expect(value).toMatch(/^(?:code|table|plain|formula|formula display|(?:(?:hljs|tml|wbk|chr|ff)-[\w-]+|language-[\w-]+|function_|class_|inherited__|language_|constant_|escape_|invoke__| )*)$/);
			if (name === "data-address") expect(value).toMatch(/^(?:https?|mailto):/);
		}
	}
}

beforeAll(async () => {
	await extras.loadMath();
	for (const language of ["js", "html", "python"]) await new Promise<void>((loaded) => highlight("x", language, loaded));
}, 30_000);

test("no message throws, hangs, runs code or fetches", async () => {
	await fc.assert(
		fc.asyncProperty(message, async (text) => {
			await released();
			const started = performance.now();
			const page = drawn(text);
			expect(performance.now() - started).toBeLessThan(MOST_MS);
			expectHarmless(page);
		}),
		run(700),
	);
}, patience);

test("no formula throws, hangs, runs code or fetches", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(words, { maxLength: 40 }), async (pieces) => {
			await released();
			expectHarmless(drawn(`\\(${pieces.join("")}\\)\n\n$$${pieces.join("")}$$`));
		}),
		run(300),
	);
}, patience);

test("no word is lost", async () => {
	const word = fc.stringMatching(/^[a-z]{3,8}$/);
	const glue = fc.constantFrom(" ", "\n", "\n\n", " *", "* ", " **", "\n- ", "\n1. ", "\n> ", "\n# ", " “", "” ", " _", "\n\n    ", " $", "\n| ", " [", "] ", " (", ") ");
	await fc.assert(
		fc.asyncProperty(fc.array(fc.tuple(word, glue), { minLength: 1, maxLength: 40 }), async (pieces) => {
			await released();
			const shown = drawn(pieces.flat().join("")).textContent ?? "";
			for (const [one] of pieces) expect(shown).toContain(one);
		}),
		run(300),
	);
}, patience);

test("streamed reply equals the whole one", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(words, { maxLength: 25 }), async (pieces) => {
			await released();
			const growing = new Streamed(extras);
			let text = "";
			for (const piece of pieces) growing.blocks((text += piece), true);
			expect(growing.blocks(text).map((block) => block.html)).toEqual(new Streamed(extras).blocks(text).map((block) => block.html));
		}),
		run(150),
	);
}, patience);

test("renders 64 KiB of any pattern in limited time", () => {
	for (const [name, text] of patterns()) {
		const started = performance.now();
		const page = drawn(text);
		expect(performance.now() - started, name).toBeLessThan(MOST_MS);
		expectHarmless(page);
	}
}, patience);
