// Display and actions of messages, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });
// The desktop window freezes prototypes, so libraries must not write to them.
await page.addInitScript(() => Object.freeze(Object.prototype));
const message = (of) => page.locator(`[data-message-id=${of}]`);
const reveal = (of) => page.evaluate((name) => window.app.chat.reveal(name), of);
const isFocused = (locator) => locator.evaluate((node) => node === document.activeElement);

/** Time limit for 64 KiB of a pattern, on a machine that needs at most 33 ms for plain dialogue. */
const MOST_MS = 100;
/** Time limit on a slower machine, as a multiple of plain dialogue. */
const MOST_DIALOGUES = 3;
/** Measurements of a pattern that seems slow. The least times count, because other programs make a measurement longer, never shorter. */
const TRIES = 12;

/** Adds messages of the character to the end of the open chat. */
const say = (...texts) =>
	page.evaluate(async (all) => {
		const { engine } = window;
		for (const text of all) engine.say(text);
		await window.app.chat.load();
	}, texts);

test("parses 64 KiB of any pattern within 100 ms", async () => {
	await show("chat");
	const slow = await page.evaluate(async ([mostMs, mostDialogues, tries]) => {
		const { extras, patterns, Streamed } = window.text;
		await extras.loadMath();
		const time = (text) => {
			const started = performance.now();
			new Streamed(extras).blocks(text);
			return performance.now() - started;
		};
		const all = patterns();
		const dialogue = new Map(all).get("dialogue");
		let plain = time(dialogue);
		const isSlow = (text) => {
			let least = Infinity;
			for (let n = 0; n < tries; n++) {
				least = Math.min(least, time(text));
				if (least <= Math.max(mostMs, mostDialogues * plain)) return false;
				plain = Math.min(plain, time(dialogue));
			}
			return true;
		};
		return all.filter(([, text]) => isSlow(text)).map(([name]) => name);
	}, [MOST_MS, MOST_DIALOGUES, TRIES]);
	assert.deepEqual(slow, []);
});

test("too deep message is plain text", async () => {
	await show("chat");
	await say(">".repeat(8000), "- ".repeat(4000), "*".repeat(64_000), "[a][".repeat(32_000), "Still *here*.");
	await page.locator(".prose em", { hasText: "here" }).waitFor();
	await reveal("a1");
	await message("a1").waitFor();
	await id("composer").fill("So?");
	await id("composer").press("Enter");
	await id("stop").waitFor();
});

test("failed message view shows text and isolates errors", async () => {
	await show("chat");
	await page.evaluate(() => window.engine.say("These are the words.", { pictures: null }));
	await page.evaluate(() => window.app.chat.load());
	await page.getByText("This message could not be displayed.").waitFor();
	await page.getByText("These are the words.").waitFor();
	await message("a2").waitFor();
});

test("message fetches nothing", async () => {
	const asked = [];
	const watch = (request) => asked.push(request.url());
	await show("chat");
	page.on("request", watch);
	await say(
		"hello ![a](http://nook.localhost/leak?secret=chatcontent) and ![b](http://127.0.0.1:18699/no.png) bye",
		"<img src=http://127.0.0.1:9/a srcset='http://127.0.0.1:9/b 2x'><video poster=http://127.0.0.1:9/c src=http://127.0.0.1:9/d></video><table background=http://127.0.0.1:9/e>",
		"<p style='background:url(http://127.0.0.1:9/f)'><svg><image href=http://127.0.0.1:9/g /></svg><link rel=stylesheet href=http://127.0.0.1:9/h><input type=image src=http://127.0.0.1:9/i>",
		"<style>@import 'http://127.0.0.1:9/j';</style><iframe src=http://127.0.0.1:9/k></iframe><object data=http://127.0.0.1:9/l></object>\n\nThe end of it.",
	);
	await page.getByText("The end of it.").waitFor();
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
	page.off("request", watch);
	assert.deepEqual(asked, []);
});

test("renders code, formulas and prices", async () => {
	await show("rich");
	await reveal("r1");
	const rich = message("r1");
	await rich.locator(".hljs-keyword").first().waitFor();
	await rich.locator("math").first().waitFor();
	await rich.getByText("about $5 a week or $$10 in winter").waitFor();
	await rich.getByRole("button", { name: "Copy" }).first().click();
	await eventually(async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^def burning.*box$/s));
});

