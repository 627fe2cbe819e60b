import assert from "node:assert/strict";

const PATIENCE = 5_000;

/** Asserts as soon as it holds: the page draws when it has time, so what is looked at right after a click may come a moment later. */
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

/** Waits until the element has the focus, so that the next key reaches it: a menu or a list may take it a moment after the key before. */
export const hasFocus = (locator) => eventually(async () => assert.ok(await locator.evaluate((node) => node === document.activeElement)));
