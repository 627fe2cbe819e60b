// The main path, in a real Chromium against the real engine and its small model.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { axe } from "./axe.mjs";
import { launch, WAIT_MS } from "./browser.mjs";
import { cardPng } from "./card.mjs";
import { serve } from "./engine.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { slowEndpoint } from "./slow.mjs";

const LONG = 120_000;

let engine;
let context;
let page;
const foreign = [];
const errors = [];

before(async () => {
	engine = await serve();
	context = await launch({ locale: "en-US", reducedMotion: "reduce" });
	// The desktop window freezes prototypes too. Code that writes to them must fail here already.
	await context.addInitScript(() => Object.freeze(Object.prototype));
	page = await context.newPage();
	const own = new URL(engine.url).host;
	page.on("request", (request) => {
		const { protocol, host } = new URL(request.url());
		if (protocol !== "blob:" && protocol !== "data:" && host !== own) foreign.push(request.url());
	});
	page.on("pageerror", (error) => errors.push(error.message));
	page.on("console", (message) => message.type() === "error" && /Content Security|Refused/.test(message.text()) && errors.push(message.text()));
	page.setDefaultTimeout(WAIT_MS);
	await page.goto(engine.url);
});

after(async () => {
	await context?.close();
	await engine?.stop();
});

const id = (name) => page.getByTestId(name);
const messages = () => page.locator("[data-testid=message]");
const last = () => messages().last();
const lastText = () => last().getByTestId("message-text").innerText();

/** Waits until no reply is being written, and reports the error of a failed reply. */
async function done() {
	await id("stop").waitFor({ state: "detached", timeout: LONG });
	const [failure] = await id("error").allInnerTexts();
	assert.equal(failure, undefined);
}

/** Waits until the last reply has some text; false if it ended before. */
const writing = () =>
	page
		.waitForFunction(
			() => {
				const reply = [...document.querySelectorAll("[data-testid=message]")].at(-1);
				const text = reply?.querySelector(".prose")?.textContent ?? "";
				if (!document.querySelector("[data-testid=stop]")) return "ended";
				return reply?.dataset.role === "character" && text.length > 20 && "writing";
			},
			null,
			{ timeout: LONG },
		)
		.then(async (seen) => (await seen.jsonValue()) === "writing");

/** Id of the last message. The page cannot tell how many there are, because the list renders only the visible ones. */
const lastId = () => last().getAttribute("data-message-id");

/** Sends a message and waits until a reply has started. */
async function say(text) {
	const before = await lastId();
	await id("composer").fill(text);
	await id("composer").press("Enter");
	await page.waitForFunction(
		(old) => {
			const end = [...document.querySelectorAll("[data-testid=message]")].at(-1);
			return end?.dataset.role === "character" && end.dataset.messageId !== old;
		},
		before,
		{ timeout: LONG },
	);
}

/** Requests another reply and waits until it has started. */
async function again() {
	const count = await last().getByTestId("swipe-count").allInnerTexts();
	await last().getByTestId("regenerate").click();
	await page.waitForFunction(
		(old) => {
			const end = [...document.querySelectorAll("[data-testid=message]")].at(-1);
			const now = end?.querySelector("[data-testid=swipe-count]")?.textContent;
			return now !== undefined && now !== old;
		},
		count[0] ?? null,
		{ timeout: LONG },
	);
}

test("first start shows picture, greeting and composer", async () => {
	await last().waitFor();
	await eventually(async () => assert.equal(await last().getAttribute("data-role"), "character"));
	await eventually(async () => assert.ok((await lastText()).length > 40));
	await page.locator(".opening img.shown").waitFor();
	await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-testid")), "composer"));
	await eventually(async () => assert.match(await id("answering").innerText(), /runs on this computer\. Nothing you write leaves it\./));
});

test("token is removed from the address", async () => {
	assert.ok(!page.url().includes("token"));
});

test("greetings are swipes", async () => {
	await eventually(async () => assert.match(await id("swipe-count").innerText(), /^1 \/ \d$/));
	const first = await lastText();
	await id("swipe-next").click();
	await page.waitForFunction(() => document.querySelector("[data-testid=swipe-count]")?.textContent?.startsWith("2"));
	await eventually(async () => assert.notEqual(await lastText(), first));
	await last().focus();
	await page.keyboard.press("ArrowLeft");
	await page.waitForFunction(() => document.querySelector("[data-testid=swipe-count]")?.textContent?.startsWith("1"));
	await eventually(async () => assert.equal(await lastText(), first));
});

