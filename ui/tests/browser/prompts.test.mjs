// The X-ray, the commands and the prompts screen on the scripted engine, by pointer and by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, hasFocus } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
const rows = () => page.locator("[data-row]");
const focused = (read) => page.evaluate(read);
const value = (name) => id(name).inputValue();

test("blocks filter by fate, kind and text, and expand", async () => {
	await show("xray");
	await id("choice-leftOut").click();
	await eventually(async () => assert.equal(await rows().count(), 4));
	await id("choice-all").click();
	await id("kind-lore").click();
	await eventually(async () => assert.equal(await rows().count(), 2));
	await id("xray-panel").getByTestId("search").fill("miller's boy");
	await eventually(async () => assert.equal(await rows().count(), 1));
	await rows().first().click();
	await page.getByText("The mill has stood dark").waitFor();
	await id("kind-lore").click();
	await id("xray-panel").getByTestId("search").fill("");
	await eventually(async () => assert.ok((await rows().count()) > 8));
});

test("blocks are found by inclusion and drop reasons", async () => {
	await show("xray");
	await id("xray-panel").getByTestId("search").fill("half an hour has passed");
	await eventually(async () => assert.equal(await rows().count(), 1));
	await id("xray-panel").getByTestId("search").fill("no room for examples");
	await eventually(async () => assert.match(await rows().first().innerText(), /Example dialogue/));
});

test("stages show times, the model's after the reply", async () => {
	await show("xray");
	await id("xray-panel").getByText("More figures").click();
	const summary = id("xray-timings").locator("summary");
	await eventually(async () => assert.equal(await summary.innerText(), "built in 7.4 ms · read 270 ms · first words 310 ms"));
	await summary.click();
	const stages = await id("xray-timings").locator("dt, dd:not(.about)").allInnerTexts();
	assert.deepEqual(stages, ["collect", "3.1 ms", "recall", "1.8 ms", "count", "0.4 ms", "plan", "1 ms", "read", "270 ms", "first words", "310 ms"]);
	await id("choice-next").click();
	await page.waitForFunction(() => !document.querySelector("[data-testid=xray-timings]")?.textContent.includes("first words"));
});

test("next prompt is compared while typing", async () => {
	await show("xraynext");
	await id("xray-diff").click();
	await id("xray-difference").locator(".added", { hasText: "And the mill? Who lit it last?" }).waitFor();
	await id("composer").fill("Only the baker knows.");
	await id("xray-difference").locator(".added", { hasText: "Only the baker knows." }).waitFor();
	await page.getByText("Compared with the last prompt sent: 1 lines added, 0 removed.").waitFor();
});

test("block list is one tab stop with arrow keys", async () => {
	await show("xraymany");
	await eventually(async () => assert.ok((await rows().count()) < 60, "only what is near the reader is in the page"));
	await eventually(async () => assert.equal(await page.locator("[data-row][tabindex='0']").count(), 1));
	await rows().first().focus();
	for (let steps = 0; steps < 40; steps++) await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.match(await focused(() => document.activeElement.textContent), /Message/));
	await eventually(async () => assert.equal(await focused(() => document.activeElement.getAttribute("tabindex")), "0"));
	await page.keyboard.press("Enter");
	await page.getByText("The wind has turned, and with it").first().waitFor();
});

test("block leads to its field, section or setting", async () => {
	await show("xray");
	await page.getByRole("button", { name: /^Personality/ }).last().click();
	await id("jump-to").last().click();
	await page.waitForFunction(() => document.activeElement.dataset.testid === "field-personality");

	await show("xray");
	await id("jump-to").first().click();
	await page.waitForFunction(() => document.activeElement.closest("[data-entry=rules]") && document.activeElement.ariaExpanded === "true");

	await show("xray");
	await id("xray-panel").getByTestId("search").fill("lamps hiss");
	await rows().first().click();
	await id("jump-to").click();
	await id("xray-panel").waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement.closest("[data-testid=setting-row-author_note]"));
});

test("block leads to its message far up", async () => {
	await show("xraymany");
	await show("long");
	await id("message").last().hover();
	await page.evaluate(() => document.querySelector("[data-testid=composer]").focus());
	await id("xray").click();
	await rows().first().waitFor();
	// The scripted prompt contains messages of another chat, so the test opens the target message directly.
	await page.evaluate(() => window.app.follow({ of: "message", id: "l12" }));
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "l12");
	const box = await page.locator("[data-message-id=l12]").boundingBox();
	assert.ok(box.y > 0 && box.y < 900, `at ${box.y}`);
});

test("next prompt follows the composer", async () => {
	await show("xraynext");
	await id("composer").fill("Only the baker knows.");
	await id("xray-panel").getByTestId("search").fill("baker");
	await rows().first().click();
	await id("xray-list").getByText("Only the baker knows.").waitFor();
});

