// The library on the scripted engine: search, filters, selection and changes, by pointer and by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, hasFocus } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const card = (name) => id("library-card").filter({ hasText: name });
const shows = (...wanted) => page.waitForFunction((all) => [...document.querySelectorAll("[data-testid=library-card] .name")].map((one) => one.textContent).join() === all, wanted.join());
const showsSome = (count) => page.waitForFunction((all) => document.querySelectorAll("[data-testid=library-card] .name").length === all, count);
const showsFirst = (name) => page.waitForFunction((first) => document.querySelector("[data-testid=library-card] .name")?.textContent === first, name);
const chosen = (count) => id("selection-bar").getByText(`${count} selected`, { exact: true }).waitFor();
const tag = (name) => id("library-bar").getByRole("button", { name: new RegExp(`^${name}\\b`) });

test("search covers names, tags and descriptions", async () => {
	await show("people");
	await id("search").fill("cartographer");
	await shows("Captain Osei");
	await eventually(async () => assert.equal(await id("header-note").textContent(), "1 of 6"));
	await id("search").fill("nobody of that name");
	await id("nothing").getByRole("button").click();
	await showsSome(6);
	await eventually(async () => assert.equal(await id("search").inputValue(), ""));
});

test("tags narrow or widen the library", async () => {
	await show("people");
	await tag("cozy").click();
	await shows("Mira", "Juniper");
	await tag("fantasy").click();
	await shows("Mira");
	await id("match").selectOption("any");
	await shows("Mira", "Juniper", "Basil the Unlikely");
	await id("all-tags").click();
	await page.getByRole("dialog").getByTestId("search").fill("trav");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await shows("Mira", "Juniper", "雪", "Basil the Unlikely");
	await page.keyboard.press("Escape");
	await id("clear-filters").click();
	await showsSome(6);
});

test("favourites are marked, filtered and sorted first", async () => {
	await show("people");
	const star = card("Captain Osei").getByTestId("card-star");
	await star.focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=card-star][aria-pressed=true]").length === 3);
	await id("only-favourites").click();
	await shows("Mira", "Captain Osei", "雪");
	await id("only-favourites").click();
	await id("sort").selectOption("favourites");
	await shows("Mira", "Captain Osei", "雪", "Dr. Ines Valdivieso-Montenegro", "Juniper", "Basil the Unlikely");
	await id("sort").selectOption("name");
	await showsFirst("Basil the Unlikely");
});

test("list view shows the same cards, by arrow keys too", async () => {
	await show("people");
	await id("view-list").click();
	await page.locator(".grid.list").waitFor();
	await showsSome(6);
	await card("Mira").locator("[data-card]").focus();
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.textContent), /Captain Osei/));
});

test("Ctrl, Shift and select all choose cards", async () => {
	await show("people");
	const press = (name, modifiers) => card(name).locator("[data-card]").click({ modifiers });
	await press("Captain Osei", ["Control"]);
	await chosen(1);
	await press("雪", ["Shift"]);
	await chosen(4);
	await press("Juniper", []);
	await chosen(3);
	await id("choose-all").click();
	await chosen(6);
	await page.keyboard.press("Escape");
	await id("library-bar").waitFor();
	await page.keyboard.press("Control+a");
	await chosen(6);
	await page.keyboard.press("Escape");
	await card("Mira").getByTestId("card-check").focus();
	await page.keyboard.press("Space");
	await chosen(1);
});

test("bulk tags are added and removed with undo", async () => {
	await show("chosen");
	const tags = () => card("Mira").locator(".tags").textContent();
	const before = await tags();
	await id("bulk-tags").click();
	await page.getByRole("dialog").getByTestId("field-tags").fill("evening");
	await id("bulk-known").filter({ hasText: "cozy" }).click();
	await id("bulk-apply").click();
	await id("undo").waitFor();
	await page.keyboard.press("Escape");
	await eventually(async () => assert.equal(await tags(), "fantasy · slice of life · evening"));
	await id("undo").click();
	await eventually(async () => assert.equal(await tags(), before));
});

test("bulk deletion has one undo", async () => {
	await show("chosen");
	await id("bulk-delete").click();
	await shows("Captain Osei", "Dr. Ines Valdivieso-Montenegro", "雪");
	await id("undo").click();
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=library-card]").length === 6);
	await id("library-bar").waitFor();
});

test("selected cards are exported", async () => {
	await show("chosen");
	await id("bulk-export").click();
	await id("export-png").click();
	await id("toast").getByText("3 cards exported").waitFor();
});

test("bulk import gives a reason for each skipped file", async () => {
	await show("imported");
	const report = id("import-report");
	await report.getByText("Mira is already in the library").waitFor();
	await report.getByText("The picture contains no character card.").waitFor();
	await id("imported-character").getByRole("heading", { name: "2 characters" }).waitFor();
	await id("use-presets").click();
	await id("import-choices").getByText("Used now: sampler preset My Creative.").waitFor();
	await page.keyboard.press("Escape");
	await report.waitFor({ state: "detached" });
});

test("a row of the import report opens the thing", async () => {
	await show("imported");
	await id("imported-chat").getByRole("button", { name: "The night ferry" }).click();
	await id("import-report").waitFor({ state: "detached" });
	await id("composer").waitFor();
});

