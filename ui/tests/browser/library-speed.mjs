// Measures how long 20,000 cards take to show, filter and scroll, on the scripted engine. It prints figures without limits.
import { launch } from "./browser.mjs";
import { serveScripted } from "./scripted.mjs";

const scripted = await serveScripted();
const context = await launch({ locale: "en-US", reducedMotion: "reduce", viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
/** Milliseconds until the change made by `action` has been rendered. */
const timed = (name, action) => page.evaluate(action).then((ms) => console.log(`${name}: ${ms.toFixed(0)} ms`));
try {
	await page.goto(`${scripted.address}?scene=horde`);
	await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
	await page.getByTestId("library-card").first().waitFor();
	await page.evaluate(() => {
		const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
		window.measured = async (action) => {
			const started = performance.now();
			await action();
			await drawn();
			return performance.now() - started;
		};
		window.type = (text) => {
			const input = document.querySelector("[data-testid=search]");
			input.value = text;
			input.dispatchEvent(new Event("input", { bubbles: true }));
		};
	});
	await timed("the list is read and shown", () => window.measured(() => window.app.library.load()));
	await timed("the screen is opened", () => (window.app.go("models"), window.measured(() => window.app.go("people"))));
	for (const text of ["j", "ju", "juniper", "juniper 1203", "", "tea"]) {
		await page.evaluate((text) => (window.text = text), text);
		await timed(`typing "${text}"`, () => window.measured(() => window.type(window.text)));
	}
	await page.waitForTimeout(1_000);
	await timed("typing nothing", () => window.measured(() => window.type("")));
	await timed("a tag", () => window.measured(() => window.app.library.toggleTag("cozy")));
	await timed("another tag", () => window.measured(() => window.app.library.toggleTag("magic")));
	await timed("no tag", () => window.measured(() => window.app.library.clear()));
	await timed("by name", () => window.measured(() => window.app.library.set({ sort: "name" })));
	await timed("as a list", () => window.measured(() => window.app.library.set({ view: "list" })));
	await timed("everything chosen", () => window.measured(() => window.app.library.list.chooseAll()));
	await timed("to the end", () => window.measured(() => (document.querySelector(".grid").scrollTop = 1e9)));
} finally {
	await context.close();
	await scripted.stop();
}
