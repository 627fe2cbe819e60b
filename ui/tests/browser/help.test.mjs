// The help: F1, search, links from errors and between pages, and keyboard use, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, hasFocus } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const search = () => id("help").getByRole("searchbox");
const title = () => id("help-article").locator("h1").innerText();

/** Whether the heading is at the top of the visible part of the page. */
const atTop = async (name) => {
	const [heading, article] = await Promise.all([id("help-article").getByRole("heading", { name }).boundingBox(), id("help-article").boundingBox()]);
	assert.ok(heading.y - article.y < 60 && heading.y >= article.y, `${heading.y - article.y} px below the top`);
};

test("F1 opens help and Escape keeps the typed text", async () => {
	await show("chat");
	await id("composer").fill("An unfinished thought");
	await page.keyboard.press("F1");
	await id("help-article").waitFor();
	assert.equal(await title(), "Chats and replies");
	await hasFocus(search());
	await page.keyboard.type("keychain");
	await id("help-hit").first().waitFor();
	await page.keyboard.press("Escape");
	await eventually(async () => assert.equal(await search().inputValue(), ""));
	await page.keyboard.press("Escape");
	await id("help").waitFor({ state: "detached" });
	assert.equal(await id("composer").inputValue(), "An unfinished thought");
	await hasFocus(id("composer"));
});

test("search finds a page and opens it by keyboard", async () => {
	await show("chat");
	await page.keyboard.press("F1");
	await hasFocus(search());
	await page.keyboard.type("forget memory");
	await id("help-hit").filter({ hasText: "Forget" }).first().waitFor();
	await page.keyboard.press("ArrowDown");
	await hasFocus(id("help-hit").first());
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await title(), "Memory"));
	await search().fill("zzzz");
	await id("help").getByRole("status").getByText("No results for “zzzz”.").waitFor();
	assert.ok((await id("help-hit").count()) > 0, "the nearest topics are offered");
});

test("error links to its heading", async () => {
	await show("failed");
	await id("error").getByRole("button", { name: "Learn more: The model's process ended unexpectedly" }).click();
	await id("help-article").waitFor();
	await eventually(async () => assert.equal(await title(), "Troubleshooting"));
	await eventually(() => atTop("The model's process ended"));
	await hasFocus(id("help-article").getByRole("heading", { name: "The model's process ended" }));
	await page.keyboard.press("Escape");
	await id("help").waitFor({ state: "detached" });
	await hasFocus(id("error").getByTestId("learn-more"));
});

test("error toast links to its heading", async () => {
	await show("chat");
	await page.evaluate(() => window.app.fail({ kind: "keychain", message: "The keychain of this system did not answer.", hint: "Unlock it and try again." }));
	await id("toast").getByTestId("learn-more").click();
	await eventually(() => atTop("The keychain is not available"));
});

test("help over a dialog keeps what the dialog contains", async () => {
	await show("models");
	await id("add-endpoint").click();
	await id("endpoint-name").fill("My server");
	await id("endpoint-form").getByTestId("learn-more").click();
	await id("help-article").waitFor();
	await eventually(async () => assert.equal(await title(), "Endpoints"));
	await page.keyboard.press("Escape");
	await id("help").waitFor({ state: "detached" });
	assert.equal(await id("endpoint-name").inputValue(), "My server");
});

test("links between pages work, and back returns", async () => {
	await show("chat");
	await page.keyboard.press("F1");
	await id("help-article").waitFor();
	await id("help-page-models").click();
	await eventually(async () => assert.equal(await title(), "Models and speed"));
	await id("help-article").getByRole("link", { name: "Context and budget" }).focus();
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await title(), "Context and budget"));
	await id("help-back").click();
	await eventually(async () => assert.equal(await title(), "Models and speed"));
});

test("F1 opens the page about the screen", async () => {
	for (const [scene, expected] of [["books", "Lorebooks"], ["models", "Models and speed"], ["xray", "The X-ray"], ["memory", "Memory"]]) {
		await show(scene);
		await page.keyboard.press("F1");
		await id("help-article").waitFor();
		assert.equal(await title(), expected);
	}
});

test("help follows the language", async () => {
	await show("help");
	await page.evaluate(() => window.app.settings.set({ language: "de" }));
	await eventually(async () => assert.equal(await title(), "Endpunkte"));
	await id("help").getByPlaceholder("Hilfe durchsuchen").fill("schlusselbund");
	await id("help-hit").filter({ hasText: "Der Schlüsselbund ist nicht verfügbar" }).waitFor();
});

test("narrow window shows the list or the page", async () => {
	await page.setViewportSize({ width: 390, height: 844 });
	await show("settings");
	await id("settings-help").click();
	await id("help-article").waitFor();
	assert.equal(await search().isVisible(), false);
	await id("help").getByRole("button", { name: "Help pages" }).click();
	await hasFocus(search());
	await id("help-page-privacy").click();
	await eventually(async () => assert.equal(await title(), "Privacy and security"));
	const wide = await page.evaluate(() => document.querySelector("[data-testid=help-article]").scrollWidth - document.querySelector("[data-testid=help-article]").clientWidth);
	assert.equal(wide, 0);
	await page.setViewportSize({ width: 1280, height: 800 });
});

test("axe finds nothing in the help", async () => {
	const found = [];
	for (const scene of ["help", "helperror", "helpsearch", "helplist"]) {
		for (const theme of ["dark", "light"]) {
			await show(scene, theme);
			found.push(...(await axe(page)).map((line) => `${scene}: ${line}`));
		}
	}
	assert.deepEqual(found, []);
});

test("no script error", () => assert.deepEqual(errors, []));
