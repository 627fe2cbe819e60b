// The memory panel and the lorebook of a card on the scripted engine, by pointer and by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, hasFocus } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1440, height: 900 } });
const rows = () => page.locator("[data-memory]");
const row = (memory) => page.locator(`[data-memory=${memory}]`);
const order = () => rows().evaluateAll((all) => all.map((one) => one.dataset.memory).join(" "));
const focused = () => page.evaluate(() => document.activeElement?.dataset.memory ?? document.activeElement?.dataset.testid);

test("memory block leads to its memory and its sources", async () => {
	await show("xray");
	await id("xray-panel").getByTestId("search").fill("candle at night");
	await page.locator("[data-row]").first().click();
	await id("jump-to").click();
	await id("xray-panel").waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement?.dataset.memory === "m1");
	await eventually(async () => assert.match(await row("m1").getByTestId("receipt").innerText(), /There is wax on your sleeve.*Mira · this chat/s));
	await row("m1").getByTestId("receipt").click();
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "a1");
	await id("memory-panel").waitFor();
});

test("source in another chat opens that chat", async () => {
	await show("memory");
	await row("m3").getByTestId("receipt").click();
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "x1");
});

test("missing memory is reported", async () => {
	await show("xray");
	await id("xray-panel").getByTestId("search").fill("left for the sea");
	await page.locator("[data-row]").first().click();
	await id("jump-to").click();
	await id("memory-panel").getByText("not on this list").waitFor();
});

test("list is one tab stop with keys for editing", async () => {
	await show("memorynone");
	await id("memory-panel").getByText("No memories yet").waitFor();
	await show("memory");
	await eventually(async () => assert.equal(await page.locator("[data-memory][tabindex='0']").count(), 1));
	await rows().first().focus();
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.equal((await order()).split(" ")[1], await focused()));
	const second = await focused();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.dataset.testid === "memory-text");
	await page.keyboard.type(" And more.");
	await page.keyboard.press("Escape");
	await id("memory-form").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await focused(), second));
	await eventually(async () => assert.ok(!(await row(second).innerText()).includes("And more.")));
});

test("memory is edited in place", async () => {
	await show("memory");
	const before = await order();
	await eventually(async () => assert.match(await row("m1").innerText(), /found by a model(?! ·)/, "that it was learned later than it was said is no change"));
	await row("m1").getByTestId("memory-edit").click();
	await id("memory-text").fill("Wanderer reads by lamp at night.");
	await id("memory-scope").selectOption("profile");
	await page.keyboard.press("Control+Enter");
	await row("m1").getByText("Wanderer reads by lamp at night.").waitFor();
	await eventually(async () => assert.match(await row("m1").innerText(), /everywhere · changed by you/));
	await eventually(async () => assert.equal(await order(), before));
	await eventually(async () => assert.equal(await focused(), "m1"));
});

test("memory type can be changed and filtered", async () => {
	await show("memory");
	await id("filter-type").selectOption("fact");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 2);
	await row("m1").getByTestId("memory-edit").click();
	await eventually(async () => assert.equal(await id("memory-form").getByLabel("Type").inputValue(), "fact"));
	await id("memory-type").selectOption({ label: "Relationship" });
	await eventually(async () => assert.deepEqual(await axe(page), []));
	await id("memory-save").click();
	await row("m1").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await focused(), "m3"));
	await id("filter-type").selectOption("relationship");
	await eventually(async () => assert.match(await row("m1").innerText(), /Relationship · importance 8/));
});

test("memory can belong to a lorebook and be filtered", async () => {
	await show("memory");
	await row("m6").getByTestId("memory-edit").click();
	const options = () => id("memory-scope").locator("option").allInnerTexts();
	await eventually(async () => assert.ok((await options()).includes("every chat with the lorebook “The hill town”")));
	await eventually(async () => assert.ok(!/Names of the sea|Winter|lantern/.test((await options()).join())));
	await id("memory-scope").selectOption({ label: "every chat with the lorebook “The hill town”" });
	await page.keyboard.press("Control+Enter");
	await eventually(async () => assert.match(await row("m6").innerText(), /every chat with the lorebook “The hill town”/));
	await id("filter-scope").selectOption("world");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 1);
	await row("m6").getByTestId("memory-edit").click();
	await eventually(async () => assert.equal(await id("memory-scope").inputValue(), "b1"));
});

