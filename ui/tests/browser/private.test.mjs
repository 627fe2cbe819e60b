// Private characters of an encrypted folder, in a real Chromium against the real engine.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe } from "./axe.mjs";
import { launch, WAIT_MS } from "./browser.mjs";
import { nookProgram, serve } from "./engine.mjs";
import { eventually } from "./eventually.mjs";

let folder;
let engine;
let context;
let page;
const errors = [];

before(async () => {
	folder = await mkdtemp(join(tmpdir(), "inglenook-private-"));
	const data = join(folder, "data");
	const passphrase = join(folder, "passphrase");
	await writeFile(passphrase, "whale oil");
	const nook = (...words) => execFileSync(nookProgram(), [...words, "--data-dir", data, "--passphrase-from", passphrase, "--json"]);
	nook("list", "chats");
	nook("protect", "on", "--code-to", join(folder, "code"));
	engine = await serve({ data, variables: { INGLENOOK_PASSPHRASE_FILE: passphrase } });
	context = await launch({ locale: "en-US", reducedMotion: "reduce" });
	page = await context.newPage();
	page.setDefaultTimeout(WAIT_MS);
	page.on("pageerror", (error) => errors.push(error.message));
	await page.goto(engine.url);
	await id("chat-row").first().waitFor();
});

after(async () => {
	await context?.close();
	await engine?.stop();
	await rm(folder, { recursive: true, force: true });
});

const id = (name) => page.getByTestId(name);
const card = (name) => id("library-card").filter({ hasText: name });
const chatsOfMira = () => id("chat-row").filter({ hasText: "Mira" }).count();

/** Takes a picture for the eyes of a person, if a folder for them is named. */
const picture = async (name) => {
	const to = process.env.INGLENOOK_PICTURES;
	if (to) await page.screenshot({ path: join(to, `${name}.png`) });
};

test("character that is made private vanishes with its chats", async () => {
	assert.ok((await chatsOfMira()) > 0);
	await id("nav-people").click();
	await card("Mira").hover();
	await card("Mira").getByTestId("card-menu").click();
	await id("make-private").click();
	await card("Mira").waitFor({ state: "detached" });
	await picture("vanished");
	await id("nav-chats").click();
	await eventually(async () => assert.equal(await chatsOfMira(), 0));
});

test("nothing claims that the hidden chat is gone", async () => {
	assert.equal(await id("toast").filter({ hasText: "no longer exists" }).count(), 0);
});

test("wrong passphrase shows nothing and says so", async () => {
	await id("nav-people").click();
	await id("library-show-private").click();
	await id("private-passphrase").fill("seal oil");
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").getByTestId("error").waitFor();
	assert.deepEqual(await axe(page), []);
	await picture("wrong");
	assert.equal(await card("Mira").count(), 0);
});

test("right passphrase shows the character, and the eye hides it again", async () => {
	await id("private-passphrase").fill("whale oil");
	await id("show-private").click();
	await card("Mira").getByTestId("private-mark").waitFor();
	await picture("shown");
	await id("library-hide-private").click();
	await card("Mira").waitFor({ state: "detached" });
});

test("no script error", () => assert.deepEqual(errors, []));
