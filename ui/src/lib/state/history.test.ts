import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { History } from "./history.svelte";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function typed(...versions: string[]) {
	const history = new History();
	history.begin("");
	for (const version of versions) {
		history.note(version);
		vi.advanceTimersByTime(version.endsWith(" ") ? 600 : 10);
	}
	return history;
}

test("continuous typing is one undo step", () => {
	const history = typed("a", "ab", "ab ", "ab c", "ab cd");
	expect([history.canUndo, history.canRedo]).toEqual([true, false]);
	expect([history.undo(), history.undo(), history.undo()]).toEqual(["ab ", "", null]);
	expect([history.redo(), history.redo(), history.redo()]).toEqual(["ab ", "ab cd", null]);
});

test("new change after undo clears redo", () => {
	const history = typed("a ", "b ");
	const before = history.undo() ?? "";
	history.note(before);
	expect(history.canRedo).toBe(true);
	history.note("c");
	expect(history.canRedo).toBe(false);
	expect([history.undo(), history.undo()]).toEqual(["a ", ""]);
});

test("change of another field is a separate step", () => {
	const history = new History();
	history.begin("");
	history.note("n", "name");
	history.note("na", "name");
	history.note("na d", "description");
	expect([history.undo(), history.undo()]).toEqual(["na", ""]);
});

test("change that is reverted leaves no step", () => {
	const history = typed("a", "");
	expect([history.canUndo, history.undo()]).toEqual([false, null]);
});