test("raw prompt shows control tokens and can be copied", async () => {
	await show("xrayraw");
	await eventually(async () => assert.ok((await page.locator(".raw .control", { hasText: "<|im_start|>" }).count()) > 5));
	await id("copy-prompt").click();
	await eventually(async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^<\|im_start\|>system\nWrite Mira's next reply/));
});

test("stages show the prompt from source to sent text", async () => {
	await show("xraystages");
	const lines = (change) => id("xray-stage").locator(`.${change}`).allInnerTexts().then((texts) => texts.join("\n"));
	await eventually(async () => assert.match(await lines("removed"), /\$\{character\.name\}/));
	await eventually(async () => assert.match(await lines("added"), /Write Mira's next reply/));
	await id("choice-sources").click();
	await id("xray-stage").locator(".same", { hasText: "{{char}}: “Is it?" }).waitFor();
	await eventually(async () => assert.equal(await id("xray-stage").locator(".fold").count(), 0));
	await id("choice-budget").click();
	await id("xray-stage").locator(".removed", { hasText: "Mira: “Is it?" }).waitFor();
	await id("choice-sent").click();
	await id("xray-stage").locator(".added", { hasText: "<|im_start|>system" }).waitFor();
	await id("xray-blocks").click();
	await rows().nth(1).click();
	await id("written").getByText("{{char}}").waitFor();
});

test("unchanged lines are folded and expand", async () => {
	await show("xraydiff");
	await page.getByRole("button", { name: "… 418 unchanged lines …" }).click();
	await id("xray-difference").getByText("Mira keeps the lamps of a small hill town.").first().waitFor();
});

test("trial shows its difference and can be reverted", async () => {
	await show("xraytry");
	await eventually(async () => assert.match(await id("trial-result").innerText(), /−112 tokens: 535 of 1,000/));
	await id("trial-result").getByText("2 blocks dropped").click();
	await id("trial-result").getByText(/^Summary/).waitFor();
	await page.getByRole("button", { name: "Undo all" }).click();
	await id("trial-result").getByText("Nothing changed yet.").waitFor();
	await eventually(async () => assert.equal(await value("trial-limit"), ""));
});

test("past turns load by pages, Back leads to the chat", async () => {
	await show("xraypage");
	const turns = page.locator("[data-turn]");
	await eventually(async () => assert.equal(await turns.count(), 41));
	await id("older-turns").click();
	await page.waitForFunction(() => document.querySelectorAll("[data-turn]").length === 81);
	await turns.nth(1).focus();
	await page.keyboard.press("ArrowDown");
	await hasFocus(turns.nth(2));
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await turns.nth(2).getAttribute("aria-current"), "true"));
	await id("xray-back").click();
	await id("composer").waitFor();
	await id("xray-panel").getByText("Past turn").waitFor();
});

test("message menu pins it and opens its prompt", async () => {
	await show("chat");
	const last = id("message").last();
	await last.getByTestId("message-menu").click();
	await id("pin").click();
	await last.locator(".pinned").waitFor();
	await last.getByTestId("message-menu").click();
	await page.getByRole("menuitem", { name: "Unpin" }).waitFor();
	await id("message-xray-page").click();
	await id("xray-page").waitFor();
});

test("context mark is drawn once at its message", async () => {
	await show("long");
	await id("log").evaluate((node) => (node.scrollTop = node.scrollHeight - node.clientHeight - 200));
	await page.evaluate(() => window.app.follow({ of: "message", id: "l560" }));
	await id("window-mark").waitFor();
	await eventually(async () => assert.equal(await id("window-mark").count(), 1));
	await eventually(async () => assert.ok(await page.locator("[data-message-id=l559]").evaluate((node) => node.classList.contains("outside"))));
	await eventually(async () => assert.ok(!(await page.locator("[data-message-id=l560]").evaluate((node) => node.classList.contains("outside")))));
});

test("/mode completes by keyboard and sends nothing", async () => {
	await show("chat");
	await id("composer").fill("/");
	await id("completions").waitFor();
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await value("composer"), "/mode "));
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.equal(await id("composer").getAttribute("aria-activedescendant"), await page.locator("[role=option][aria-selected=true]").getAttribute("id")));
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => /study/i.test(document.querySelector("[data-testid=mode-chip]").textContent));
	await eventually(async () => assert.equal(await value("composer"), ""));
	await eventually(async () => assert.equal(await id("message").last().getAttribute("data-message-id"), "a2"));
});

test("unknown mode keeps its text in the composer", async () => {
	await show("unknown");
	await eventually(async () => assert.match(await id("command-failure").innerText(), /“pirate”.*\/mode/));
	await eventually(async () => assert.equal(await value("composer"), "/mode pirate"));
	await page.keyboard.press("Escape");
	await id("mode-chip").click();
	await page.getByRole("menuitem", { name: "chill" }).click();
	await page.waitForFunction(() => /chill/i.test(document.querySelector("[data-testid=mode-chip]").textContent));
});

