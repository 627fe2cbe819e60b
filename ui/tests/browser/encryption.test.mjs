// The lock page, and encryption by keyboard, on the scripted engine. Its shell does not restart, but counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, axeOfColours } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
/** As in tests/mock/access.ts. */
const PASSPHRASE = "kettle harbour lantern moss";
const calls = () => page.evaluate(() => window.engine.calls);
const focused = () => page.evaluate(() => document.activeElement?.dataset.testid ?? document.activeElement?.textContent);

/** Opens the lock page of an encrypted folder. */
async function locked(theme = "dark") {
	await show("chat", theme, "en", "locked");
	await id("lock-page").waitFor();
}

/** Shows the settings of an encrypted folder. */
async function encrypted() {
	await show("encrypted");
	await id("encryption-on").waitFor();
}

test("locked page shows nothing of the app", async () => {
	await locked();
	assert.equal(await page.title(), "Inglenook");
	assert.equal(await page.locator("nav, [data-testid=composer], [data-testid=message]").count(), 0);
	// The page has an element of this name.
	assert.ok(await page.evaluate(() => window.app instanceof Element));
	await eventually(async () => assert.equal(await focused(), "lock-passphrase"));
	assert.ok(await id("lock-submit").isDisabled());
	assert.deepEqual(await axe(page), []);
	await locked("light");
	assert.deepEqual(await axeOfColours(page), []);
});

test("wrong passphrase is selected, the right one opens the app", async () => {
	await locked();
	await id("lock-passphrase").fill("kettle");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.match(await id("lock-error").innerText(), /still locked[^]*not the right one/));
	await eventually(async () => assert.deepEqual(await id("lock-passphrase").evaluate((field) => [document.activeElement === field, field.selectionStart, field.selectionEnd]), [true, 0, 6]));
	assert.deepEqual(await axe(page), []);
	await page.keyboard.type(PASSPHRASE);
	await page.keyboard.press("Enter");
	await id("lock-page").waitFor({ state: "detached" });
	await id("composer").waitFor();
});

test("passphrase can be shown while it is typed", async () => {
	await locked();
	const field = id("lock-passphrase");
	await field.fill("kettle");
	assert.equal(await field.getAttribute("type"), "password");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Space");
	assert.equal(await field.getAttribute("type"), "text");
	assert.equal(await id("secret-show").getAttribute("aria-pressed"), "true");
});

test("recovery code opens the app too", async () => {
	await locked();
	await id("lock-use-code").press("Enter");
	await eventually(async () => assert.equal(await focused(), "lock-code"));
	assert.deepEqual(await axe(page), []);
	await id("lock-code").fill("cnk6c et399 d9npr rvbee dxr7s 2wkkx ehtqc cxvrk f5x7t pz3xr fszrg 10c2d ge20q");
	await page.keyboard.press("Enter");
	await id("lock-page").waitFor({ state: "detached" });
	await id("composer").waitFor();
});

test("five wrong tries have to wait", async () => {
	await locked();
	for (let count = 1; count <= 5; count++) {
		await id("lock-passphrase").fill(`kettle ${count}`);
		await page.keyboard.press("Enter");
		await page.waitForFunction((tries) => document.querySelector("[data-testid=lock-passphrase]").disabled === (tries === 5) && document.querySelector("[data-testid=lock-error]").textContent !== "", count);
	}
	assert.match(await id("lock-wait").innerText(), /Next try in \d+ sec/);
	assert.ok(await id("lock-passphrase").isDisabled());
	await page.getByText("Too many wrong tries. You can try again in 30 sec.").waitFor({ state: "attached" });
});

test("folder that is converted shows only its progress", async () => {
	await locked();
	await page.evaluate(() => window.engine.enter({ state: "converting", encrypting: true }));
	await page.getByRole("progressbar", { name: /Encrypting your data/ }).waitFor();
	assert.deepEqual(await axe(page), []);
	await page.evaluate(() => window.engine.enter({ state: "converted" }));
	await id("lock-restart").press("Enter");
	await eventually(async () => assert.equal((await calls()).restarts, 1));
});

test("narrow lock page does not scroll sideways", async () => {
	await page.setViewportSize({ width: 320, height: 640 });
	await locked();
	assert.ok(await page.evaluate(() => document.querySelector("[data-testid=lock-page]").scrollWidth <= innerWidth));
	await page.setViewportSize({ width: 1280, height: 800 });
});

