// A walk over the screens: what a newcomer presses does what it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

test("New chat makes one with the character of the open chat", async () => {
	await show("chat");
	await eventually(async () => assert.ok((await id("chat-row").count()) > 1));
	const before = await settledCount(id("chat-row"));
	await id("new-chat").click();
	await page.getByRole("option").first().waitFor();
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await id("chat-row").count(), before + 1));
});

test("new group shows the characters at once", async () => {
	await show("chat");
	await id("new-group").click();
	await eventually(async () => assert.ok((await page.getByRole("option").count()) > 3));
});

for (const language of ["en", "de"]) {
	test(`all tabs of the settings are visible at 1,024 px in ${language}`, async () => {
		await page.setViewportSize({ width: 1024, height: 700 });
		await show("settings", "light", language);
		const tabs = await page.locator(".tabs .tab").evaluateAll((all) => all.map((tab) => [tab.textContent, tab.getBoundingClientRect().left, tab.getBoundingClientRect().right]));
		assert.equal(tabs.length, 12);
		for (const [name, left, right] of tabs) assert.ok(left >= 72 && right <= 1024, `${name} is from ${left} to ${right}`);
		await page.setViewportSize({ width: 1280, height: 800 });
	});
}

test("refused key leads to its field", async () => {
	await show("chat");
	await id("composer").waitFor();
	await page.evaluate(() => {
		const { chat, models } = window.app;
		chat.info = { ...chat.info, model: { kind: "remote", id: models.endpoints[0].id } };
		chat.failure = { kind: "provider", class: "unauthorized", message: "needs an API key (status 401)", hint: "" };
	});
	await id("enter-key").click();
	await eventually(async () => assert.ok(await id("endpoint-key").evaluate((node) => node === document.activeElement)));
});

test("only a model of the app promises that nothing leaves", async () => {
	await show("chat");
	await eventually(async () => assert.match(await id("answering").innerText(), /Nothing you write leaves it/));
	await page.evaluate(() => {
		const { chat, models } = window.app;
		models.endpoints = [{ ...models.endpoints[0], url: "http://127.0.0.1:4000/v1" }];
		chat.info = { ...chat.info, model: { kind: "remote", id: models.endpoints[0].id } };
	});
	await eventually(async () => assert.match(await id("answering").innerText(), /answers through 127\.0\.0\.1:4000/));
});

test("no model has one notice with two ways out", async () => {
	await show("nomodel");
	await id("no-model").waitFor();
	await page.evaluate(() => (window.app.chat.failure = { kind: "noModel", message: "No model." }));
	assert.equal(await id("error").count(), 0);
	await id("no-model-connect").click();
	await id("endpoint-form").waitFor();
});

test("full disk is told once", async () => {
	await show("chat");
	await id("composer").waitFor();
	const full = { kind: "storage", message: "The disk is full.", hint: "Free some space." };
	await page.evaluate((error) => window.app.fail(error), full);
	await id("toast").getByText("The disk is full.").waitFor();
	await page.evaluate((error) => (window.app.chat.failure = error), full);
	await id("error").getByText("The disk is full.").waitFor();
	await eventually(async () => assert.equal(await id("toast").filter({ hasText: "The disk is full." }).count(), 0));
});

test("background is made fainter", async () => {
	await show("gallery");
	await id("background-strength").getByRole("slider").focus();
	for (let n = 0; n < 10; n++) await page.keyboard.press("ArrowLeft");
	await eventually(async () => assert.equal(await id("backdrop").evaluate((node) => getComputedStyle(node).opacity), "0.5"));
});

test("toasts move nothing and leave by themselves", async () => {
	await show("people");
	await id("nav-help").waitFor();
	const place = () => id("nav-help").boundingBox();
	const before = await place();
	await page.evaluate(() => window.app.toasts.show({ kind: "news", text: "Learned", detail: "A long explanation of what was learned." }));
	await id("toast").waitFor();
	assert.deepEqual(await place(), before);
	await page.clock.install();
	await page.evaluate(() => window.app.offerUndo("Forgotten", async () => {}, "An explanation."));
	await page.clock.runFor(21_000);
	await eventually(async () => assert.equal(await id("toast").filter({ hasText: "Forgotten" }).count(), 0));
});

test("Escape leaves the recorded prompts", async () => {
	await show("xraypage");
	await id("xray-page").waitFor();
	await page.keyboard.press("Escape");
	await id("composer").waitFor();
});

test("help without a result offers topics and the palette", async () => {
	await show("help");
	await id("help").getByTestId("search").fill("lorbook");
	await id("help-hit").first().getByText("Lorebooks").waitFor();
	await id("help-palette").click();
	await eventually(async () => assert.equal(await page.getByRole("combobox").first().inputValue(), "lorbook"));
});

test("chat list is widened by keyboard and keeps its width", async () => {
	await show("chat");
	const width = () => page.locator("section.list").evaluate((node) => node.getBoundingClientRect().width);
	const before = await width();
	await id("splitter").focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await eventually(async () => assert.equal(await width(), before + 32));
	await page.evaluate(async () => {
		await window.app.values.saved();
		sessionStorage.setItem("mock.values", JSON.stringify([...window.engine.pageValues.stored]));
	});
	await show("chat");
	await eventually(async () => assert.equal(await width(), before + 32));
	await page.evaluate(() => sessionStorage.removeItem("mock.values"));
});

test("download shows on the rail of every screen", async () => {
	await show("downloads");
	await id("nav-people").click();
	await id("nav-download").waitFor();
});

test("versions show their differences", async () => {
	await show("chat");
	await id("composer").waitFor();
	await page.evaluate(() => window.app.chat.versions.compare(window.app.chat.messages.at(-1)));
	await id("show-differences").check();
	await eventually(async () => assert.ok((await page.locator("[data-testid=version-0] del").count()) > 0 && (await page.locator("[data-testid=version-1] ins").count()) > 0));
});

test("no script error", () => assert.deepEqual(errors, []));
