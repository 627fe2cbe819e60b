// Tool servers on the settings screen: list, form, pasted settings, permissions, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 900 } });

const row = (name) => id("tool-server").filter({ has: page.getByRole("switch", { name, exact: true }) });

test("list shows states and reasons", async () => {
	await show("toolservers", "dark");
	await row("Notes folder").getByText("Running").waitFor();
	await row("Notes folder").getByText("secure-filesystem-server 0.2.0 answered in").waitFor();
	await row("Time").getByText("The program uvx was not found.").waitFor();
	await row("Search").getByText("Enter a value first: Authorization").waitFor();
	await id("server-resources").locator("summary").click();
	await id("server-resources").getByText("lamp.md", { exact: true }).waitFor();
});

test("failed test shows its reason and the way out", async () => {
	await show("toolservers", "light");
	await row("Time").getByTestId("test-tool-server").click();
	await row("Time").getByTestId("error").getByText("A tool server failed").waitFor();
});

test("permission of a tool is changed by keyboard", async () => {
	await show("toolservers", "light");
	const grant = page.getByLabel("Permission for Search Files");
	assert.equal(await grant.inputValue(), "ask");
	await grant.focus();
	await page.keyboard.press("a");
	assert.equal(await grant.inputValue(), "always");
});

test("server is added by the form, with a secret value", async () => {
	await show("toolservers", "dark");
	await id("add-tool-server").click();
	await id("tool-server-name").fill("Dice");
	await id("tool-server-command").fill("npx");
	await id("tool-server-args").fill("-y\ndice-server\n");
	await id("add-value").click();
	await id("value-name").fill("API_KEY");
	assert.equal(await id("value-value").getAttribute("type"), "password");
	await id("value-value").fill("secret");
	await id("tool-server-save").click();
	await id("tool-server-form").waitFor({ state: "detached" });
	await row("Dice").getByText("npx -y dice-server").waitFor();
	await row("Dice").getByText("Off", { exact: true }).waitFor();
});

test("closed form of a server keeps its text without secrets", async () => {
	await show("toolservers", "light");
	await id("add-tool-server").click();
	await id("tool-server-command").fill("npx");
	await id("add-value").click();
	await id("value-name").fill("API_KEY");
	await id("value-value").fill("secret");
	await page.keyboard.press("Escape");
	await id("tool-server-form").waitFor({ state: "detached" });
	await id("add-tool-server").click();
	await id("draft-notice").getByText("Enter keys and other secret values again").waitFor();
	assert.deepEqual([await id("tool-server-command").inputValue(), await id("value-name").inputValue(), await id("value-value").inputValue()], ["npx", "API_KEY", ""]);
	await page.keyboard.press("Escape");

	await id("paste-tool-servers").click();
	await id("paste-text").fill('{ "mcpServers": {} }');
	await page.keyboard.press("Escape");
	await id("paste-form").waitFor({ state: "detached" });
	await id("undo").last().click();
	assert.equal(await id("paste-text").inputValue(), '{ "mcpServers": {} }');
});

test("taken name is an error in the form", async () => {
	await show("toolservers", "light");
	await id("add-tool-server").click();
	await id("tool-server-name").fill("Time");
	await page.getByRole("radio", { name: "Address" }).click();
	await id("tool-server-url").fill("https://time.example.org/mcp");
	await id("tool-server-save").click();
	await id("tool-server-form").getByText("There is already a tool server named Time.").waitFor();
});

test("pasted settings add servers, and name those that fail", async () => {
	await show("toolserversnone", "dark");
	await id("paste-tool-servers").click();
	await id("paste-text").fill("npx something");
	await id("paste-add").click();
	await id("paste-form").getByText("The text is not valid JSON").waitFor();
	await id("paste-text").fill('{ "mcpServers": { "time": { "command": "uvx" }, "old": { "type": "sse" } } }');
	await id("paste-add").click();
	await id("paste-skipped").getByText("older SSE transport").waitFor();
	await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
	await row("time").getByText("Off", { exact: true }).waitFor();
});

test("server is switched off and removed", async () => {
	await show("toolservers", "light");
	await page.getByRole("switch", { name: "Notes folder" }).click();
	await row("Notes folder").getByText("Off", { exact: true }).waitFor();
	await page.getByRole("button", { name: "Remove Time" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
	await row("Time").waitFor({ state: "detached" });
});

test("settings search finds the tool servers", async () => {
	await show("settings", "dark");
	await page.getByLabel("Search settings").fill("mcp");
	await page.keyboard.press("Enter");
	await id("tool-server").first().waitFor();
});

test("tool servers have no axe violation", async () => {
	for (const [scene, theme] of [["toolservers", "dark"], ["toolservers", "light"], ["toolserveredit", "dark"], ["toolserverspaste", "light"], ["toolserversnone", "dark"]]) {
		await show(scene, theme);
		assert.deepEqual(await axe(page), [], `${scene} ${theme}`);
	}
});

test("page fits a narrow window", async () => {
	await page.setViewportSize({ width: 320, height: 700 });
	await show("toolservers", "light");
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(wide <= 320, `${wide} pixels`);
});

test("no script error", () => assert.deepEqual(errors, []));
