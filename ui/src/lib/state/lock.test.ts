import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MockAccess, PASSPHRASE } from "../../../tests/mock/access";
import type { Access } from "../api/access";
import { LockState } from "./lock.svelte";

const LOCKED: Access = { state: "locked", unlockAtLogin: true, problem: null, waitSeconds: 0 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function page() {
	const shell = new MockAccess();
	const lock = new LockState(shell);
	shell.access = LOCKED;
	shell.watchAccess((access) => lock.receive(access));
	return { shell, lock };
}

test("wrong passphrase keeps the text and says why", async () => {
	const { lock } = page();
	lock.text = "kettle";
	await lock.unlock();
	expect([lock.text, lock.failure?.kind, lock.tries, lock.busy]).toEqual(["kettle", "badInput", 1, false]);
});

test("empty text is not tried", async () => {
	const { shell, lock } = page();
	const unlock = vi.spyOn(shell, "unlock");
	lock.text = "  ";
	await lock.unlock();
	expect([lock.ready, unlock.mock.calls.length]).toEqual([false, 0]);
});

test("right passphrase stays busy until the folder is open", async () => {
	const { shell, lock } = page();
	vi.spyOn(shell, "unlock").mockResolvedValue();
	lock.text = PASSPHRASE;
	await lock.unlock();
	expect([lock.text, lock.busy]).toEqual(["", true]);
	// The folder could not be opened after all.
	lock.receive(LOCKED);
	expect(lock.busy).toBe(false);
});

test("keychain unlocks without a text", async () => {
	const { shell, lock } = page();
	const unlock = vi.spyOn(shell, "unlock");
	await lock.unlock("keychain");
	expect(unlock.mock.calls).toEqual([["keychain", ""]]);
});

test("another way to unlock drops the text and the failure", async () => {
	const { lock } = page();
	lock.text = "kettle";
	await lock.unlock();
	lock.switchTo("recovery_code");
	expect([lock.kind, lock.text, lock.failure]).toEqual(["recovery_code", "", null]);
});

test("wait counts down and is announced once", async () => {
	const { shell, lock } = page();
	shell.enter({ ...LOCKED, waitSeconds: 30 });
	lock.text = PASSPHRASE;
	expect([lock.waiting, lock.announcedWait, lock.ready]).toEqual([30, 30, false]);
	vi.advanceTimersByTime(10_000);
	shell.enter({ ...LOCKED, waitSeconds: 20 });
	expect([lock.waiting, lock.announcedWait]).toEqual([20, 30]);
	vi.advanceTimersByTime(20_000);
	expect([lock.waiting, lock.announcedWait, lock.ready]).toEqual([0, 0, true]);
});

test("closed page counts no more and keeps no text", () => {
	const { shell, lock } = page();
	shell.enter({ ...LOCKED, waitSeconds: 30 });
	lock.text = "kettle";
	lock.close();
	expect([lock.text, vi.getTimerCount()]).toEqual(["", 0]);
});

test("failed restart after a conversion is shown", async () => {
	const { shell, lock } = page();
	shell.enter({ state: "converted" });
	vi.spyOn(shell, "restartLocked").mockRejectedValue({ kind: "internal", message: "broken" });
	await lock.restart();
	expect([lock.failure?.message, lock.busy]).toEqual(["broken", false]);
});