test("data are encrypted by keyboard", async () => {
	await show("privacy");
	await id("encrypt-open").press("Enter");
	await id("conversion-about").waitFor();
	assert.match(await page.getByRole("dialog").innerText(), /stolen[^]*malware[^]*Nobody can reset them/);
	await id("conversion-next").press("Enter");
	await eventually(async () => assert.equal(await focused(), "new-passphrase"));
	await page.keyboard.type(`${PASSPHRASE} `);
	await eventually(async () => assert.match(await id("passphrase-note").innerText(), /Blanks at the start and at the end/));
	assert.ok(await id("conversion-next").isDisabled());
	await id("repeated-passphrase").fill(`${PASSPHRASE} `);
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Enter");
	await id("conversion-code").waitFor();
	const code = (await id("recovery-code").innerText()).trim();
	assert.match(code, /^CNK6C\s+ET399/);
	await id("conversion-next").press("Enter");
	await eventually(async () => assert.equal(await focused(), "typed-code"));
	await page.keyboard.type("CNK6C");
	await id("conversion-next").press("Enter");
	await eventually(async () => assert.match(await id("error").innerText(), /not the one that was shown/));
	await id("typed-code").fill(code.toLowerCase());

	await page.evaluate(() => {
		window.engine.held = new Promise((resolve) => (window.endConversion = resolve));
		window.engine.report = { databases: 3, files: 20, failed: [{ file: "assets/3f/3f9b12", reason: "permission denied" }], plainLeftovers: ["old.db"], secondPlaceMissing: true };
	});
	await id("conversion-next").press("Enter");
	await page.getByRole("progressbar", { name: /Encrypting your data/ }).waitFor();
	await page.keyboard.press("Escape");
	assert.equal(await page.getByRole("dialog").getByRole("button").count(), 0, "nothing closes the dialog now");
	assert.deepEqual(await axe(page), []);
	await page.evaluate(() => window.endConversion());
	await id("protection-report").waitFor();
	assert.match(await id("protection-failed").innerText(), /3f9b12[^]*permission denied/);
	assert.match(await id("protection-plain").innerText(), /old\.db/);
	assert.match(await id("protection-report").innerText(), /second place for backups was not there/);
	assert.deepEqual(await axe(page), []);
	await id("conversion-restart").press("Enter");
	await eventually(async () => assert.equal((await calls()).restarts, 1));
});

test("cancelled encryption drops the new keys", async () => {
	await show("encryptcode");
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	assert.equal((await calls()).forgotten, 1);
});

test("Escape asks before it drops what was typed", async () => {
	await show("encryptabout");
	await id("conversion-next").press("Enter");
	await id("new-passphrase").fill("kettle");
	await page.keyboard.press("Escape");
	await page.getByText("Discard what you entered?").waitFor();
	await page.getByRole("button", { name: "Discard", exact: true }).press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("new recovery code is shown once", async () => {
	await encrypted();
	await id("renew-code-open").press("Enter");
	await id("change-passphrase").fill(PASSPHRASE);
	await page.keyboard.press("Enter");
	await id("recovery-code").waitFor();
	assert.deepEqual(await axe(page), []);
	await id("code-seen").press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("keychain needs the passphrase", async () => {
	await encrypted();
	const toggle = page.getByRole("switch", { name: "Unlock with the system's keychain" });
	await toggle.press("Space");
	await id("change-passphrase").fill("wrong");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.match(await id("error").innerText(), /not the right one/));
	assert.equal(await page.evaluate(() => window.engine.protection.unlockAtLogin), false);
	await id("change-passphrase").fill(PASSPHRASE);
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await toggle.getAttribute("aria-checked"), "true"));
});

test("minutes until the lock are a whole number", async () => {
	await encrypted();
	await id("lock-after").fill("1441");
	await id("lock-after").press("Tab");
	await page.getByText("Enter a whole number from 0 to").waitFor();
	await id("lock-after").fill("15");
	await id("lock-after").press("Tab");
	await eventually(async () => assert.equal(await page.evaluate(() => window.engine.settings.lockAfterMinutes), 15));
});

test("the same keys lock an encrypted folder and hide another", async () => {
	await show("chat");
	await page.keyboard.press("Control+Shift+H");
	await id("cover").waitFor();
	assert.equal(await page.title(), "Inglenook");
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await page.keyboard.press("Control+k");
	assert.equal(await id("palette").count(), 0, "keys do not reach the page below");
	await id("cover-show").press("Enter");
	await id("cover").waitFor({ state: "detached" });

	await encrypted();
	await page.keyboard.press("Control+Shift+H");
	await page.getByRole("progressbar", { name: /^Locking/ }).waitFor();
	assert.equal((await calls()).locks, 1);
	assert.equal(await id("cover-show").count(), 0);
});

test("cover lies above open dialogs", async () => {
	await show("encryptabout");
	await page.keyboard.press("Control+Shift+H");
	await eventually(async () => assert.equal(await focused(), "cover-show"));
	await id("cover-show").click();
	await id("cover").waitFor({ state: "detached" });
	await id("conversion-about").waitFor();
});

test("no script error", () => assert.deepEqual(errors, []));
