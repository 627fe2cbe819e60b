import { expect, test } from "vitest";
import type { Message, RegenerateOptions } from "../api/generated";
import { Versions } from "./versions.svelte";

const swipe = (id: string) => ({ id, text: id, display: null, state: "finished" as const, created: "", model: null, figures: null, toolCalls: [], emotion: null });
const reply = (count: number, selected: number): Message => ({ id: "m", role: "character", name: "Mira", swipes: Array.from({ length: count }, (_, at) => swipe(`s${at}`)), selected, created: "", pinned: false, canRegenerate: true, pictures: [] });

function versions(message: Message, starts = true) {
	const asked: RegenerateOptions[] = [];
	const [selected, removed]: [number[], number[]] = [[], []];
	const state = new Versions({
		messages: () => [message],
		write: async (options) => (asked.push(options), starts),
		select: async (_, index) => void selected.push(index),
		remove: async (_, index) => void removed.push(index),
	});
	return { state, asked, selected, removed };
}

test("comparison begins with the shown version and its neighbour", () => {
	const middle = versions(reply(3, 2));
	middle.state.compare(reply(3, 2));
	expect(middle.state.sides).toEqual([1, 2]);
	const first = versions(reply(3, 0));
	first.state.compare(reply(3, 0));
	expect(first.state.sides).toEqual([0, 1]);
	const only = versions(reply(1, 0));
	only.state.compare(reply(1, 0), true);
	expect([only.state.sides, only.state.choosing]).toEqual([[0, 0], true]);
});

test("sides stay within the versions", () => {
	const { state } = versions(reply(3, 1));
	state.compare(reply(3, 1));
	state.show(0, -1);
	state.show(1, 9);
	expect(state.sides).toEqual([0, 2]);
});

test("version of another model appears next to the shown one", async () => {
	const { state, asked } = versions(reply(2, 0));
	state.compare(reply(2, 0), true);
	await state.byModel({ kind: "local", id: "x" });
	expect(asked).toEqual([{ hint: null, model: { kind: "local", id: "x" } }]);
	expect([state.sides, state.choosing]).toEqual([[0, 2], false]);
	const refused = versions(reply(2, 0), false);
	refused.state.compare(reply(2, 0));
	await refused.state.byModel({ kind: "local", id: "x" });
	expect(refused.state.sides).toEqual([0, 1]);
});

test("chosen version is selected once", async () => {
	const { state, selected } = versions(reply(2, 1));
	state.compare(reply(2, 1));
	await state.use(0);
	expect([selected, state.compared]).toEqual([[0], null]);
	state.compare(reply(2, 1));
	await state.use(1);
	expect(selected).toEqual([0]);
});

test("the version that was shown is deleted after the question", async () => {
	const message = reply(3, 1);
	const { state, removed } = versions(message);
	state.deleting = message;
	await state.remove(message);
	expect([removed, state.deleting]).toEqual([[1], null]);
});
