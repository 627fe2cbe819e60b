import { expect, test, vi } from "vitest";
import { PASSPHRASE } from "../../../tests/mock/access";
import { MockEngine } from "../../../tests/mock/engine";
import { api } from "./api";
import { EncryptionState } from "./encryption.svelte";

async function opened(encrypted = false) {
	const engine = new MockEngine("chat", "dark", "en");
	if (encrypted) engine.encrypted();
	const failed = vi.fn();
	const encryption = new EncryptionState(api(engine), failed);
	engine.watchAccess((access) => encryption.follow(access));
	await encryption.load();
	return { engine, encryption, failed };
}

/** The dialog at the step that types the code back. */
async function atCheck() {
	const page = await opened();
	page.encryption.convert(true);
	const conversion = page.encryption.conversion;
	if (!conversion) throw new Error("no dialog");
	conversion.step = "passphrase";
	conversion.passphrase = conversion.repeated = PASSPHRASE;
	await conversion.prepare();
	conversion.step = "check";
	return { ...page, conversion };
}

test("only an encrypted folder can be locked", async () => {
	expect((await opened()).encryption.lockable).toBe(false);
	expect((await opened(true)).encryption.lockable).toBe(true);
});

test("lock covers the page at once", async () => {
	const { engine, encryption } = await opened(true);
	const locked = encryption.lock();
	expect(encryption.cover).toBe("locking");
	await encryption.lock();
	await locked;
	encryption.show();
	expect([encryption.cover, engine.calls.locks]).toEqual(["locking", 1]);
});

test("failed lock shows the page again", async () => {
	const { encryption, failed } = await opened();
	await encryption.lock();
	expect([encryption.cover, failed.mock.calls.length]).toEqual([null, 1]);
});

test("hidden page shows again", async () => {
	const { encryption } = await opened();
	encryption.hide();
	expect(encryption.cover).toBe("hidden");
	encryption.show();
	expect(encryption.cover).toBeNull();
});

test("passphrase changes only with the old one", async () => {
	const { encryption } = await opened(true);
	encryption.askFor("changePassphrase");
	const { change } = encryption;
	if (!change) throw new Error("no dialog");
	change.secret = "wrong";
	change.replacement = "another kettle";
	expect(change.ready).toBe(false);
	change.repeated = "another kettle";
	await encryption.applyChange();
	expect([encryption.change, change.failure?.kind]).toEqual([change, "badInput"]);
	change.secret = PASSPHRASE;
	await encryption.applyChange();
	expect([encryption.change, change.secret, change.replacement, change.repeated]).toEqual([null, "", "", ""]);
});

test("new recovery code is shown until the dialog closes", async () => {
	const { encryption } = await opened(true);
	encryption.askFor("renewCode");
	const { change } = encryption;
	if (!change) throw new Error("no dialog");
	change.secret = PASSPHRASE;
	await encryption.applyChange();
	expect([encryption.change, change.secret, change.code.split("-").length]).toEqual([change, "", 13]);
	encryption.closeChange();
	expect([encryption.change, change.code]).toEqual([null, ""]);
});

test("keychain is used after the passphrase was typed", async () => {
	const { encryption } = await opened(true);
	encryption.askFor("keychainOn");
	if (encryption.change) encryption.change.secret = PASSPHRASE;
	await encryption.applyChange();
	expect([encryption.change, encryption.status?.unlockAtLogin]).toEqual([null, true]);
});

test("passphrase must be typed twice", async () => {
	const { encryption } = await opened();
	encryption.convert(true);
	const { conversion } = encryption;
	if (!conversion) throw new Error("no dialog");
	conversion.passphrase = "a";
	expect(conversion.passphraseReady).toBe(false);
	conversion.repeated = "a";
	expect(conversion.passphraseReady).toBe(true);
	conversion.passphrase = conversion.repeated = "x".repeat(1_025);
	expect(conversion.passphraseReady).toBe(false);
});

test("same passphrase keeps its recovery code", async () => {
	const { engine, conversion } = await atCheck();
	const prepare = vi.spyOn(engine, "prepareProtection");
	const { code } = conversion;
	conversion.back();
	conversion.back();
	await conversion.prepare();
	expect([conversion.step, conversion.code, prepare.mock.calls.length]).toEqual(["code", code, 0]);
	conversion.back();
	conversion.passphrase = conversion.repeated = "another kettle";
	await conversion.prepare();
	expect(prepare).toHaveBeenCalledOnce();
});

test("cancelled dialog drops the keys and the texts", async () => {
	const { engine, encryption, conversion } = await atCheck();
	encryption.closeConversion();
	expect([encryption.conversion, engine.calls.forgotten]).toEqual([null, 1]);
	expect([conversion.passphrase, conversion.repeated, conversion.code, conversion.typed]).toEqual(["", "", "", ""]);
});

test("keys made after the dialog closed are dropped", async () => {
	const { engine, encryption } = await opened();
	encryption.convert(true);
	const { conversion } = encryption;
	if (!conversion) throw new Error("no dialog");
	conversion.passphrase = conversion.repeated = PASSPHRASE;
	const made = conversion.prepare();
	encryption.closeConversion();
	await made;
	expect([conversion.code, engine.calls.forgotten]).toEqual(["", 1]);
});

test("wrong code converts nothing", async () => {
	const { conversion, encryption } = await atCheck();
	conversion.typed = "CNK6C";
	await conversion.convert();
	expect([conversion.step, conversion.failure?.kind, encryption.conversion]).toEqual(["check", "badInput", conversion]);
});

test("conversion holds its dialog until the restart", async () => {
	const { engine, encryption, conversion } = await atCheck();
	let end = () => {};
	engine.held = new Promise((resolve) => (end = resolve));
	conversion.typed = conversion.code.toLowerCase().replaceAll("-", " ");
	const converted = conversion.convert();
	expect([conversion.step, conversion.closable, encryption.follow({ state: "converting", encrypting: true })]).toEqual(["working", false, true]);
	encryption.closeConversion();
	end();
	await converted;
	encryption.closeConversion();
	expect([conversion.step, conversion.report?.files, encryption.conversion]).toEqual(["report", 212, conversion]);
	await conversion.restart();
	expect([engine.calls.restarts, engine.calls.forgotten, conversion.passphrase]).toEqual([1, 0, ""]);
});

test("conversion that fails midway leads to a reload", async () => {
	const { engine, conversion } = await atCheck();
	engine.held = Promise.reject({ kind: "storage", message: "The disk is full.", hint: "" });
	conversion.typed = conversion.code;
	await conversion.convert();
	expect([conversion.step, conversion.failure?.kind, conversion.closable]).toEqual(["failed", "storage", false]);
});

test("wrong passphrase decrypts nothing", async () => {
	const { encryption } = await opened(true);
	encryption.convert(false);
	const { conversion } = encryption;
	if (!conversion) throw new Error("no dialog");
	conversion.passphrase = "wrong";
	await conversion.convert();
	expect([conversion.step, conversion.failure?.kind]).toEqual(["passphrase", "badInput"]);
	conversion.passphrase = PASSPHRASE;
	await conversion.convert();
	expect(conversion.step).toBe("report");
});

test("open dialog without a conversion lets the page go", async () => {
	const { encryption } = await atCheck();
	expect(encryption.follow({ state: "converting", encrypting: true })).toBe(false);
});