test("Enter sends, the reply streams and shows figures", async () => {
	await say("Good evening. What is that lamp?");
	const [own, reply] = await messages().evaluateAll((all) => all.slice(-2).map((one) => one.dataset.role));
	assert.deepEqual([own, reply], ["user", "character"]);
	await done();
	await eventually(async () => assert.equal(await last().getAttribute("data-state"), "finished"));
	await eventually(async () => assert.match(await last().getByTestId("figures").innerText(), /^[\d,]+ tokens · \d+% from cache · [\d.]+ s$/));
});

test("figures open the X-ray of their reply", async () => {
	await last().getByTestId("figures").click();
	await id("xray-panel").locator("li button").first().waitFor();
	await eventually(async () => assert.match(await id("xray-panel").innerText(), /of [\d,]+ tokens/));
	await page.keyboard.press("Escape");
	await id("xray-panel").waitFor({ state: "detached" });
});

test("second turn uses the prompt cache", async () => {
	await say("And who lives up here?");
	await done();
	const [, percent] = (await last().getByTestId("figures").innerText()).match(/(\d+)% from cache/);
	assert.ok(Number(percent) > 50, `${percent} % reused`);
});

test("regenerated reply is a swipe, the first one stays", async () => {
	const first = await lastText();
	await again();
	await done();
	await eventually(async () => assert.equal(await last().getByTestId("swipe-count").innerText(), "2 / 2"));
	await last().getByTestId("swipe-prev").click();
	await page.waitForFunction(() => [...document.querySelectorAll("[data-testid=swipe-count]")].at(-1)?.textContent === "1 / 2");
	await eventually(async () => assert.equal(await lastText(), first));
});

/** Calls the engine as the page does. */
const ask = (operation, args = {}) =>
	page.evaluate(
		async ([operation, args]) => {
			const headers = { "Content-Type": "application/json", Authorization: `Bearer ${sessionStorage.getItem("inglenook.token")}` };
			const answer = await fetch(`/api/op/${operation}`, { method: "POST", body: JSON.stringify(args), headers });
			const text = await answer.text();
			if (!answer.ok) throw new Error(text);
			return text === "" ? null : JSON.parse(text);
		},
		[operation, args],
	);

/** Runs `talk` while the model of the only chat answers slowly. */
async function withSlowReplies(talk) {
	const slow = await slowEndpoint();
	const [chat] = await ask("list_chats");
	const { id } = await ask("save_endpoint", { draft: { id: null, name: "Slow", url: slow.url, model: "slow", context: 8192, key: null } });
	await ask("set_chat_model", { id: chat.id, model: { kind: "remote", id } });
	try {
		await talk();
	} finally {
		await ask("set_chat_model", { id: chat.id, model: null });
		await ask("delete_endpoint", { id });
		slow.stop();
	}
}

test("stopped reply keeps its text", () =>
	withSlowReplies(async () => {
		await say("Tell me a long story about the hill, the town and every lamp in it.");
		assert.ok(await writing());
		await page.keyboard.press("Escape");
		await done();
		await eventually(async () => assert.ok((await lastText()).length > 20));
		await eventually(async () => assert.equal(await last().getAttribute("data-state"), "stopped"));
		await last().getByTestId("interrupted").waitFor();
	}));

test("reload joins the running reply", () =>
	withSlowReplies(async () => {
		await say("Go on, and take your time: tell me everything about the town.");
		assert.ok(await writing());
		const before = await lastText();
		await page.reload();
		await last().waitFor();
		await page.waitForFunction((seen) => {
			const text = [...document.querySelectorAll("[data-testid=message-text]")].at(-1)?.textContent ?? "";
			return text.length >= seen;
		}, before.trim().length + 10);
		const joined = await lastText();
		assert.ok(joined.startsWith(before.trim().slice(0, 15)), `${joined} continues ${before}`);
		await id("stop").click();
		await done();
	}));

test("Up edits the last message in place", async () => {
	await id("composer").focus();
	await page.keyboard.press("ArrowUp");
	await id("edit-text").fill("Tell me about *the mill*.");
	await page.keyboard.press("Control+Enter");
	await id("edit-text").waitFor({ state: "detached" });
	const own = page.locator("[data-testid=message][data-role=user]").last();
	await own.locator("em", { hasText: "the mill" }).waitFor();
});

