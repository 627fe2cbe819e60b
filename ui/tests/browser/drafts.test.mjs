// Typed text survives every way of leaving, in a real Chromium against the real engine.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe } from "./axe.mjs";
import { launch, WAIT_MS } from "./browser.mjs";
import { serve } from "./engine.mjs";
import { eventually } from "./eventually.mjs";

let data;
let engine;
let context;
let page;
const errors = [];

async function newPage() {
	page = await context.newPage();
	page.setDefaultTimeout(WAIT_MS);
	page.on("pageerror", (error) => errors.push(error.message));
	await page.goto(engine.url);
	await message().waitFor();
}

before(async () => {
	data = await mkdtemp(join(tmpdir(), "inglenook-drafts-"));
	engine = await serve({ data });
	context = await launch({ locale: "en-US", reducedMotion: "reduce" });
	await newPage();
});

after(async () => {
	await context?.close();
	await engine?.stop();
	await rm(data, { recursive: true, force: true });
});

const id = (name) => page.getByTestId(name);
const message = () => page.locator("[data-testid=message]").first();
const value = (name) => id(name).inputValue();
const shows = (name, text) => eventually(async () => assert.equal(await value(name), text));
/** Longer than the pause after which a draft is saved, for what nobody can save at the end. */
const pause = () => page.waitForTimeout(600);

/** Opens the edit of the first message, unless its draft opens it first. */
async function openEdit() {
	await eventually(async () => {
		if ((await id("edit-text").count()) > 0) return;
		await message().hover({ timeout: 1_000 });
		await message().getByTestId("edit").click({ timeout: 1_000 });
		assert.ok((await id("edit-text").count()) > 0);
	});
}

async function openCard() {
	await id("card-menu").first().click();
	await id("edit-character").click();
	await id("field-description").waitFor();
}

async function restart(end) {
	await end();
	engine = await serve({ data });
	await page.close();
	await newPage();
}

/** Ways to leave the chat at once, and to come back. */
const WAYS = {
	"a reload": () => page.reload(),
	"a closed tab": async () => {
		await page.close({ runBeforeUnload: true });
		await newPage();
	},
	"another page": async () => {
		await page.goto("about:blank");
		await page.goto(engine.url);
	},
	"another screen": async () => {
		await id("nav-people").click();
		await id("nav-chats").click();
	},
	"another chat": async () => {
		await page.evaluate(async () => {
			const headers = { "Content-Type": "application/json", Authorization: `Bearer ${sessionStorage.getItem("inglenook.token")}` };
			const call = (operation, args) => fetch(`/api/op/${operation}`, { method: "POST", body: JSON.stringify(args), headers }).then((answer) => answer.json());
			const [chat] = await call("list_chats", {});
			await call("new_chat", { character: chat.character });
		});
		// The new chat is the first of the list.
		await eventually(async () => assert.equal(await id("chat-row").count(), 2));
		await id("chat-row").first().click();
		await shows("composer", "");
		await id("chat-row").last().click();
	},
	"a killed engine": async () => {
		await pause();
		await restart(engine.kill);
	},
	"an engine that ends": async () => {
		await pause();
		await restart(engine.stop);
	},
};

for (const [way, leave] of Object.entries(WAYS)) {
	test(`composer and edit survive ${way}`, async () => {
		const [typed, edited] = [`Typed before ${way}`, `Edited before ${way}`];
		await openEdit();
		await id("edit-text").fill(edited);
		await id("composer").fill(typed);
		await leave();
		await message().waitFor();
		await shows("composer", typed);
		await openEdit();
		await shows("edit-text", edited);
	});
}

test("Escape keeps the words of an edit, and Undo shows them", async () => {
	await openEdit();
	await id("edit-text").fill("Before Escape");
	await page.keyboard.press("Escape");
	await id("edit-text").waitFor({ state: "detached" });
	await page.getByText("Edit closed. Your text is kept.").waitFor();
	await id("undo").last().click();
	await shows("edit-text", "Before Escape");
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await openEdit();
	await shows("edit-text", "Before Escape");
	await id("draft-use").click();
	await eventually(async () => assert.notEqual(await value("edit-text"), "Before Escape"));
	await page.keyboard.press("Escape");
});

test("card survives a reload and a kill", async () => {
	await id("nav-people").click();
	await openCard();
	for (const leave of [WAYS["a reload"], WAYS["a killed engine"]]) {
		const text = `A description ${Date.now()}`;
		await id("field-description").fill(text);
		await leave();
		await id("nav-people").click();
		await openCard();
		await shows("field-description", text);
		assert.equal(await id("draft-notice").getAttribute("data-kind"), "restored");
	}
	await id("draft-use").click();
	await id("draft-notice").waitFor({ state: "detached" });
});

test("two tabs keep both texts of one composer", async () => {
	await id("nav-chats").click();
	await id("composer").fill("");
	await pause();
	const first = page;
	await newPage();
	const second = page;
	await first.getByTestId("composer").fill("From the first tab");
	await first.waitForTimeout(600);
	await second.getByTestId("composer").fill("From the second tab");
	await second.getByTestId("other-draft").getByText("From the first tab").waitFor();
	await second.getByTestId("other-draft-use").click();
	await shows("composer", "From the first tab");
	await id("other-draft").getByText("From the second tab").waitFor();
	await id("other-draft-discard").click();
	await id("other-draft").waitFor({ state: "detached" });
	await first.close();
});

test("no page error", () => assert.deepEqual(errors, []));
