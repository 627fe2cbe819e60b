// The model library on the scripted engine: from the hint under the composer to a model that answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

test("newcomer gets a model with two clicks", async () => {
	await show("first", "light");
	await id("larger-model").getByText("A larger one talks better").waitFor();
	await id("larger-model-open").click();
	const best = id("suggestion").first();
	await best.getByText("Best for this computer").waitFor();
	await best.getByText("Apache-2.0").waitFor();
	await best.getByText("about 360 words a minute").waitFor();
	await best.getByTestId("suggestion-download").click();
	const row = id("download");
	await row.waitFor();
	await page.evaluate(() => window.engine.hub.reach(0.25));
	await row.getByText("1.3 GB of 5 GB").waitFor();
	await row.getByText("per second").waitFor();
	await id("download-pause").click();
	await row.getByText("Paused").waitFor();
	await best.getByText("Resume").waitFor();
	await id("download-resume").click();
	await page.evaluate(() => window.engine.hub.reach(0.5, "waiting", "The connection was lost.", "The download resumes where it stopped."));
	await row.getByText("Next try in 4 seconds").waitFor();
	await page.evaluate(() => window.engine.hub.finish());
	await row.waitFor({ state: "detached" });
	await page.getByText("is ready and answers from now on").waitFor();
	await id("model").filter({ hasText: "Qwen3-8B" }).getByText("Default").waitFor();
	await best.getByText("Installed").waitFor();
	assert.equal(await best.getByTestId("suggestion-download").count(), 0);
});

test("hint under the composer can be dismissed", async () => {
	await show("first", "dark");
	await id("larger-model-dismiss").click();
	await id("larger-model").waitFor({ state: "detached" });
	await show("chat", "dark");
	await id("composer").waitFor();
	assert.equal(await id("larger-model").count(), 0);
});

test("failed download says why and can be retried", async () => {
	await show("downloads", "dark");
	await page.evaluate(() => window.engine.hub.reach(0.5, "failed", "The disk is full. What was downloaded is deleted.", "Free some space, then try again."));
	await id("download").getByRole("alert").getByText("Free some space").waitFor();
	await id("download-retry").click();
	await id("download").getByText("Waiting for another download").waitFor();
	await id("download-cancel").click();
	await page.getByRole("button", { name: "Cancel download", exact: true }).click();
	await id("download").waitFor({ state: "detached" });
});

test("search shows licence, terms and further pages", async () => {
	await show("models", "light");
	await page.getByRole("searchbox", { name: "Search for models" }).fill("qwen");
	await page.keyboard.press("Enter");
	await id("hub-model").first().waitFor();
	assert.equal(await id("hub-model").count(), 3);
	await id("hub-model").nth(1).getByText("asks you to accept terms").waitFor();
	await id("hub-model").nth(2).getByText("no licence stated").waitFor();
	await id("hub-more").click();
	await id("hub-model").nth(3).waitFor();
	assert.equal(await id("hub-more").count(), 0);
});

test("file of the hub is measured before the download", async () => {
	await show("hubfiles", "dark");
	await id("hub-gated").waitFor();
	await id("hub-licence").getByText("llama3.2").waitFor();
	await id("fit-largest").getByText("32,768").waitFor();
	await id("fit-speed").getByText("about 720 words a minute").waitFor();
	await id("hub-file").filter({ hasText: "F16" }).click();
	await id("fit-figures").getByText("Fits, but tightly").or(id("fit-figures").getByText("Too large")).waitFor();
	await id("fit-context").selectOption("32768");
	await id("fit-figures").getByText("Too large for this computer").waitFor();
	await id("hub-file").filter({ hasText: "Q4_K_M" }).click();
	await id("hub-pictures").check();
	await id("hub-download").click();
	await id("download").getByText("Q4_K_M").waitFor();
});

test("hub that is down is explained, with a way to go on", async () => {
	await show("models", "light");
	await page.evaluate(() => (window.engine.hub.failure = { kind: "provider", class: "unreachable", message: "huggingface.co cannot be reached.", hint: "Check the network, and the hub's address on the Models page." }));
	await page.getByRole("searchbox", { name: "Search for models" }).fill("qwen");
	await id("hub-find").click();
	await id("error").getByText("cannot be reached").waitFor();
	await page.evaluate(() => (window.engine.hub.failure = null));
	await id("hub-again").click();
	await id("hub-model").first().waitFor();
});

test("wrong hub address stays in the form with the reason", async () => {
	await show("hubsettings", "light");
	await id("hub-address").fill("http://hub.example");
	await id("hub-save").click();
	await id("error").getByText("must begin with https://").waitFor();
	await id("hub-address").fill("https://hub.example");
	await id("hub-token").fill("hf_secret");
	await id("hub-save").click();
	await id("hub-address").waitFor({ state: "detached" });
	await page.getByText("share on hub.example").waitFor();
});

test("models of other apps are added without a copy", async () => {
	await show("models", "dark");
	await id("other-app").getByText("LM Studio has 2 models").waitFor();
	await id("other-add").click();
	await page.getByText("2 models added").waitFor();
	await id("other-app").waitFor({ state: "detached" });
});

test("downloaded file is deleted only after a question", async () => {
	await show("models", "light");
	const row = id("model").filter({ hasText: "SmolLM2" });
	await row.getByRole("button", { name: "More actions" }).click();
	await id("delete-model-file").click();
	await page.getByText("is deleted from the disk").waitFor();
	await page.getByRole("button", { name: "Delete file", exact: true }).click();
	await row.waitFor({ state: "detached" });
	await id("model").filter({ hasText: "Mistral Small" }).getByRole("button", { name: "More actions" }).click();
	assert.equal(await id("delete-model-file").count(), 0);
});

test("no script errors", () => assert.deepEqual(errors, []));
