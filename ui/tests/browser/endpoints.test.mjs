// Endpoints and their models, import reports and unknown commands, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

test("model is searched and chosen by keyboard", async () => {
	await show("chat", "dark");
	await id("model-chip").focus();
	await page.keyboard.press("Enter");
	await id("model-picker").waitFor();
	await page.keyboard.type("router llama");
	const option = id("model-picker").getByRole("option");
	assert.deepEqual(await option.allInnerTexts(), ["meta-llama/llama-3.3-70b-instruct"]);
	await page.keyboard.press("Enter");
	await id("model-picker").waitFor({ state: "detached" });
	await id("model-chip").getByText("OpenRouter · meta-llama/llama-3.3-70b-instruct").waitFor();
	await page.keyboard.press("Enter");
	await id("model-picker").waitFor();
	assert.equal(await page.getByRole("option", { selected: true }).first().innerText(), "meta-llama/llama-3.3-70b-instruct");
	await page.keyboard.press("Home");
	await page.keyboard.press("Enter");
	await id("model-chip").getByText("SmolLM2 135M Instruct").waitFor();
});

test("service fills in its endpoint, links to its keys", async () => {
	await show("models", "light");
	await id("add-endpoint").click();
	await id("service-openrouter").click();
	assert.equal(await id("endpoint-url").inputValue(), "https://openrouter.ai/api/v1");
	await page.getByText("https://openrouter.ai/settings/keys").waitFor();
	await id("endpoint-name").fill("My router");
	await page.locator("summary").getByText("Custom headers").click();
	await id("add-header").click();
	await id("header-name").fill("X-Team");
	await id("header-value").fill("lamps");
	await id("endpoint-add-model").fill("hidden-model");
	await page.keyboard.press("Enter");
	await id("endpoint-add-model").fill("second-model");
	await page.keyboard.press("Enter");
	await id("endpoint-save").click();
	await id("endpoint-form").waitFor({ state: "detached" });
	await id("endpoint").filter({ hasText: "My router" }).getByText("2 models").waitFor();
});

test("API is chosen by the address, or by hand", async () => {
	await show("models", "dark");
	await id("add-endpoint").click();
	assert.equal(await id("endpoint-dialect").locator("option:checked").innerText(), "Automatic");
	await id("endpoint-url").fill("https://api.anthropic.com/v1");
	await id("endpoint-test").click();
	await id("endpoint-found").getByText("Anthropic").waitFor();
	await id("service-gemini").click();
	assert.equal(await id("endpoint-dialect").inputValue(), "gemini");
	await page.getByText("Gemini models of Google AI Studio.").waitFor();
	await page.getByText("https://aistudio.google.com/apikey").waitFor();
	await id("endpoint-dialect").selectOption("text");
	await id("endpoint-name").fill("Plain text");
	await id("endpoint-save").click();
	await id("endpoint-form").waitFor({ state: "detached" });
	await id("endpoint").filter({ hasText: "Plain text" }).getByText("Text completions").waitFor();
});

test("test shows the price of the model", async () => {
	await show("models", "light");
	await id("add-endpoint").click();
	await id("service-lmstudio").click();
	await id("endpoint-test").click();
	await id("endpoint-found").getByText("$0.4 in and $2 out per million tokens").waitFor();
});

test("health tests an endpoint only on request", async () => {
	await show("health", "dark");
	const row = id("endpoint-check").filter({ hasText: "OpenRouter" });
	await row.getByText("https://openrouter.ai/api/v1", { exact: true }).waitFor();
	await row.getByRole("button").click();
	await row.getByText("needs an API key").waitFor();
	const other = id("endpoint-check").filter({ hasText: "LM Studio" });
	assert.equal(await other.getByRole("status").innerText(), "http://127.0.0.1:1234/v1");
});

test("closed form keeps its text, and Undo brings back secrets", async () => {
	await show("models", "light");
	await id("add-endpoint").click();
	const form = id("endpoint-form");
	await id("endpoint-name").fill("My router");
	await page.mouse.click(5, 5);
	await form.waitFor({ state: "detached" });
	await id("add-endpoint").click();
	await id("draft-notice").getByText("Enter keys and other secret values again").waitFor();
	assert.equal(await id("endpoint-name").inputValue(), "My router");

	await id("endpoint-key").fill("sk-secret");
	await page.keyboard.press("Escape");
	await form.waitFor({ state: "detached" });
	await page.getByText("Keys and other secret values are kept only for Undo.").waitFor();
	const drafts = await page.evaluate(() => JSON.stringify(window.engine.drafts.of("endpoint", "")));
	assert.match(drafts, /My router/);
	assert.doesNotMatch(drafts, /sk-secret/);
	await id("undo").last().click();
	assert.equal(await id("endpoint-key").inputValue(), "sk-secret");
	await eventually(async () => assert.equal(await id("endpoint-name").inputValue(), "My router"));
	assert.deepEqual(await axe(page), []);

	await id("draft-use").click();
	await id("endpoint-key").fill("");
	await page.keyboard.press("Escape");
	await form.waitFor({ state: "detached" });
	await eventually(async () => assert.deepEqual(await page.evaluate(() => window.engine.drafts.of("endpoint", "")), []));
});

test("import report can be opened again", async () => {
	await show("imports", "light");
	assert.equal(await id("import-record").count(), 3);
	await id("import-record").first().getByRole("button").click();
	await id("import-report").getByText("holiday.png").waitFor();
	await page.keyboard.press("Escape");
	await id("import-report").waitFor({ state: "detached" });
});

test("unknown command stays in the composer", async () => {
	await show("chat", "dark");
	await id("composer").fill("/sys The lights go out.");
	await page.keyboard.press("Enter");
	await id("command-failure").getByText("//sys").waitFor();
	assert.equal(await id("composer").inputValue(), "/sys The lights go out.");
});

test("lost connection keeps the text in the composer", async () => {
	await show("lost", "light");
	await id("composer").fill("Wait for me");
	assert.equal(await id("composer").inputValue(), "Wait for me");
	await page.getByText("The connection to Inglenook was lost").waitFor();
});

test("no script error", () => assert.deepEqual(errors, []));