test("pinned memory stays in place, forget has undo", async () => {
	await show("memory");
	const before = await order();
	await row("m5").getByTestId("memory-pin").click();
	await row("m5").getByText("Pinned:").waitFor();
	await eventually(async () => assert.equal(await order(), before));
	await row("m5").focus();
	const [, next] = before.slice(before.indexOf("m5")).split(" ");
	await page.keyboard.press("Delete");
	await row("m5").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await focused(), next));
	await id("undo").click();
	await row("m5").waitFor();
	await eventually(async () => assert.equal(await order(), before));
});

test("rejected memory keeps its text, a new one is first", async () => {
	await show("memorynone");
	await page.getByRole("button", { name: "Add a memory" }).click();
	await eventually(async () => assert.ok(await id("memory-save").isDisabled()));
	await id("memory-text").fill("refuse this");
	await id("memory-save").click();
	await id("error").getByText("A memory needs a text").waitFor();
	await id("memory-text").fill("Wanderer is afraid of bells.");
	await id("memory-type").selectOption("emotion");
	await id("memory-save").click();
	await rows().first().getByText("Wanderer is afraid of bells.").waitFor();
	await eventually(async () => assert.match(await rows().first().innerText(), /Written by you · now.*Emotion.*Wanderer & Mira/s));
});

test("Escape clears the search", async () => {
	await show("memory");
	await id("memory-panel").getByTestId("search").fill("ferry");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 1);
	await id("memory-panel").getByTestId("search").fill("submarine");
	await id("memory-panel").getByText("No results for “submarine”.").waitFor();
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 6);
});

test("disabled memory links to its setting", async () => {
	await show("memory");
	await page.evaluate(() => window.app.api.setSetting({ scope: "chat", id: "chat0" }, "memory", false));
	await id("memory-off").getByRole("button").click();
	await page.waitForFunction(() => document.activeElement?.closest("[data-testid=setting-row-memory]"));
	await id("memory").click();
	await id("memory-off").waitFor();
	await id("chat-settings").waitFor({ state: "detached" });
});

test("narrow window shows memory in the chat's menu", async () => {
	await page.setViewportSize({ width: 390, height: 844 });
	await show("chat");
	await id("chat-menu").click();
	await id("memory").click();
	await row("m1").getByTestId("receipt").click();
	await id("memory-panel").waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "a1");
	await page.setViewportSize({ width: 1440, height: 900 });
});

test("tried recall links each result to its source", async () => {
	await show("memory");
	await id("choice-try").click();
	await eventually(async () => assert.ok(await id("recall-try").isDisabled()));
	await id("recall-words").fill("What did my sister sail?");
	await page.keyboard.press("Enter");
	await id("recall-told").waitFor();
	await eventually(async () => assert.match(await id("recall-sum").innerText(), /4 recalled, 84 tokens of 1,500/));
	await eventually(async () => assert.match(await id("recall-told").innerText(), /third sandbank.*document The harbour\.md.*Same words\s+0\.7\s+Meaning\s+0\.58/s));
	await eventually(async () => assert.match(await id("recall-out").innerText(), /I saw your light.*this chat.*Not used: its messages are in the window/s));
	await eventually(async () => assert.equal(await page.locator("[data-recalled][tabindex='0']").count(), 1));
	await page.locator("[data-recalled]").first().focus();
	await page.keyboard.press("ArrowDown");
	await hasFocus(page.locator("[data-recalled]").nth(1));
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "x1");
});

test("recalled memory opens in the list", async () => {
	await show("memorytry");
	await page.locator("[data-recalled]").first().click();
	await page.waitForFunction(() => document.activeElement?.dataset.memory === "m3");
	await eventually(async () => assert.ok(await id("choice-list").getAttribute("aria-checked")));
});

test("empty and failed recall are reported", async () => {
	await show("memory");
	await id("choice-try").click();
	await id("recall-words").fill("Is there a submarine?");
	await id("recall-try").click();
	await id("recall-sum").getByText("Nothing would be recalled.").waitFor();
	await id("recall-words").fill("refuse");
	await id("recall-try").click();
	await id("error").getByText("there is no reply").waitFor();
});

test("last turn shows recalled items and reasons", async () => {
	await show("memory");
	await id("choice-turn").click();
	await id("recall-told").waitFor();
	await id("memory-panel").getByText("by words only").waitFor();
	await eventually(async () => assert.equal(await id("recalled").count(), 2));
	await eventually(async () => assert.deepEqual(await axe(page), []));
});

test("last turn shows the previous one during a reply", async () => {
	await show("memory");
	await id("choice-turn").click();
	await id("recall-told").waitFor();
	await id("composer").fill("Is the lamp lit?");
	await id("composer").press("Enter");
	await id("recall-earlier").waitFor();
	await id("recall-told").waitFor();
	await id("stop").waitFor({ state: "detached" });
	await id("recall-earlier").waitFor({ state: "detached" });
});