test("link opens only after showing its full address", async () => {
	await show("chat");
	await say("See [my bank](https://аpple.example/login?Next=1).");
	const link = page.getByRole("link", { name: "my bank" });
	await link.click();
	await eventually(async () => assert.equal(await id("link-address").textContent(), "https://xn--pple-43d.example/login?Next=1"));
	await page.keyboard.press("Escape");
	await id("link-address").waitFor({ state: "detached" });
	assert.deepEqual(await page.evaluate(() => window.engine.opened), []);
	await link.focus();
	await page.keyboard.press("Enter");
	await id("link-open").click();
	await eventually(async () => assert.deepEqual(await page.evaluate(() => window.engine.opened), ["https://xn--pple-43d.example/login?Next=1"]));
});

test("wide table scrolls in its box without splitting", async () => {
	await page.setViewportSize({ width: 390, height: 844 });
	await show("rich");
	await reveal("r0");
	const [box, cell, screen] = await message("r0").evaluate((node) => {
		const table = node.querySelector(".table");
		const name = [...node.querySelectorAll("td")].find((one) => one.textContent.includes("Featherstonehaugh"));
		const range = document.createRange();
		range.setStart(name.firstChild, "Wilhelmina ".length);
		range.setEnd(name.firstChild, name.firstChild.length);
		return [table.scrollWidth > table.clientWidth, range.getClientRects().length, document.documentElement.scrollWidth];
	});
	assert.deepEqual([box, cell, screen], [true, 1, 390]);
	await page.setViewportSize({ width: 1280, height: 800 });
});

test("stopped reply has no cursor and no cut-off mark", async () => {
	await show("interrupted");
	await id("interrupted").waitFor();
	assert.equal(await page.locator(".prose.caret").count(), 0);
	assert.match(await id("interrupted").textContent(), /^Stopped\. /);
});

test("a reply that an error cut off is called incomplete", async () => {
	await show("cutoff");
	assert.match(await id("interrupted").textContent(), /^Incomplete reply\. /);
});

test("Home and End jump to the first and last message", async () => {
	await show("long");
	await message("l599").waitFor();
	await id("composer").focus();
	await page.keyboard.press("Home");
	await eventually(async () => assert.ok(await isFocused(message("l0"))));
	await page.keyboard.press("End");
	await eventually(async () => assert.ok(await isFocused(message("l599"))));
});

test("date jumps to the first message of that day", async () => {
	await show("chat");
	await page.evaluate(async () => {
		for (const [at, text] of [["2024-03-01T12:00:00", "The first of March."], ["2024-03-05T09:00:00", "The fifth of March."], ["2024-03-05T10:00:00", "Later that day."]]) window.engine.say(text, { created: new Date(at).toISOString() });
		const { messages } = window.engine.chats[0];
		messages.unshift(...messages.splice(-3));
		await window.app.chat.load();
	});
	await id("chat-menu").click();
	await id("go-to-date").click();
	await id("go-to-day").fill("2024-03-02");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.textContent), /The fifth of March/));
});

for (const width of [1280, 390]) {
	test(`actions and toasts cover nothing at ${width} px`, async () => {
		await page.setViewportSize({ width, height: 800 });
		await show("chat");
		for (const of of ["u1", "a1", "u2"]) {
			await message(of).focus();
			const [actions, text] = await message(of).evaluate((node) => [node.querySelector("[role=toolbar]").getBoundingClientRect(), node.querySelector(".prose").getBoundingClientRect()].map(({ top, bottom }) => ({ top, bottom })));
			const next = await message(of).evaluate((node) => node.parentElement.nextElementSibling?.querySelector("[data-message-id] .text")?.getBoundingClientRect().top ?? Infinity);
			assert.ok(actions.top >= text.bottom, `${of}: ${actions.top} over ${text.bottom}`);
			assert.ok(actions.bottom <= next + 1, `${of}: ${actions.bottom} over the next at ${next}`);
		}
		await id("composer").focus();
		await page.evaluate(() => {
			for (const text of ["Saved", "A second note that is rather long and takes its lines", "A third"]) window.app.toasts.show({ kind: "bad", text, detail: "With a detail." }, Infinity);
		});
		await id("toast").nth(2).waitFor();
		await eventually(async () => {
			const covered = await page.evaluate(() => {
				const notes = [...document.querySelectorAll("[data-testid=toast]")].map((note) => note.getBoundingClientRect());
				const boxes = [...document.querySelectorAll("button, textarea, input:not(.hidden)")].filter((one) => one.closest("[data-testid=toast]") === null && one.checkVisibility({ visibilityProperty: true }));
				const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
				return boxes.filter((one) => notes.some((note) => over(note, one.getBoundingClientRect()))).map((one) => one.getAttribute("aria-label") ?? one.textContent);
			});
			assert.deepEqual(covered, []);
		});
	});
}