test("undo restores a deleted message", async () => {
	const text = await lastText();
	const deleted = page.locator(`[data-message-id="${await last().getAttribute("data-message-id")}"]`);
	await last().getByTestId("delete").click();
	await deleted.waitFor({ state: "detached" });
	await id("undo").click();
	await deleted.waitFor();
	await eventually(async () => assert.equal(await lastText(), text));
});

test("draft survives a reload", async () => {
	await id("composer").fill("Half a thought");
	await page.waitForResponse((response) => response.url().endsWith("/api/op/keep_draft"));
	await page.reload();
	await last().waitFor();
	await page.waitForFunction(() => document.querySelector("[data-testid=composer]")?.value === "Half a thought");
	await id("composer").fill("");
});

test("imported card shows its greeting", async () => {
	await id("nav-people").click();
	const cards = await settledCount(id("library-card"));
	const chooser = page.waitForEvent("filechooser");
	await id("import").click();
	await (await chooser).setFiles({ name: "Quillabee.png", mimeType: "image/png", buffer: cardPng("Quillabee", "*A bee lands.* “Hold still, {{user}}.”") });
	await page.waitForFunction((before) => document.querySelectorAll("[data-testid=library-card]").length === before + 1, cards);
	// Imports in quick succession share one toast, and the next test reads the toast of its own import.
	await id("toast").filter({ hasText: "Imported Quillabee" }).waitFor();
	await id("library-card").filter({ hasText: "Quillabee" }).locator(".card").click();
	await page.locator("[data-testid=message] q", { hasText: "Hold still" }).waitFor();
	await eventually(async () => assert.equal(await messages().count(), 1));
});

test("picture without a card is rejected with a reason", async () => {
	await id("nav-people").click();
	const chooser = page.waitForEvent("filechooser");
	await id("import").click();
	await (await chooser).setFiles({ name: "holiday.png", mimeType: "image/png", buffer: Buffer.from("not a picture") });
	await id("toast").filter({ hasText: "holiday.png was not imported" }).waitFor();
});

test("new character is written, saved and exported", async () => {
	await id("new-character").click();
	await id("field-name").fill("Juniper");
	await id("field-description").fill("A hedge witch's apprentice.");
	await page.getByRole("tab", { name: "Scene" }).click();
	await id("field-firstMessage").fill("“Careful, that one bites.”");
	await id("save").click();
	const exportJson = async () => {
		await id("export-card").click();
		await page.getByRole("menuitem", { name: "Export as JSON (V3)" }).click();
	};
	const download = page.waitForEvent("download");
	await exportJson();
	const card = JSON.parse(await readFile(await (await download).path(), "utf8"));
	assert.equal(card.spec, "chara_card_v3");
	assert.equal(card.data.first_mes, "“Careful, that one bites.”");
	await id("editor-files").click();
	await id("file-input").setInputFiles({ name: "joy.png", mimeType: "image/png", buffer: cardPng("Nobody", "") });
	// Pictures load once they are visible.
	const file = id("card-file").filter({ hasText: "joy" });
	await file.scrollIntoViewIfNeeded();
	await file.locator("img").waitFor();
	const again = page.waitForEvent("download");
	await exportJson();
	const { assets } = JSON.parse(await readFile(await (await again).path(), "utf8")).data;
	assert.deepEqual(assets.map(({ type, name }) => `${type} ${name}`), ["icon main", "emotion joy"]);
	assert.match(assets[1].uri, /^data:image\/png;base64,/);
	await page.keyboard.press("Escape");
	await id("library-card").filter({ hasText: "Juniper" }).waitFor();
});

test("characters are searched, tagged, exported, deleted", async () => {
	const card = (name) => id("library-card").filter({ hasText: name });
	const pick = (name) => card(name).locator("[data-card]").click({ modifiers: ["Control"] });
	await id("search").fill("calm quilla");
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=library-card]").length === 1);
	await card("Quillabee").hover();
	await card("Quillabee").getByTestId("card-star").click();
	await id("search").fill("");
	await id("only-favourites").click();
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=library-card]").length === 1);
	await id("clear-filters").click();

	await pick("Quillabee");
	await pick("Juniper");
	await id("bulk-tags").click();
	await page.getByRole("dialog").getByTestId("field-tags").fill("garden");
	await id("bulk-apply").click();
	await page.waitForFunction(() => [...document.querySelectorAll("[data-testid=library-card] .tags")].filter((one) => one.textContent.includes("garden")).length === 2);
	await id("bulk-export").click();
	const download = page.waitForEvent("download");
	await page.getByRole("menuitem", { name: "Export as JSON (V3)" }).click();
	const archive = await readFile(await (await download).path(), "latin1");
	assert.match(archive, /^PK\x03\x04.*Quillabee\.json.*Juniper\.json.*PK\x05\x06/s);

	await id("bulk-delete").click();
	await card("Quillabee").waitFor({ state: "detached" });
	await id("toast").filter({ hasText: "2 characters were deleted" }).getByTestId("undo").click();
	await card("Quillabee").waitFor();
	await card("Juniper").waitFor();
});

