import { expect, test, vi } from "vitest";
import { MockAccess, PASSPHRASE } from "../tests/mock/access";
import type { Access } from "./lib/api/access";
import type { LockState } from "./lib/state/lock.svelte";
import { Gate } from "./gate";

const LOCKED: Access = { state: "locked", unlockAtLogin: false, problem: null, waitSeconds: 0 };

/** A gate in front of a folder that begins with `first`. */
function opened(first: Access, stays = false) {
	const shell = new MockAccess();
	shell.access = first;
	const remove = vi.fn();
	const shown: LockState[] = [];
	const follow = vi.fn(() => stays);
	const pages = {
		start: vi.fn(async () => ({ encryption: { follow } }) as never),
		lock: (lock: LockState) => {
			shown.push(lock);
			return remove;
		},
		reload: vi.fn(),
	};
	const close = new Gate(shell, pages).open();
	return { shell, pages, shown, remove, follow, close };
}

test.each<Access>([{ state: "open" }, { state: "opening" }])("app starts at once while the folder is $state", (first) => {
	const { shell, pages, shown } = opened(first);
	expect(pages.start).toHaveBeenCalledOnce();
	shell.enter({ state: "open" });
	expect([shown.length, pages.start.mock.calls.length, pages.reload.mock.calls.length]).toEqual([0, 1, 0]);
});

test("locked folder shows the lock page until it is open", async () => {
	const { shell, pages, shown, remove } = opened(LOCKED);
	const [lock] = shown;
	if (!lock) throw new Error("no lock page");
	expect(pages.start).not.toHaveBeenCalled();
	shell.enter({ state: "opening" });
	expect([lock.busy, pages.start.mock.calls.length, shown.length]).toEqual([true, 0, 1]);
	shell.enter({ state: "open" });
	expect([remove.mock.calls.length, pages.start.mock.calls.length, pages.reload.mock.calls.length]).toEqual([1, 1, 0]);
});

test("right passphrase opens the app and is dropped", async () => {
	const { pages, shown } = opened(LOCKED);
	const [lock] = shown;
	if (!lock) throw new Error("no lock page");
	lock.text = PASSPHRASE;
	await lock.unlock();
	await vi.waitFor(() => expect(pages.start).toHaveBeenCalledOnce());
	expect(lock.text).toBe("");
});

test("folder that locks itself reloads the page", () => {
	const { shell, pages } = opened({ state: "open" });
	shell.enter(LOCKED);
	expect(pages.reload).toHaveBeenCalledOnce();
});

test("app that was started too early reloads the page", () => {
	const { shell, pages } = opened({ state: "opening" });
	shell.enter({ state: "opening" });
	expect(pages.reload).not.toHaveBeenCalled();
	shell.enter(LOCKED);
	expect(pages.reload).toHaveBeenCalledOnce();
});

test("app starts once while it reads its choices", () => {
	const { shell, pages, follow } = opened({ state: "opening" });
	shell.enter({ state: "opening" });
	shell.enter({ state: "open" });
	expect([pages.start.mock.calls.length, follow.mock.calls.length, pages.reload.mock.calls.length]).toEqual([1, 0, 0]);
	shell.enter(LOCKED);
	expect(pages.reload).toHaveBeenCalledOnce();
});

test("folder that opens again reloads the page", () => {
	const { shell, pages } = opened({ state: "open" });
	shell.enter({ state: "opening" });
	expect(pages.reload).toHaveBeenCalledOnce();
});

test("page stays while its dialog converts the folder", async () => {
	const { shell, pages, follow } = opened({ state: "open" }, true);
	await pages.start.mock.results[0]?.value;
	shell.enter({ state: "converting", encrypting: true });
	shell.enter({ state: "converted" });
	expect(follow.mock.calls).toEqual([[{ state: "converting", encrypting: true }], [{ state: "converted" }]]);
	expect(pages.reload).not.toHaveBeenCalled();
});

test("conversion that continues at the start has the lock page", () => {
	const { shell, pages, shown } = opened({ state: "converting", encrypting: false });
	expect(shown[0]?.access).toEqual({ state: "converting", encrypting: false });
	shell.enter({ state: "converted" });
	expect([shown.length, shown[0]?.access.state, pages.start.mock.calls.length]).toEqual([1, "converted", 0]);
});
