import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { api } from "./api";
import { PrivateCharacters } from "./privateCharacters.svelte";

const WRONG = { kind: "badInput", message: "The passphrase is not the right one.", hint: "Check it and try again." };

async function loaded({ shown = false, available = true } = {}) {
	const engine = { available, shown };
	const shell = new FakeShell({
		private_characters: () => ({ ...engine }),
		show_private: ({ passphrase }: { passphrase: string }) => {
			if (passphrase !== "whale oil") throw WRONG;
			engine.shown = true;
			return null;
		},
		hide_private: () => {
			engine.shown = false;
			return null;
		},
		set_character_private: () => null,
	});
	const vanished = vi.fn();
	const changed = vi.fn(async (_shown: boolean) => {});
	const state = new PrivateCharacters(api(shell), { attempt: async (action) => void (await action()), vanished, changed });
	await state.load();
	return { state, shell, vanished, changed };
}

test("the right passphrase shows private characters", async () => {
	const { state } = await loaded();
	state.ask();
	await state.show("whale oil");
	expect([state.shown, state.asking, state.failure]).toEqual([true, false, null]);
});

test("a wrong passphrase keeps the dialog open with the reason", async () => {
	const { state } = await loaded();
	state.ask();
	await state.show("sperm oil");
	expect([state.shown, state.asking, state.failure]).toEqual([false, true, WRONG]);
	state.ask();
	expect(state.failure).toBeNull();
});

test("an empty passphrase is not sent", async () => {
	const { state, shell } = await loaded();
	await state.show("");
	expect(shell.count("show_private")).toBe(0);
});

test("hiding clears what is on screen", async () => {
	const { state, changed } = await loaded({ shown: true });
	await state.hide();
	expect(state.shown).toBe(false);
	expect(changed.mock.calls).toEqual([[false]]);
});

test.each([true, false])("a change elsewhere is followed, shown: %s", async (shown) => {
	const { state, changed } = await loaded({ shown });
	await state.changed();
	expect(changed.mock.calls).toEqual([[shown]]);
});

test.each([
	[false, true, 1],
	[true, true, 0],
	[true, false, 0],
])("shown %s, private %s: says %i times that it vanished", async (shown, isPrivate, times) => {
	const { state, shell, vanished } = await loaded({ shown });
	await state.mark("c1", "Mira", isPrivate);
	expect(shell.asked.at(-1)).toEqual({ operation: "set_character_private", args: { character: "c1", on: isPrivate } });
	expect(vanished).toHaveBeenCalledTimes(times);
});