test("timeline groups memories by month", async () => {
	await show("memorytime");
	const months = await id("memories").locator("h3").allInnerTexts();
	assert.ok(months.length >= 1 && /\d{4}/.test(months[0]), months.join());
	await eventually(async () => assert.equal(await rows().count(), 6));
	await eventually(async () => assert.equal((await order()).split(" ")[0], "m1"));
	await eventually(async () => assert.deepEqual(await axe(page), []));
});

test("keyframes appear only in the timeline", async () => {
	const keyframes = () => page.locator("[data-keyframe]");
	const told = () => page.locator("[data-memory], [data-keyframe]").evaluateAll((all) => all.map((one) => one.dataset.memory ?? one.dataset.keyframe));
	await show("memorynone");
	await id("memory-panel").getByText("No memories yet").waitFor();
	assert.equal(await keyframes().count(), 0);
	await id("choice-timeline").click();
	await eventually(async () => assert.deepEqual(await told(), ["k1", "k2"]));
	assert.equal(await id("memory-panel").getByText("No memories yet").count(), 0);
	await show("memorytime");
	await eventually(async () => assert.deepEqual((await told()).slice(0, 2), ["m1", "k1"]));
	await eventually(async () => assert.match(await keyframes().first().innerText(), /I saw your light.*First sentences of 20 messages · this chat · \d+ min/s));
	await eventually(async () => assert.match(await keyframes().nth(1).innerText(), /A first evening, long ago and far from here/));
	await eventually(async () => assert.deepEqual(await axe(page), []));
	await id("filter-type").selectOption("fact");
	await keyframes().first().waitFor({ state: "detached" });
	await id("filter-type").selectOption("");
	await keyframes().first().waitFor();
	await id("memory-panel").getByTestId("search").fill("light");
	await keyframes().first().waitFor({ state: "detached" });
	await page.keyboard.press("Escape");
	await keyframes().first().waitFor();
	await rows().first().focus();
	await page.keyboard.press("ArrowDown");
	await hasFocus(keyframes().first());
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.dataset.messageId === "u1");
	await keyframes().nth(1).getByTestId("keyframe-jump").click();
	await page.waitForFunction(() => window.app.chat?.id === "chat3" && document.activeElement?.dataset.messageId === "g");
});

test("target clears the filters", async () => {
	await show("memory");
	await id("filter-type").selectOption("preference");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 1);
	await eventually(async () => assert.equal(await order(), "m6"));
	await id("filter-made").selectOption("words");
	await id("memory-panel").getByText("No memories match these filters.").waitFor();
	await id("filter-type").selectOption("");
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 3);
});

test("memories are merged by keyboard and separated", async () => {
	await show("memory");
	await row("m6").getByTestId("memory-merge").click();
	await id("merging").getByText("Likes tea dark and fragrant.").waitFor();
	await row("m7").getByTestId("memory-merge").focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.dataset.testid === "memory-text");
	await eventually(async () => assert.equal(await id("memory-text").inputValue(), "Likes tea dark and fragrant.\nTonight they speak of the map only."));
	await page.keyboard.press("Escape");
	await eventually(async () => assert.equal(await focused(), "m7"));
	await row("m6").getByTestId("memory-merge").click();
	await row("m7").getByTestId("memory-merge").click();
	await id("memory-text").fill("Likes tea dark, over a map.");
	await page.keyboard.press("Control+Enter");
	await id("memories").getByText("Likes tea dark, over a map.").waitFor();
	await eventually(async () => assert.equal(await rows().count(), 5));
	await id("undo").click();
	await row("m7").waitFor();
	await eventually(async () => assert.equal(await rows().count(), 6));
});

test("forgetting a pair asks first and has undo", async () => {
	await show("memory");
	await id("memory-menu").click();
	await id("forget-pair").click();
	await page.getByRole("button", { name: "Forget", exact: true }).click();
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 3);
	await id("undo").click();
	await page.waitForFunction(() => document.querySelectorAll("[data-memory]").length === 6);
});

test("missing embedding model is reported", async () => {
	await show("memorywords");
	await id("memory-by-words").waitFor();
	await eventually(async () => assert.match(await id("memory-storage").innerText(), /412 bytes$/));
	await show("memory");
	await id("memory-storage").getByText("12 texts not indexed yet").waitFor();
	assert.equal(await id("memory-by-words").count(), 0);
});

