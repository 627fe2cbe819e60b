// Group chats on the scripted engine, by keyboard where a user would use it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

test("group is created by keyboard and named", async () => {
	await show("chat");
	await id("new-group").focus();
	await page.keyboard.press("Enter");
	const dialog = page.getByRole("dialog", { name: "New group" });
	await dialog.waitFor();
	assert.deepEqual(await axe(page), []);
	await id("group-name").fill("The ferry");
	assert.ok(await id("create-group").isDisabled());
	const find = dialog.getByRole("combobox", { name: "Add character" });
	for (const name of ["Mira", "Osei"]) {
		await find.fill(name);
		await find.press("Enter");
	}
	await dialog.getByRole("button", { name: "Move Captain Osei up" }).click();
	await eventually(async () => assert.deepEqual(await dialog.locator("li .name").allTextContents(), ["Captain Osei", "Mira"]));
	await id("create-group").click();
	await dialog.waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await id("composer").getAttribute("placeholder"), "Write to The ferry"));
	await page.getByRole("button", { name: /The ferry.*Captain Osei, Mira/ }).first().waitFor();
});

test("character is added in the header with a search", async () => {
	await show("group");
	await id("add-character").click();
	const dialog = page.getByRole("dialog", { name: "Add character" });
	await dialog.getByRole("combobox").fill("junip");
	await dialog.getByRole("option", { name: "Juniper" }).waitFor();
	await page.keyboard.press("Enter");
	await dialog.waitFor({ state: "detached" });
	await id("members").locator("li", { hasText: "Juniper" }).waitFor();
});

test("group shows its faces in the header and at the start", async () => {
	await show("group");
	await eventually(async () => assert.equal(await page.locator("header .who .picture").count(), 2));
	await id("log").evaluate((node) => (node.scrollTop = 0));
	await eventually(async () => {
		const heights = await id("portrait").evaluateAll((all) => all.map((one) => Math.round(one.firstElementChild.getBoundingClientRect().height)));
		assert.ok(heights.length === 3 && heights.every((height) => height > 100), String(heights));
	});
	await page.locator(".opening").getByText("Mira, Captain Osei, Dr. Ines").waitFor();
	await show("chat");
	await eventually(async () => assert.equal(await page.locator("header .who .picture").count(), 1));
});

test("menus belong to the part of the page that they open in", async () => {
	await show("group");
	await id("chat-menu").click();
	await page.locator("main [role=menu]").waitFor();
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await page.getByRole("menu").waitFor({ state: "detached" });
	await id("chats-view").click();
	await page.locator("section.list [role=menu]").waitFor();
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await eventually(async () => assert.ok(await id("chats-view").evaluate((node) => node === document.activeElement)));
});

test("member is away and is told later", async () => {
	await show("group");
	const member = id("members").locator("li", { hasText: "Captain Osei" });
	await member.getByRole("button", { name: "Captain Osei is away" }).click();
	await member.getByText("away").first().waitFor();
	await eventually(async () => assert.ok(await member.getByRole("button", { name: "Let Captain Osei speak" }).isDisabled()));
	await member.getByText("Does not know 2 messages.").waitFor();
	await member.getByRole("button", { name: "Tell Captain Osei everything" }).click();
	await member.getByText("Does not know").waitFor({ state: "detached" });
	await id("turn-order").selectOption("pooled");
	await page.getByText("in auto mode everyone speaks once").waitFor();
	assert.deepEqual(await axe(page), []);
});

test("auto mode starts and stops", async () => {
	await show("group");
	await id("group-chip").click();
	await id("auto-mode").click();
	await id("stop").waitFor();
	await eventually(async () => assert.match(await id("group-chip").textContent(), /Auto mode/));
	await id("stop").click();
	await eventually(async () => assert.doesNotMatch(await id("group-chip").textContent(), /Auto mode/));
});

test("several characters answer, and stop ends all", async () => {
	await show("group");
	await id("composer").fill("Mira and Osei, come in!");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await id("reply-turn").textContent(), "1 of 2"));
	await eventually(async () => assert.equal(await id("reply-turn").textContent(), "2 of 2"));
	await page.getByText("Next: Captain Osei").waitFor();
	await eventually(async () => assert.equal(await id("stop").count(), 0));
	assert.equal(await id("reply-turn").count(), 0);
	await id("composer").fill("And again, Mira and Osei?");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await id("reply-turn").textContent(), "1 of 2"));
	await id("stop").click();
	await eventually(async () => assert.equal(await id("stop").count(), 0));
	assert.equal(await page.getByText("Next: Captain Osei").count(), 1, "nobody follows");
});

test("several replies can be switched off", async () => {
	await show("group");
	const several = page.getByRole("switch", { name: "Several may answer one message" });
	await several.click();
	await eventually(async () => assert.equal(await several.getAttribute("aria-checked"), "false"));
	await id("turn-order").selectOption("list");
	await several.waitFor({ state: "detached" });
});

test("events of a group are in the user's language", async () => {
	await show("group", "dark", "de");
	await page.getByText("Captain Osei geht weg. Juniper kommt dazu.").waitFor();
	assert.equal(await page.getByText("goes away").count(), 0);
});

test("no errors", () => assert.deepEqual(errors, []));