test("exported chat is imported for another character", async () => {
	const menu = async (name) => {
		await id("library-card").filter({ hasText: name }).hover();
		await id("library-card").filter({ hasText: name }).getByTestId("card-menu").click();
	};
	await id("library-card").filter({ hasText: "Quillabee" }).locator(".card").click();
	await page.locator("[data-testid=message] q", { hasText: "Hold still" }).waitFor();
	await id("chat-menu").click();
	const download = page.waitForEvent("download");
	await id("export-jsonl").click();
	const chat = await readFile(await (await download).path());
	await id("nav-people").click();
	await menu("Juniper");
	const chooser = page.waitForEvent("filechooser");
	await id("import-chats").click();
	await (await chooser).setFiles({ name: "The bees.jsonl", mimeType: "application/jsonl", buffer: chat });
	await id("toast").filter({ hasText: "Imported The bees" }).getByTestId("toast-action").click();
	await page.locator("[data-testid=message] q", { hasText: "Hold still" }).waitFor();
	await page.locator("header .who", { hasText: "Juniper" }).waitFor();
});

test("engine stores the theme", async () => {
	await id("nav-settings").click();
	const light = page.waitForResponse((response) => response.url().endsWith("/api/op/update_settings"));
	await id("choice-light").click();
	await light;
	await page.evaluate(() => localStorage.clear());
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
});

test("language can be changed", async () => {
	await id("nav-settings").click();
	await id("choice-de").click();
	await page.getByRole("button", { name: "Modelle" }).waitFor();
	await id("choice-en").click();
	await page.getByRole("button", { name: "Models" }).waitFor();
});

test("unreachable endpoint is diagnosed", async () => {
	const port = await freePort();
	await id("nav-models").click();
	await id("model").first().waitFor();
	await id("add-endpoint").click();
	await id("endpoint-url").fill(`http://127.0.0.1:${port}/v1`);
	await id("endpoint-test").click();
	const text = await id("error").innerText();
	assert.match(text, /No server at this address/);
	await page.keyboard.press("Escape");
	await id("endpoint-form").waitFor({ state: "detached" });
});

test("Ctrl+Shift+K searches", async () => {
	// Search also covers titles and last lines, so this is a name that no model writes by chance.
	await id("nav-chats").click();
	await page.keyboard.press("Control+Shift+K");
	await page.keyboard.type("Quillabee");
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=chat-row]").length === 1);
	await page.keyboard.press("Escape");
});

test("X-ray follows the composer and tries changes", async () => {
	await id("nav-chats").click();
	await id("chat-row").last().click();
	await last().waitFor();
	const before = await lastId();
	await id("xray").click();
	await id("composer").fill("Who lit the brass heron?");
	await id("xray-panel").getByTestId("search").fill("brass heron");
	await page.locator("[data-row]").first().waitFor();
	await page.locator("[data-row]").first().click();
	await id("xray-list").getByText("Who lit the brass heron?").waitFor();
	await id("xray-whatIf").click();
	await id("trial").getByRole("checkbox").nth(1).waitFor();
	await id("trial").getByRole("checkbox").nth(1).click();
	await id("trial-result").getByText(/blocks? dropped/).waitFor();
	await eventually(async () => assert.match(await id("trial-result").innerText(), /^−[\d,]+ tokens: /));
	await id("composer").fill("");
	await eventually(async () => assert.equal(await lastId(), before));
});

test("card block leads to its field", async () => {
	await id("xray-blocks").click();
	await id("xray-panel").getByTestId("search").fill("");
	await id("kind-description").click();
	await page.locator("[data-row]").first().click();
	await id("jump-to").click();
	await page.waitForFunction(() => document.activeElement?.dataset.testid === "field-description");
});