test("name in the header is readable at every width", async () => {
	for (const scene of ["chat", "group"]) {
		for (let width = 320; width <= 1440; width += 70) {
			await page.setViewportSize({ width, height: 800 });
			await show(scene);
			await page.evaluate(() => (window.app.chat.info = { ...window.app.chat.info, title: "Dr. Ines Valdivieso-Montenegro" }));
			await eventually(async () => {
				const [title, header] = await page.locator("header .title").evaluate((node) => [node.clientWidth, node.closest("header")].map((one) => (typeof one === "number" ? one : one.scrollWidth - one.clientWidth)));
				assert.ok(title >= 100 && header <= 0, `${scene} at ${width}: ${title}, ${header}`);
			});
		}
	}
	await page.setViewportSize({ width: 1280, height: 800 });
});

/** The event that WebKit sends when Enter accepts or Escape dismisses a candidate. */
const compose = (locator, key) => locator.dispatchEvent("keydown", { key, keyCode: 229, isComposing: false });

test("composing keys do nothing in any field", async () => {
	await show("chat");
	await id("composer").fill("にほん");
	await compose(id("composer"), "Enter");
	await compose(id("composer"), "Escape");
	assert.equal(await id("composer").inputValue(), "にほん");
	await message("a2").getByTestId("edit").click();
	await id("edit-text").fill("にほん");
	await compose(id("edit-text"), "Escape");
	await id("edit-text").dispatchEvent("keydown", { key: "Enter", keyCode: 229, ctrlKey: true });
	assert.equal(await id("edit-text").inputValue(), "にほん");
	await id("chat-menu").click();
	await page.getByRole("menuitem", { name: "Rename" }).click();
	const name = page.getByRole("dialog").getByRole("textbox");
	await compose(name, "Escape");
	await compose(name, "Enter");
	await page.getByRole("dialog").waitFor();
	await show("editor");
	await page.evaluate(() => window.app.editor);
	await show("memorytry");
	const words = page.locator("[data-testid=recall-form] textarea");
	await words.fill("にほん");
	await compose(words, "Enter");
	await show("bookabout");
	const find = id("bind-find").first();
	await find.fill("Mi");
	const bound = await id("unbind").count();
	await compose(find, "Enter");
	assert.equal(await id("unbind").count(), bound);
	await show("people");
	await id("search").fill("にほん");
	await compose(id("search"), "Escape");
	assert.equal(await id("search").inputValue(), "にほん");
});

test("each list is one tab stop", async () => {
	const stops = (of) => page.locator(of).evaluate((list) => [...list.querySelectorAll("button, input, a, [tabindex]")].filter((one) => one.tabIndex === 0 && one.checkVisibility({ visibilityProperty: true })).length);
	await show("chat");
	await eventually(async () => assert.equal(await stops(".list .rows"), 1));
	await show("people");
	await id("library-card").first().waitFor();
	await eventually(async () => assert.equal(await stops(".grid"), 1));
	await show("books");
	await id("book").first().waitFor();
	assert.equal(await page.locator("[data-testid=book]").evaluateAll((all) => all.filter((one) => one.tabIndex === 0).length), 1);
	await show("chat");
	await message("a2").focus();
	await page.keyboard.press("Tab");
	const first = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
	await page.keyboard.press("ArrowRight");
	const second = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
	assert.ok(first && second && first !== second, `${first}, ${second}`);
	await id("chat-row").first().focus();
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menu").waitFor();
});

test("Ctrl with plus, minus and 0 zooms the window", async () => {
	await show("chat");
	for (const key of ["Control+=", "Control+=", "Control+-", "Control+0"]) await page.keyboard.press(key);
	assert.deepEqual(await page.evaluate(() => window.engine.zooms), [1.1, 1.25, 1.1, 1]);
});

test("native context menu opens only for edit and copy", async () => {
	await show("chat");
	const kept = (of) => page.locator(of).first().evaluate((node) => node.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true })));
	assert.equal(await kept("[data-testid=composer]"), true);
	assert.equal(await kept(".prose p"), false);
	assert.equal(await kept(".rail"), false);
	await page.locator(".prose p").first().evaluate((node) => getSelection().selectAllChildren(node));
	assert.equal(await kept(".prose p"), true);
	assert.equal(await kept(".rail"), false);
});

test("no script error", () => assert.deepEqual(errors, []));
