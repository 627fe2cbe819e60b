import assert from "node:assert/strict";

// A machine that does other work may need seconds for one frame.
const PATIENCE = 20_000;

/** Retries the assertion until it holds, because the page may render a moment after a click. */
export async function eventually(assertion) {
	const end = Date.now() + PATIENCE;
	for (;;) {
		try {
			return await assertion();
		} catch (error) {
			if (Date.now() > end) throw error;
		}
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}

/** Waits until the element has the focus, because a menu or list may take it a moment after the previous key. */
export const hasFocus = (locator) => eventually(async () => assert.ok(await locator.evaluate((node) => node === document.activeElement)));

/** How often a number is read without a change before it is final. */
const UNCHANGED = 5;

/** The number of elements once it no longer changes, because a list draws its rows in several frames. */
export async function settledCount(locator) {
	await locator.first().waitFor();
	let [last, unchanged] = [0, 0];
	while (unchanged < UNCHANGED) {
		const now = await locator.count();
		unchanged = now === last ? unchanged + 1 : 0;
		last = now;
		await locator.page().evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	}
	return last;
}
