import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const source = readFile(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** Rules beyond the standards: a heading for each screen, names of controls that everybody sees, and nothing outside the parts of the page. */
const more = ["region", "page-has-heading-one", "heading-order", "label-title-only", "label-content-name-mismatch"];
/** Details of everything that is in order would take half of the time. */
const brief = { resultTypes: ["violations"] };
const options = { ...brief, runOnly: { type: "tag", values: tags }, rules: Object.fromEntries(more.map((rule) => [rule, { enabled: true }])) };

/** Only what a theme can change: colours. */
const colours = { runOnly: { type: "rule", values: ["color-contrast"] } };

/** Runs axe on the page. Returns one line per violation, and one per panel, dialog or list that scrolls sideways. */
export const axe = (page) => look(page, options);

/** The same for a page that axe has already checked in another theme. */
export const axeOfColours = (page) => look(page, colours);

async function look(page, options) {
	await page.evaluate(`if (!window.axe) { ${await source} }`);
	const { violations, passes } = await page.evaluate((how) => window.axe.run(document, how), options);
	// A brief result names one element of each rule that passed.
	const least = options.resultTypes ? 1 : 3;
	assert.ok(passes.some((rule) => rule.id === "color-contrast" && rule.nodes.length >= least), "axe has looked at the colours");
	const faults = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.any.map((check) => check.message).join(" ")}`));
	return [...faults, ...(await page.evaluate(sideways))];
}

/** Bars and code may scroll sideways: they are low or marked as code. */
function sideways() {
	const panels = [...document.querySelectorAll("*")].filter((one) => one.clientHeight > 100 && !one.closest("pre, code, [role=tree]"));
	return panels
		.filter((one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1)
		.map((one) => `${one.tagName}.${one.className} is ${one.clientWidth} px wide, its content ${one.scrollWidth} px`);
}
