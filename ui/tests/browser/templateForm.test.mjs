// The form of a prompt template, on the scripted engine, by pointer and by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1440, height: 900 } });
const rows = () => page.locator("[data-testid=form-row]");
const row = (name) => page.locator(`[data-entry=${name}]`);
const names = () => rows().evaluateAll((all) => all.map((one) => one.dataset.entry));
const json = () => page.evaluate(() => JSON.parse(window.app.templateEditors.editor.json));
const section = async (name) => (await json()).sections.find((one) => one.name === name);

async function openForm() {
	await show("template");
	await rows().first().waitFor();
}

test("rows are the sections of the JSON", async () => {
	await openForm();
	assert.deepEqual((await names()).sort(), (await json()).sections.map(({ name }) => name).sort());
	assert.deepEqual(await axe(page), []);
});

test("switch, text and condition change the JSON", async () => {
	await openForm();
	const [first] = await names();
	await row(first).getByRole("switch").click();
	await eventually(async () => assert.equal((await section(first)).exclude, true));
	await row(first).getByRole("switch").click();
	await eventually(async () => assert.equal((await section(first)).exclude, undefined));
	await row(first).getByTestId("form-open").click();
	await row(first).getByTestId("form-line").first().fill("A new first line.");
	await row(first).getByTestId("form-condition").fill("isGroup");
	await row(first).getByTestId("form-condition").press("Enter");
	await eventually(async () => {
		const changed = await section(first);
		assert.equal((changed.lines ?? changed.rules)[0], "A new first line.");
		assert.equal(changed.condition, "isGroup");
	});
	assert.deepEqual(await axe(page), []);
});

test("section moves by keyboard and keeps the focus", async () => {
	await openForm();
	const [first, second] = await names();
	await row(first).getByTestId("form-grip").focus();
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.deepEqual((await names()).slice(0, 2), [second, first]));
	await page.waitForFunction((name) => document.activeElement.closest("[data-entry]")?.dataset.entry === name, first);
	await page.keyboard.press("Alt+ArrowUp");
	await eventually(async () => assert.deepEqual((await names()).slice(0, 2), [first, second]));
});

test("section moves by dragging", async () => {
	await openForm();
	const [first, second] = await names();
	const from = await row(first).getByTestId("form-grip").boundingBox();
	const to = await row(second).boundingBox();
	await page.mouse.move(from.x + 10, from.y + 10);
	await page.mouse.down();
	await page.mouse.move(to.x + 60, to.y + to.height - 4, { steps: 4 });
	await page.mouse.up();
	await eventually(async () => assert.deepEqual((await names()).slice(0, 2), [second, first]));
});

test("unreadable JSON keeps the form and says where", async () => {
	await openForm();
	const before = await names();
	await id("choice-json").click();
	await id("code").evaluate((node) => {
		node.value = node.value.slice(0, -3);
		node.dispatchEvent(new Event("input", { bubbles: true }));
	});
	await id("problems").locator("li").first().waitFor();
	await id("choice-form").click();
	await id("form-broken").waitFor();
	assert.deepEqual(await names(), before);
	assert.ok(await rows().first().getByRole("switch").isDisabled());
	assert.ok(await id("add-section").isDisabled());
});

test("section is added and removed", async () => {
	await openForm();
	const count = await rows().count();
	await id("add-section").click();
	await eventually(async () => assert.equal(await rows().count(), count + 1));
	await page.waitForFunction(() => document.activeElement.dataset.testid === "form-line");
	await row("section").getByTestId("form-remove").click();
	await eventually(async () => assert.equal(await rows().count(), count));
});

test("no page had a script error", () => assert.deepEqual(errors, []));