test("past turns, raw prompt and diff use stored data", async () => {
	await id("nav-chats").click();
	await id("chat-row").last().click();
	await page.locator("[data-testid=figures]").last().click();
	await id("xray-raw").click();
	await page.locator(".raw .control", { hasText: "<|im_start|>" }).first().waitFor();
	await id("xray-turns").click();
	const turns = page.locator("[data-turn]");
	// A turn before the edited message, because stored prompts that quote an edited message lose their text.
	await turns.nth(3).click();
	await id("xray-diff").click();
	await id("xray-difference").locator(".added").first().waitFor();
	await eventually(async () => assert.deepEqual(await axe(page), []));
	await id("xray-back").click();
	await page.keyboard.press("Escape");
	await id("xray-panel").waitFor({ state: "detached" });
});

test("/mode changes the mode and the next prompt", async () => {
	const before = await lastId();
	await id("composer").fill("/mode study");
	await id("composer").press("Enter");
	await page.waitForFunction(() => /study/i.test(document.querySelector("[data-testid=mode-chip]").textContent));
	await eventually(async () => assert.equal(await lastId(), before));
	await id("xray").click();
	await id("kind-mode").waitFor();
	await page.keyboard.press("Escape");
	await id("composer").fill("/mode pirate");
	await id("composer").press("Enter");
	await eventually(async () => assert.match(await id("command-failure").innerText(), /“pirate”.*\/mode/));
	await id("composer").fill("");
});

test("new scene keeps a pinned message in the chat", async () => {
	// The last message, because the list renders only visible ones and a new scene scrolls to the end.
	const pinned = await last().getAttribute("data-message-id");
	await last().getByTestId("message-menu").click();
	await id("pin").click();
	await last().locator(".pinned").waitFor();
	await id("chat-menu").click();
	await id("new-scene").click();
	const begun = page.waitForResponse((response) => response.url().endsWith("/api/op/new_scene"));
	await page.getByRole("button", { name: "Start new scene" }).click();
	await eventually(async () => assert.ok((await begun).ok()));
	await page.locator(`[data-message-id="${pinned}"] .pinned`).waitFor();
});

test("memory block leads to its memory and its sources", async () => {
	await say("Remember that my sister Wilhelmina sails the ferry.");
	await done();
	await id("chat-menu").click();
	await id("new-chat-with").click();
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=message]").length === 1);
	await id("xray").click();
	await id("composer").fill("Who sails the ferry?");
	await id("xray-panel").getByTestId("search").fill("Wilhelmina");
	await page.locator("[data-row]").first().click();
	await id("jump-to").first().click();
	await page.waitForFunction(() => document.activeElement?.dataset.memory);
	await eventually(async () => assert.deepEqual(await axe(page), []));
	await id("receipt").first().click();
	await page.locator("[data-testid=message]:focus", { hasText: "Wilhelmina" }).waitFor();
	await id("memory-forget").first().click();
	await id("memory-panel").getByText("No memories yet").waitFor();
	await id("toast").filter({ hasText: "Forgotten" }).getByTestId("undo").click();
	await id("memory-panel").locator("[data-memory]").waitFor();
	await page.keyboard.press("Escape");
	await id("memory-panel").waitFor({ state: "detached" });
});

test("next prompt is compared with the last sent one", async () => {
	await id("xray").click();
	await id("composer").fill("Who lit the brass heron?");
	await id("xray-diff").click();
	// Only visible lines are rendered, and a long reply precedes these.
	await id("xray-difference").waitFor();
	await page.waitForFunction(() => {
		const lines = document.querySelector("[data-testid=xray-difference]");
		if (!lines) return false;
		lines.scrollTop = lines.scrollHeight;
		return [...lines.querySelectorAll(".added")].some((line) => line.textContent.includes("Who lit the brass heron?"));
	});
	await id("xray-blocks").click();
	await id("composer").fill("");
	await page.keyboard.press("Escape");
});

test("template is changed, checked, saved and reset", async () => {
	await id("nav-prompts").click();
	await id("template").filter({ hasText: "SMS" }).click();
	await id("preview").getByRole("button", { name: "identity" }).waitFor();
	await id("choice-json").click();
	const change = (from, to) =>
		id("code").evaluate(
			(node, [before, after]) => {
				node.value = node.value.replace(before, after);
				node.dispatchEvent(new Event("input", { bubbles: true }));
			},
			[from, to],
		);
	await change("texting ${", "texting ${nobody.");
	await id("problems").locator("li").first().waitFor();
	await change("texting ${nobody.", "quietly texting ${");
	await id("whole-prompt").getByText("quietly texting").waitFor();
	await id("save-template").click();
	await id("template").filter({ hasText: "SMS" }).getByText("changed").waitFor();
	await id("template-menu").click();
	await id("reset-template").click();
	await id("preview").getByText("quietly texting").waitFor({ state: "detached" });
	await id("choice-variables").click();
	await id("variables").getByText("${character.name}", { exact: true }).waitFor();
});