test("new scene asks first and deletes nothing", async () => {
	await show("chat");
	const shown = () => id("message").evaluateAll((all) => all.map((one) => one.dataset.messageId));
	const hasAll = () => eventually(async () => assert.deepEqual(await shown(), ["g", "u1", "a1", "u2", "a2"]));
	await hasAll();
	await id("chat-menu").click();
	await id("new-scene").click();
	await page.getByText("Nothing is deleted").waitFor();
	await page.getByRole("button", { name: "Start new scene" }).click();
	await page.getByText("Nothing is deleted").waitFor({ state: "detached" });
	await hasAll();
});

test("too long prompt offers solutions", async () => {
	await show("overflow");
	await eventually(async () => assert.match(await id("overflow").innerText(), /562 tokens over the limit/));
	await page.getByRole("button", { name: "Choose another model" }).click();
	await page.getByRole("group", { name: "On this computer" }).getByRole("option", { name: /Mistral Small/ }).waitFor();
	const ids = await page.getByRole("option").evaluateAll((rows) => rows.map((row) => row.id));
	assert.equal(new Set(ids).size, ids.length, "each row has an id of its own");
	await page.keyboard.press("Escape");
	await id("shorten").click();
	await page.waitForFunction(() => document.activeElement.dataset.testid === "field-description");
	await show("overflow");
	await page.getByRole("button", { name: "Increase context size" }).click();
	await page.waitForFunction(() => document.activeElement.closest("[data-testid=setting-row-context_limit]"));
});

test("template problem links to its section", async () => {
	await show("templatebad");
	await id("choice-json").click();
	await page.getByRole("button", { name: "Go to identity" }).click();
	await page.waitForFunction(() => {
		const code = document.querySelector("[data-testid=code]");
		return code.value.slice(code.selectionStart, code.selectionEnd) === '"name": "identity"';
	});
	await id("code").evaluate((node) => {
		node.value = node.value.replace("character.mood", "character.name").replace("Base Role-play", "My Role-play");
		node.dispatchEvent(new Event("input", { bubbles: true }));
	});
	await page.waitForFunction(() => !document.querySelector("[data-testid=problems] li"));
	await page.keyboard.press("Control+s");
	await id("toast").filter({ hasText: "Saved" }).waitFor();
	await page.getByRole("heading", { name: /My Role-play/ }).getByText("changed").waitFor();
	await id("template-menu").click();
	await id("reset-template").click();
	await page.getByRole("heading", { name: "Base Role-play", exact: true }).waitFor();
	await id("undo").click();
	await page.getByRole("heading", { name: /My Role-play/ }).waitFor();
});

test("prompts screen opens the template in use", async () => {
	await show("templates");
	await page.getByRole("heading", { name: "Base Role-play" }).waitFor();
	const whole = id("whole-prompt");
	await whole.getByRole("button", { name: "Identity", exact: true }).waitFor();
	await whole.getByText("The mill has stood dark").waitFor();
	await whole.getByText("Wanderer reads by candle at night.").waitFor();
	await whole.getByText("It has begun to rain. The lamps hiss.").waitFor();
	await whole.getByText("4 messages").waitFor();
	await id("preview").getByText("4 blocks left out").click();
	await id("preview").getByText(/no room for examples/).waitFor();
});

test("template is duplicated, discarded and selected", async () => {
	await show("template");
	await id("template-menu").click();
	await id("duplicate-template").click();
	await page.getByRole("heading", { name: "Base Role-play (copy)" }).waitFor();
	await id("save-template").click();
	await id("template").filter({ hasText: "Base Role-play (copy)" }).waitFor();
	await id("use-template").click();
	await page.getByRole("menuitem", { name: "For all chats" }).click();
	await id("toast").filter({ hasText: "in all chats without their own choice" }).waitFor();
});

test("variable is inserted at the cursor", async () => {
	await show("variables");
	await id("choice-json").click();
	await id("code").evaluate((node) => node.setSelectionRange(0, 0));
	await id("prompts").getByTestId("search").fill("first sentences");
	await id("variables").getByRole("button").click();
	await page.waitForFunction(() => document.querySelector("[data-testid=code]").value.startsWith("${character.shortDescription}"));
});

test("mode is saved, or rejected by the engine", async () => {
	await show("modes");
	await id("new-mode").click();
	await id("mode-name").fill("two words");
	await id("save-mode").click();
	await id("error").filter({ hasText: "The name of a mode must be one short word." }).waitFor();
	await id("mode-name").fill("Storm");
	await id("mode-text").fill("Everything is wet.");
	await id("save-mode").click();
	await id("mode").filter({ hasText: "storm" }).waitFor();
});