test("folder import runs in the background with a report", async () => {
	await show("people");
	await id("import-more").focus();
	await page.keyboard.press("Enter");
	await hasFocus(id("import-sillytavern"));
	await page.keyboard.press("Enter");
	const bar = id("import-bar").getByRole("progressbar", { name: "Importing from SillyTavern" });
	await bar.waitFor();
	await eventually(async () => assert.equal(await bar.getAttribute("value"), null, "until the files are counted nobody knows how far it is"));
	await id("search").fill("cartographer");
	await shows("Captain Osei");
	await page.locator("[aria-live=polite]").getByText("Importing from SillyTavern").waitFor({ state: "attached" });
	await id("import-cancel").click();
	await id("import-ended").getByText("The import from SillyTavern was cancelled.").waitFor();
	await id("import-show").click();
	const report = id("import-report");
	await report.getByText("Files imported so far stay; import again to get the rest.").waitFor();
	await report.getByText("48 files skipped").waitFor();
	await id("save-report").click();
	await id("save-report-json").click();
	await id("toast").getByText("Saved").waitFor();
	await page.keyboard.press("Escape");
	await report.waitFor({ state: "detached" });
	await id("import-ended").waitFor({ state: "detached" });
});

test("import bar shows progress and blocks a second one", async () => {
	await show("folder");
	await eventually(async () => assert.equal(await id("import-count").textContent(), "1,042 of 2,574"));
	await eventually(async () => assert.equal(await id("import-stage").textContent(), "Characters"));
	await id("import-more").click();
	await eventually(async () => assert.equal(await id("import-sillytavern").getAttribute("aria-disabled"), "true", "one at a time"));
});

test("chat is exported for other apps", async () => {
	await show("chat");
	await id("chat-menu").click();
	await id("export-jsonl").click();
	await id("toast").getByText("Exported", { exact: true }).last().waitFor();
});

test("editor previews a greeting and undoes changes", async () => {
	await show("editor");
	const tab = (name) => page.getByRole("tab", { name }).click();
	await id("editor-tokens").getByText("60 tokens in every prompt").waitFor();
	await tab("Scene");
	await id("add-group-greeting").click();
	await id("group-greeting-1").fill("{{char}} nods to {{user}}.");
	await id("group-greeting-1-toggle").click();
	await id("group-greeting-1-preview").getByText("Mira nods to Wanderer.").waitFor();
	await tab("Instructions");
	await id("field-depth").fill("2");
	await id("field-depth").press("Tab");
	await id("field-role").selectOption("user");
	await tab("About the card");
	await id("sources").getByText("https://cards.example/mira").waitFor();
	await id("add-note").selectOption("fr");
	await id("note-fr").fill("Elle écoute.");
	await page.getByRole("slider", { name: /Talkativeness/ }).press("ArrowRight");
	await page.waitForFunction(() => window.app.editor.fields.talkativeness === 0.4);
	await id("editor-undo").click();
	await page.waitForFunction(() => window.app.editor.fields.talkativeness === 0.35);
	await page.keyboard.press("Control+s");
	await id("toast").getByText("Saved").waitFor();
	const kept = await page.evaluate(async () => (await window.app.api.getCharacter("c1")).fields);
	assert.deepEqual([kept.depthPrompt.depth, kept.depthPrompt.role, kept.groupOnlyGreetings.length], [2, "user", 2]);
	assert.deepEqual(kept.translatedNotes.at(-1), { language: "fr", text: "Elle écoute." });
});

test("card files are added, renamed, removed, restored", async () => {
	const outside = [];
	page.on("request", (request) => new URL(request.url()).hostname.endsWith("example") && outside.push(request.url()));
	await show("editorfiles");
	const files = () => id("card-file").locator(".name").allTextContents();
	await eventually(async () => assert.equal((await files()).length, 6));
	await page.getByText("On another server. Inglenook never downloads it.").waitFor();
	await page.getByRole("button", { name: "Edit joy" }).click();
	await id("file-name").fill("main");
	await id("file-is").fill("icon");
	await id("file-save").click();
	await page.getByRole("dialog").getByText("The card already has a main icon.").waitFor();
	await id("file-is").fill("x_pose");
	await id("file-name").fill("delight");
	await page.keyboard.press("Enter");
	await id("card-file").filter({ hasText: "delight" }).getByText("x_pose · png").waitFor();
	await page.getByRole("button", { name: "Remove delight" }).focus();
	await page.keyboard.press("Enter");
	await id("undo").click();
	await id("card-file").filter({ hasText: "delight" }).waitFor();
	await id("file-kind").selectOption("background");
	await id("file-input").setInputFiles([{ name: "sea.png", mimeType: "image/png", buffer: Buffer.from("x") }, { name: "sky.png", mimeType: "image/png", buffer: Buffer.from("x") }]);
	await id("card-file").nth(7).waitFor();
	await eventually(async () => assert.deepEqual((await files()).slice(-2), ["sea", "sky"]));
	assert.deepEqual(outside, []);
});

test("persona picture is added, shown and removed", async () => {
	await show("personas");
	const mine = () => page.locator("[data-role=user] .face img");
	await page.getByRole("button", { name: "Edit Wanderer" }).click();
	await id("persona-no-picture").click();
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await id("nav-chats").click();
	await id("message").first().waitFor();
	await eventually(async () => assert.equal(await mine().count(), 0));
	await id("nav-settings").click();
	await id("settings-personas").click();
	await page.getByRole("button", { name: "Edit Wanderer" }).click();
	await id("persona-file").setInputFiles({ name: "me.png", mimeType: "image/png", buffer: Buffer.from("x") });
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await id("nav-chats").click();
	await mine().first().waitFor({ state: "attached" });
});

test("no script error", () => assert.deepEqual(errors, []));
