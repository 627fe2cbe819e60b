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