test("memories are exported and imported with their size", async () => {
	await show("memory");
	await eventually(async () => assert.match(await id("memory-storage").innerText(), /6 memories, 412 bytes · 12 texts not indexed yet/));
	await id("memory-menu").click();
	await id("memory-export").click();
	await page.getByText("Mira-memories.json").waitFor();
	const items = [{ id: "m1", text: "x" }, { id: "new", text: "Owns a boat.", created: "2026-01-02T10:00:00Z", updated: "2026-01-02T10:00:00Z" }];
	await id("memory-file").setInputFiles({ name: "memories.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ items })) });
	await page.getByText("1 memory imported, 1 already there").waitFor();
	await id("memories").getByText("Owns a boat.").waitFor();
});

test("memory is disabled per chat, character or globally", async () => {
	await show("memory");
	await id("memory-menu").click();
	await page.waitForFunction(() => document.querySelector("[data-testid=learn-chat]")?.textContent.includes(": on"));
	await id("learn-chat").click();
	await id("memory-off").waitFor();
	await id("memory-menu").click();
	await page.waitForFunction(() => document.querySelector("[data-testid=learn-chat]")?.textContent.includes(": off"));
	await id("learn-chat").click();
	await id("memory-off").waitFor({ state: "detached" });
});

test("chat deletion asks about its memories", async () => {
	const dialog = page.getByRole("dialog", { name: "Delete the chat “Mira”?" });
	const keep = dialog.getByRole("switch", { name: "Keep what was learned" });
	const ask = async () => {
		await id("chat-menu").focus();
		await page.keyboard.press("Enter");
		await page.getByRole("menu").waitFor();
		await hasFocus(page.getByRole("menuitem").first());
		await page.keyboard.press("End");
		await hasFocus(page.getByRole("menuitem", { name: "Delete chat" }));
		await page.keyboard.press("Enter");
		await dialog.getByText("2 memories learned from it").waitFor();
		await hasFocus(keep);
		assert.ok(!(await keep.isChecked()), "who says nothing deletes all of it");
	};
	const remove = async () => {
		await page.keyboard.press("Tab");
		await page.keyboard.press("Tab");
		await page.keyboard.press("Enter");
		await id("toast").getByText("The chat “Mira” was deleted").waitFor();
		await hasFocus(id("chat-row").first());
		await id("chat-row").filter({ hasText: "A first evening" }).click();
		await id("memory").click();
		await row("m5").waitFor();
	};
	await show("chat");
	await ask();
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	await hasFocus(id("chat-menu"));
	await ask();
	await page.keyboard.press("Space");
	await eventually(async () => assert.ok(await keep.isChecked()));
	await remove();
	await row("m1").waitFor();
	await id("undo").click();
	await page.waitForFunction(() => window.app.chat?.id === "chat0" && window.app.chat.info);
	await ask();
	await remove();
	await eventually(async () => assert.equal(await row("m1").count(), 0));
	await id("undo").click();
	await row("m1").waitFor();
});

test("character has a memory page", async () => {
	await show("editormemory");
	await id("character-memory").getByTestId("choice-timeline").click();
	await id("character-memory").locator("h3").first().waitFor();
	await page.locator("[data-keyframe=k1]").waitFor();
	await row("m5").focus();
	await page.keyboard.press("Delete");
	await row("m5").waitFor({ state: "detached" });
	await id("undo").click();
	await row("m5").waitFor();
});

test("lore block leads to its entry in the card", async () => {
	await show("xray");
	await id("xray-panel").getByTestId("search").fill("miller's boy");
	await page.locator("[data-row]").first().click();
	await id("jump-to").click();
	await page.waitForFunction(() => document.activeElement?.dataset.entry === "e4");
	await eventually(async () => assert.equal(await page.locator("[data-entry=e4]").getAttribute("aria-current"), "true"));
	await eventually(async () => assert.match(await page.locator("[data-entry=e4]").innerText(), /^The mill\s+Keywords:\s+mill\s+miller\s+and\s+tower\s+night\s+The mill has stood dark/));
	await eventually(async () => assert.deepEqual(await axe(page), []));
});

test("card without a lorebook has no lorebook tab", async () => {
	await show("editor");
	await id("editor-lore").waitFor();
	await page.evaluate(() => window.app.edit("c2"));
	await page.waitForFunction(() => document.querySelector("[data-testid=field-name]")?.value === "Captain Osei");
	await eventually(async () => assert.equal(await id("editor-lore").count(), 0));
});

test("no script error", () => assert.deepEqual(errors, []));
