import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "node:test";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** How long a page waits for an element, in milliseconds. Computers of continuous integration are slow at times. */
export const WAIT_MS = 30_000;

/** Browsers that are open now. */
const open = new Set();

/** Launches a separate Chromium with a fresh profile and without background traffic. */
export async function launch(options = {}) {
	const profile = await mkdtemp(join(tmpdir(), "inglenook-browser-"));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		headless: true,
		args: FLAGS,
		viewport: { width: 1440, height: 900 },
		...options,
	});
	open.add(context);
	context.on("close", () => open.delete(context));
	return context;
}

/** Texts that explain a failure: toasts, dialogs, errors and alerts. */
const TELLING = "[data-testid=toast], [role=dialog], [role=alertdialog], [data-testid=error], [role=alert]";
const MAX_TEXT = 200;

/** The address of a page, and the text in it that may explain a failure. */
async function described(page) {
	const texts = page.evaluate(
		([selector, length]) =>
			[...document.querySelectorAll(selector)]
				.filter((one) => one.checkVisibility())
				.map((one) => one.innerText.replace(/\s+/g, " ").trim().slice(0, length))
				.filter(Boolean),
		[TELLING, MAX_TEXT],
	);
	// A page that hangs must not hold up the tests.
	const late = new Promise((resolve) => setTimeout(resolve, 3_000, ["(no answer)"]));
	return [page.url(), ...(await Promise.race([texts.catch((error) => [error.message]), late])).map((text) => `  ${text}`)].join("\n");
}

/** Prints what the open pages show, so that a failure on another computer can be understood. */
async function report(test) {
	if (test.passed) return;
	const pages = [...open].flatMap((context) => context.pages()).filter((page) => page.url() !== "about:blank");
	for (const page of pages) console.error(`Page at the end of "${test.name}": ${await described(page)}`);
}

// Programs that only drive a browser, such as the one for screenshots, run no tests.
if (process.argv[1]?.endsWith(".test.mjs")) afterEach(report);
