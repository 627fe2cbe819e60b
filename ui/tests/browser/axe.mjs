import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const source = readFile(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Runs axe on the page and returns one line per violation. */
export async function axe(page) {
	await page.evaluate(`if (!window.axe) { ${await source} }`);
	const { violations, passes } = await page.evaluate((options) => window.axe.run(document, options), { runOnly });
	assert.ok(passes.some((rule) => rule.id === "color-contrast" && rule.nodes.length > 2), "axe has looked at the colours");
	return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.any.map((check) => check.message).join(" ")}`));
}
