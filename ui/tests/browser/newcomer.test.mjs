// A newcomer's first hour against the real engine and a scripted hub: from the hint to a model that answers. The download
// is interrupted twice, by the connection and by the end of the app.
import assert from "node:assert/strict";
import { appendFile, copyFile, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { scriptedHub, serve } from "./engine.mjs";

const LONG = 120_000;
const MODELS = process.env.INGLENOOK_MODELS ?? join(process.env.HOME ?? "", ".cache/inglenook/models");
const BUNDLED = "SmolLM2-135M-Instruct.Q4_1.gguf";
const SUGGESTED = ["Qwen/Qwen2.5-0.5B-Instruct-GGUF", "qwen2.5-0.5b-instruct-q8_0.gguf"];

let folder;
let hub;
let engine;
let context;
let page;
const id = (name) => page.getByTestId(name);
const start = () => serve({ data: join(folder, "data"), variables: { INGLENOOK_HUB: hub.address, INGLENOOK_MODELS: join(folder, "shipped") } });

before(async () => {
	folder = await mkdtemp(join(tmpdir(), "inglenook-newcomer-"));
	// The shipped model is in its place. The hub serves the same weights, with another checksum, as a larger model.
	await mkdir(join(folder, "shipped"));
	await symlink(join(MODELS, BUNDLED), join(folder, "shipped", BUNDLED));
	await copyFile(join(MODELS, BUNDLED), join(folder, "larger.gguf"));
	await appendFile(join(folder, "larger.gguf"), Buffer.alloc(32));
	hub = await scriptedHub(...SUGGESTED, join(folder, "larger.gguf"), "cut:20000000", "stall:30000000");
	engine = await start();
	context = await launch({ locale: "en-US", reducedMotion: "reduce" });
	page = await context.newPage();
	page.setDefaultTimeout(30_000);
	await page.goto(engine.url);
});

after(async () => {
	await context?.close();
	await engine?.stop();
	hub?.stop();
	await rm(folder, { recursive: true, force: true });
});

test("hint leads to a suggestion, and its download begins", async () => {
	await id("larger-model-open").click();
	const all = id("suggestions-all");
	await id("suggestion").first().waitFor();
	if (await all.isVisible()) await all.click();
	const suggestion = id("suggestion").filter({ hasText: "Qwen2.5 0.5B" });
	await suggestion.getByText("Apache-2.0").waitFor();
	await suggestion.getByTestId("suggestion-download").click();
	// The connection breaks after 20 MB; the next one brings 30 MB more and then nothing.
	await id("download-facts").getByText(/\b50 MB of 98 MB/).waitFor({ timeout: LONG });
	if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "newcomer-download.png") });
});

test("download goes on after the app has ended", async () => {
	await engine.stop();
	engine = await start();
	await page.goto(engine.url);
	await page.getByRole("button", { name: "Models" }).first().click();
	await id("model").filter({ hasText: "qwen2.5-0.5b-instruct-q8_0" }).getByText("Default").waitFor({ timeout: LONG });
	await id("download").waitFor({ state: "detached" });
	assert.deepEqual(await readdir(join(folder, "data", "models", ...SUGGESTED[0].split("/"))), [SUGGESTED[1]]);
	if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "newcomer-library.png") });
});

test("downloaded model answers", async () => {
	await page.getByRole("button", { name: "Chats" }).first().click();
	if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "newcomer-chat.png") });
	await id("model-chip").getByText("qwen2.5-0.5b").waitFor();
	await id("composer").fill("Good evening!");
	await id("composer").press("Enter");
	await page.waitForFunction(() => [...document.querySelectorAll("[data-testid=message]")].at(-1)?.dataset.role === "character" && document.querySelectorAll("[data-testid=message]").length >= 3, null, { timeout: LONG });
	await id("stop").waitFor({ state: "detached", timeout: LONG });
	assert.equal(await id("error").count(), 0);
	const reply = await page.locator("[data-testid=message]").last().getByTestId("message-text").innerText();
	assert.ok(reply.trim().length > 0);
	if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "newcomer-answer.png") });
});
