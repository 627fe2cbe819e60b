// Measures a chat of 10,000 messages on the real engine (first paint, message nodes, scrolling) and the cost of a frame
// while a long reply streams, on the scripted engine. It prints figures without limits.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { cardPng } from "./card.mjs";
import { serve } from "./engine.mjs";
import { serveScripted } from "./scripted.mjs";

const MESSAGES = 10_000;
const OPENINGS = 20;
const SCROLLS = 200;
const LINES = ["The wind has turned.", "*She waits.* “And then?”", "“Then the lamp went out, and nobody relit it for a year.”\n\nShe counted the stairs again, as her mother had done, and **stopped** at the forty-first. \n\n> Nobody walks here at night."];

const p95 = (values) => [...values].sort((one, two) => one - two)[Math.floor((values.length - 1) * 0.95)];
const median = (values) => [...values].sort((one, two) => one - two)[values.length >> 1];

function chatFile() {
	const lines = Array.from({ length: MESSAGES }, (_, index) => ({
		name: index % 2 === 0 ? "Quillabee" : "Wanderer",
		is_user: index % 2 === 1,
		send_date: new Date(1_700_000_000_000 + index * 60_000).toISOString(),
		mes: `Message ${index + 1}: ${LINES[(index * 7) % LINES.length].repeat(1 + (index % 3))}`,
	}));
	return [{ user_name: "Wanderer", character_name: "Quillabee" }, ...lines].map((line) => JSON.stringify(line)).join("\n");
}

/** Milliseconds of script, style and layout of the page since its start. */
async function work(cdp) {
	const { metrics } = await cdp.send("Performance.getMetrics");
	return metrics.filter(({ name }) => ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].includes(name)).reduce((sum, { value }) => sum + value * 1000, 0);
}

async function longChat(context) {
	const engine = await serve();
	const folder = await mkdtemp(join(tmpdir(), "inglenook-speed-"));
	try {
		const [card, file] = [join(folder, "Quillabee.png"), join(folder, "Ten thousand.jsonl")];
		await writeFile(card, cardPng("Quillabee", "A bee lands."));
		await writeFile(file, chatFile());
		const page = await context.newPage();
		page.setDefaultTimeout(120_000);
		await page.goto(engine.url);
		const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByTestId("import").first().click()]);
		await chooser.setFiles([card, file]);
		const row = page.getByTestId("chat-row").filter({ hasText: "Ten thousand" });
		await row.waitFor();
		const other = page.getByTestId("chat-row").filter({ hasNotText: "Ten thousand" }).first();
		const cdp = await context.newCDPSession(page);
		await cdp.send("Performance.enable");
		const opened = [];
		for (let round = 0; round < OPENINGS; round++) {
			await other.click();
			await page.waitForFunction(() => !document.querySelector("[data-testid=message]")?.textContent.includes("0000: "));
			await page.waitForTimeout(100);
			opened.push(
				await page.evaluate(async () => {
					const started = performance.now();
					[...document.querySelectorAll("[data-testid=chat-row]")].find((one) => one.textContent.includes("Ten thousand")).click();
					const shown = () => [...document.querySelectorAll("[data-testid=message]")].some((one) => one.textContent.includes("10000: "));
					while (!shown()) await new Promise((next) => requestAnimationFrame(next));
					await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
					return performance.now() - started;
				}),
			);
		}
		console.log(`open ${MESSAGES} messages: median ${median(opened).toFixed(0)} ms, p95 ${p95(opened).toFixed(0)} ms`);
		let most = 0;
		const frames = [];
		for (let step = 0; step < SCROLLS; step++) {
			const before = await work(cdp);
			await page.evaluate(async () => {
				let log = document.querySelector("[data-testid=message]");
				while (getComputedStyle(log).overflowY !== "auto") log = log.parentElement;
				log.scrollTop -= 600;
				await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
			});
			frames.push((await work(cdp)) - before);
			most = Math.max(most, await page.locator("[data-testid=message]").count());
		}
		console.log(`scroll ${SCROLLS} steps of 600 px: script, style and layout median ${median(frames).toFixed(1)} ms, p95 ${p95(frames).toFixed(1)} ms a step; at most ${most} message nodes`);
	} finally {
		await engine.stop();
		await rm(folder, { recursive: true, force: true });
	}
}

async function streaming(context) {
	const scripted = await serveScripted();
	try {
		const page = await context.newPage();
		await page.goto(`${scripted.address}?scene=chat`);
		await page.waitForSelector("html[data-ready]");
		const cdp = await context.newCDPSession(page);
		await cdp.send("Performance.enable");
		await page.evaluate(() => window.engine.begin(window.engine.chats[0]));
		for (const upTo of [400, 1_000, 2_000, 4_000]) {
			const frames = [];
			const from = await page.evaluate(() => window.engine.chats[0].generating.seq);
			await page.evaluate((count) => {
				for (let at = 0; at < count; at++) window.engine.token(window.engine.chats[0], at % 60 === 59 ? "\n\n" : at % 13 === 0 ? "*lamp* " : "lamp ");
			}, Math.max(0, upTo - from - 60));
			for (let step = 0; step < 60; step++) {
				const before = await work(cdp);
				await page.evaluate(async () => {
					window.engine.token(window.engine.chats[0], "light ");
					await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
				});
				frames.push((await work(cdp)) - before);
			}
			console.log(`stream at ${upTo} tokens: script, style and layout median ${median(frames).toFixed(1)} ms, p95 ${p95(frames).toFixed(1)} ms a frame`);
		}
	} finally {
		await scripted.stop();
	}
}

const context = await launch({ locale: "en-US", reducedMotion: "reduce" });
try {
	await streaming(context);
	await longChat(context);
} finally {
	await context.close();
}
