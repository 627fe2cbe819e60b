import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MockAccess, PASSPHRASE } from "../../../tests/mock/access";
import { setLanguage } from "../../lib/i18n/i18n.svelte";
import { LockState } from "../../lib/state/lock.svelte";
import LockScreen from "./LockScreen.svelte";

let page: Record<string, unknown>;
let shell: MockAccess;
const part = <T extends HTMLElement>(name: string) => document.querySelector<T>(`[data-testid=${name}]`);

beforeEach(() => {
	setLanguage("en");
	shell = new MockAccess();
	shell.locked({ unlockAtLogin: true, problem: "The key file is damaged." });
	const lock = new LockState(shell);
	shell.watchAccess((access) => lock.receive(access));
	page = mount(LockScreen, { target: document.body, props: { lock } });
	flushSync();
});

afterEach(() => unmount(page));

function type(text: string): void {
	const field = part<HTMLInputElement>("lock-passphrase");
	if (!field) throw new Error("no field");
	field.value = text;
	field.dispatchEvent(new Event("input", { bubbles: true }));
	flushSync();
	field.closest("form")?.requestSubmit();
}

test("lock page names its problem and its ways", async () => {
	expect(part("lock-problem")?.textContent).toBe("The key file is damaged.");
	expect(part("lock-keychain")).not.toBeNull();
	await vi.waitFor(() => expect(document.activeElement).toBe(part("lock-passphrase")));
	part("lock-use-code")?.click();
	await vi.waitFor(() => expect(document.activeElement).toBe(part("lock-code")));
});

test("wrong passphrase says why and is selected", async () => {
	type("kettle");
	await vi.waitFor(() => expect(part("lock-error")?.textContent).toContain("not the right one"));
	await vi.waitFor(() => {
		const field = part<HTMLInputElement>("lock-passphrase");
		expect([document.activeElement === field, field?.selectionStart, field?.selectionEnd]).toEqual([true, 0, 6]);
	});
});

test("right passphrase disables the page until it is gone", async () => {
	const unlock = vi.spyOn(shell, "unlock").mockResolvedValue();
	type(PASSPHRASE);
	await vi.waitFor(() => expect(part("lock-submit")?.textContent).toBe("Unlocking …"));
	expect(unlock).toHaveBeenCalledWith("passphrase", PASSPHRASE);
	await vi.waitFor(() => expect(part<HTMLInputElement>("lock-passphrase")?.value).toBe(""));
	expect(part<HTMLInputElement>("lock-passphrase")?.disabled).toBe(true);
});

test("wait disables the field", () => {
	shell.locked({ waitSeconds: 30 });
	flushSync();
	expect(part("lock-wait")?.textContent).toBe("Next try in 30 sec");
	expect(part<HTMLInputElement>("lock-passphrase")?.disabled).toBe(true);
});

test("conversion replaces the fields", () => {
	shell.enter({ state: "converting", encrypting: false });
	flushSync();
	expect(part("lock-passphrase")).toBeNull();
	expect(document.body.textContent).toContain("Decrypting your data");
	shell.enter({ state: "converted" });
	flushSync();
	part("lock-restart")?.click();
	expect(shell.calls.restarts).toBe(1);
});
