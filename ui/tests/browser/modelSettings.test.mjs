// How local models are loaded: devices, memory, settings, adapters, speed; on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 900 } });

const openSettings = async (name) => {
	await show("models", "light");
	await page.getByRole("button", { name: `Settings of ${name}` }).click();
	await id("model-settings").waitFor();
};

test("a loaded model says where it is", async () => {
	await show("models", "light");
	await id("loaded").getByText("31 of 31 layers on AMD Radeon RX 7600, context 8,192, 600 MB of 8 GB").waitFor();
	await id("devices").getByText("Vulkan0 · graphics card · 7.4 GB of 8 GB free").waitFor();
});

test("loading by hand tells what did not fit", async () => {
	await openSettings("Mistral Small 24B Instruct Q4_K_M");
	await id("load-model").click();
	await id("load-note").getByText("Not all layers fit: 20 instead of 41 are on the graphics device.").waitFor();
	assert.match(await id("placement").innerText(), /^20 of 41 layers on AMD Radeon RX 7600/);
	await id("unload-model").click();
	await id("load-model").waitFor();
	assert.equal(await id("load-note").count(), 0);
});

test("settings of a model are changed and reset", async () => {
	await openSettings("SmolLM2 135M Instruct");
	await id("setting-gpu_layers").fill("12");
	await page.keyboard.press("Tab");
	const row = id("setting-row-gpu_layers");
	await row.getByRole("button", { name: "Reset" }).waitFor();
	assert.equal(await id("setting-gpu_layers").inputValue(), "12");
	await row.getByRole("button", { name: "Reset" }).click();
	await row.getByRole("button", { name: "Reset" }).waitFor({ state: "detached" });
});

test("adapter is added, weighted and removed", async () => {
	await openSettings("SmolLM2 135M Instruct");
	await id("add-adapter").click();
	await page.getByText("pirate-f16.gguf").waitFor();
	await page.getByRole("slider", { name: "Strength" }).press("ArrowLeft");
	await page.getByRole("button", { name: "Remove pirate-f16.gguf" }).click();
	await id("add-adapter").waitFor();
});

test("speed test shows every run and the fastest", async () => {
	await openSettings("SmolLM2 135M Instruct");
	await id("measure-model").click();
	await id("speed-results").waitFor();
	assert.equal(await id("speed-results").locator("tbody tr").count(), 4);
	await page.getByText("Fastest: 8 threads, 61 tokens per second").waitFor();
});

test("no script fails", () => assert.deepEqual(errors, []));
