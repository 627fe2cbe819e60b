// The order of samplers, built-in presets and token probabilities, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const order = () => page.evaluate(() => window.app.samplers.editing.fields.values.sampler_order);
const focused = (look) => page.evaluate(look);

test("samplers are sorted by keyboard and by mouse", async () => {
	await show("samplersorder");
	const rows = id("setting-sampler_order").locator("li");
	assert.match(await order(), /^penalties, dry, temperature/);
	const grip = rows.nth(2).locator("[data-testid=order-grip]");
	await grip.focus();
	await page.keyboard.press("ArrowUp");
	await eventually(async () => assert.match(await order(), /^penalties, temperature, dry/));
	assert.equal(await focused(() => document.activeElement.closest("li").dataset.entry), "temperature");
	await page.keyboard.press("Alt+ArrowUp");
	await eventually(async () => assert.match(await order(), /^temperature, penalties, dry/));
	await id("order-down").first().click();
	await eventually(async () => assert.match(await order(), /^penalties, temperature, dry/));
	const [from, to] = await Promise.all([rows.nth(8).locator("[data-testid=order-grip]").boundingBox(), rows.nth(0).boundingBox()]);
	await page.mouse.move(from.x + 5, from.y + 5);
	await page.mouse.down();
	await page.mouse.move(to.x + 40, to.y + 5, { steps: 8 });
	await page.mouse.up();
	await eventually(async () => assert.match(await order(), /^xtc, penalties, temperature/));
	assert.deepEqual(await axe(page), []);
	await id("order-reset").click();
	await eventually(async () => assert.match(await order(), /^penalties, dry, top_n_sigma/));
	assert.equal(await id("order-reset").count(), 0);
});

test("built-in preset is changed in a copy", async () => {
	await show("samplersbuiltin");
	assert.equal(await id("save-sampler").count(), 0);
	assert.equal(await id("sampler-name").isDisabled(), true);
	await id("copy-sampler").click();
	await eventually(async () => assert.equal(await id("sampler-name").inputValue(), "Gemma 3 (copy)"));
	await id("save-sampler").click();
	await id("sampler").filter({ hasText: "Gemma 3 (copy)" }).waitFor();
});

test("reply continues from another token", async () => {
	await show("tokens");
	const before = await page.evaluate(() => window.app.chat.last.swipes.length);
	await id("token").nth(3).waitFor();
	assert.deepEqual(await axe(page), []);
	await id("token").first().focus();
	for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowRight");
	await eventually(async () => assert.equal(await focused(() => [...document.querySelectorAll("[data-testid=token]")].indexOf(document.activeElement)), 3));
	assert.match(await id("token-panel").innerText(), /12\s?%/);
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await page.evaluate(() => window.app.chat.last.swipes.length), before + 1));
	assert.equal(await id("token").count(), 0);
});

test("no script error", () => assert.deepEqual(errors, []));