test("own mode and regex script are stored", async () => {
	await id("prompts-modes").click();
	await id("new-mode").click();
	await id("mode-name").fill("storm");
	await id("mode-text").fill("Everything ${persona.name} owns is wet.");
	await id("save-mode").click();
	await id("mode").filter({ hasText: "storm" }).waitFor();
	await id("prompts-scripts").click();
	await id("new-script").click();
	await id("script-name").fill("No dashes");
	await id("script-find").fill("/(unclosed/g");
	await id("save-script").click();
	await id("error").waitFor();
	await id("script-find").fill("/—/g");
	await id("script-replace").fill(", ");
	await id("save-script").click();
	await id("script").filter({ hasText: "No dashes" }).waitFor();
	await eventually(async () => assert.deepEqual(await axe(page), []));
});

for (const screen of ["chats", "people", "prompts", "models", "settings"]) {
	for (const theme of ["light", "dark"]) {
		test(`axe finds nothing on ${screen} in ${theme}`, async () => {
			await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
			await id(`nav-${screen}`).click();
			if (screen === "chats") await id("chat-row").first().click();
			await page.waitForLoadState("networkidle");
			await eventually(async () => assert.deepEqual(await axe(page), []));
		});
	}
}

const OVERLAYS = {
	editor: async () => {
		await id("nav-people").click();
		await page.getByRole("button", { name: "More actions for Juniper" }).click();
		await id("edit-character").click();
		await id("field-name").waitFor();
	},
	"the endpoint form": async () => {
		await id("nav-models").click();
		await id("add-endpoint").click();
		await id("endpoint-form").waitFor();
	},
	"the X-ray": async () => {
		await id("nav-chats").click();
		await id("chat-row").last().click();
		await id("xray").click();
		await id("xray-panel").locator("li button").first().click();
	},
	"a menu": async () => {
		await id("chat-menu").click();
		await page.getByRole("menu").waitFor();
	},
	"the settings of prompts": async () => {
		await id("nav-settings").click();
		await id("settings-writing").click();
		await page.getByRole("slider").first().waitFor();
	},
	"the settings of a chat": async () => {
		await id("nav-chats").click();
		await id("chat-row").last().click();
		await id("chat-settings-open").click();
		await id("setting-row-template").waitFor();
	},
};

for (const [name, open] of Object.entries(OVERLAYS)) {
	test(`axe finds nothing on ${name}`, async () => {
		await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
		await open();
		const found = await axe(page);
		await page.keyboard.press("Escape");
		assert.deepEqual(found, []);
	});
}

test("dropped files are imported", async () => {
	const card = [...cardPng("Otis", "“Hm.”")];
	const files = await page.evaluateHandle((bytes) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([new Uint8Array(bytes)], "otis.png", { type: "image/png" }));
		return transfer;
	}, card);
	await page.dispatchEvent("body", "dragenter", { dataTransfer: files });
	await id("drop-target").waitFor();
	await page.dispatchEvent("body", "drop", { dataTransfer: files });
	await id("drop-target").waitFor({ state: "detached" });
	await id("toast").filter({ hasText: "Imported Otis" }).waitFor();
});

test("nothing is cut off at 320 pixels", async () => {
	await id("nav-chats").click();
	await page.setViewportSize({ width: 320, height: 640 });
	for (const screen of ["people", "prompts", "models", "settings", "chats"]) {
		await id(`nav-${screen}`).click();
		const cut = await page.evaluate(() =>
			[...document.querySelectorAll("button, input, textarea, h1, h2, [role=radio]")]
				.filter((one) => one.checkVisibility({ opacityProperty: true }) && !one.closest(".hidden, .tabs"))
				.filter((one) => one.getBoundingClientRect().right > 320 || one.getBoundingClientRect().left < 0)
				.map((one) => one.outerHTML.slice(0, 120)),
		);
		assert.deepEqual(cut, [], screen);
	}
	await id("chat-row").first().click();
	await id("composer").waitFor();
	await eventually(async () => assert.ok(await id("send").isVisible()));
});

test("no request to another host and no script error", () => {
	assert.deepEqual(foreign, []);
	assert.deepEqual(errors, []);
});

function freePort() {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const { port } = server.address();
			server.close(() => resolve(port));
		});
	});
}