test("script is saved, disabled, deleted and restored", async () => {
	await show("scripts");
	await id("new-script").click();
	await id("script-name").fill("No dashes");
	await id("script-find").fill("/—/g");
	await id("save-script").click();
	const row = id("script").filter({ hasText: "No dashes" });
	await row.waitFor();
	await page.getByRole("switch", { name: "Active" }).click();
	await row.getByText("off").waitFor();
	await id("delete-script").click();
	await row.waitFor({ state: "detached" });
	await id("undo").click();
	await row.waitFor();
});

test("script runs on a sample while it is edited", async () => {
	await show("scripts");
	await id("script").filter({ hasText: "Asterisks" }).click();
	await id("script-sample").fill("She *waves* and *laughs*.");
	await id("script-result").getByText("She _waves_ and _laughs_.").waitFor();
	await eventually(async () => assert.equal(await id("script-told").textContent(), "2 matches"));
	await id("script-replace").fill("<$1>");
	await id("script-result").getByText("She <waves> and <laughs>.").waitFor();
	await id("script-find").fill("/dance/g");
	await id("script-told").getByText("No matches here.").waitFor();
	await id("script-find").fill("/(/g");
	await id("script-told").getByText("its pattern is not valid").waitFor();
	await eventually(async () => assert.equal(await id("script-result").count(), 0));
	await id("script").filter({ hasText: "Looks behind" }).click();
	await id("script-told").getByText("This took too long").waitFor();
	await eventually(async () => assert.deepEqual(await axe(page), []));
});

test("script moves by keyboard and keeps the focus", async () => {
	await show("scripts");
	const names = () => id("script").locator(".name").allTextContents();
	const before = await names();
	await id("script").first().click();
	await eventually(async () => assert.equal(await id("script-place").textContent(), "1 of 3"));
	await id("script-later").focus();
	for (const place of ["2 of 3", "3 of 3", "3 of 3"]) {
		await page.keyboard.press("Enter");
		await id("script-place").getByText(place).waitFor();
	}
	await eventually(async () => assert.deepEqual(await names(), [before[1], before[2], before[0]]));
	await eventually(async () => assert.equal(await focused(() => document.activeElement.dataset.testid), "script-later"));
});

test("draft of a preset stays when another one opens", async () => {
	await show("samplers");
	const row = (name) => id("sampler").filter({ hasText: name });
	const top = id("sampler-row-top_p");
	await top.getByText("Has no effect while Mirostat is on.").waitFor();
	await row("Min-P").click();
	await eventually(async () => assert.equal(await value("sampler-name"), "Min-P"));
	await eventually(async () => assert.match(await row("Big O").innerText(), /unsaved/));
	await id("new-sampler").click();
	await id("sampler-name").fill("Mine");
	await id("prompts-formats").click();
	await id("format").filter({ hasText: "ChatML" }).click();
	await id("prompts-samplers").click();
	await eventually(async () => assert.equal(await value("sampler-name"), "Mine"));
	await id("discard-sampler").click();
	await eventually(async () => assert.equal(await row("Mine").count(), 0));
	await row("Big O").click();
	await top.getByText("Has no effect while Mirostat is on.").waitFor();
	await id("save-sampler").click();
	await page.waitForFunction(() => document.querySelector("[data-testid=save-sampler]").disabled);
	await eventually(async () => assert.doesNotMatch(await row("Big O").innerText(), /unsaved/));
});

test("built-in chat format is changed in a copy", async () => {
	await show("formats");
	await id("format").filter({ hasText: "ChatML" }).click();
	await eventually(async () => assert.equal(await id("format-jinja").getAttribute("readonly"), ""));
	await id("duplicate-format").click();
	await id("format-stop").fill("\\nYou:");
	await id("save-format").click();
	await id("format").filter({ hasText: "ChatML (copy)" }).filter({ hasText: "yours" }).waitFor();
});

test("card scripts are off until the user agrees", async () => {
	await show("cardscripts");
	const consent = page.getByRole("switch", { name: "Let this card's scripts run" });
	await eventually(async () => assert.equal(await consent.getAttribute("aria-checked"), "false"));
	await consent.click();
	await page.waitForFunction(() => document.querySelector("[role=switch]").getAttribute("aria-checked") === "true");
});

test("narrow window shows either list or editor", async () => {
	await page.setViewportSize({ width: 390, height: 844 });
	await show("templates");
	await id("template").first().click();
	await id("template").first().waitFor({ state: "hidden" });
	await id("choice-text").waitFor();
	await page.locator(".back:visible").click();
	await id("template").first().waitFor();
	await page.setViewportSize({ width: 1440, height: 900 });
});

test("no script error", () => assert.deepEqual(errors, []));
