import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { EncryptionHint } from "./encryptionHint.svelte";

async function loaded(desktop = true) {
	const shell = new FakeShell({ hints_at_encryption: () => true, dismiss_encryption_hint: () => null });
	Object.assign(shell, { desktop });
	const show = vi.fn();
	const hint = new EncryptionHint(api(shell), { attempt: async (action) => void (await action()), show });
	await hint.load();
	return { hint, shell, show };
}

test("hint is shown in the desktop window only", async () => {
	expect((await loaded()).hint.shown).toBe(true);
	const { hint, shell } = await loaded(false);
	expect([hint.shown, shell.count("hints_at_encryption")]).toEqual([false, 0]);
});

test.each(["follow", "dismiss"] as const)("%s hides the hint for good", async (choice) => {
	const { hint, shell, show } = await loaded();
	await hint[choice]();
	expect([hint.shown, shell.count("dismiss_encryption_hint")]).toEqual([false, 1]);
	expect(show).toHaveBeenCalledTimes(choice === "follow" ? 1 : 0);
});
