import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ModelMove } from "../api/generated";
import { api } from "./api";
import { ModelMoves } from "./modelMoves.svelte";

const move = (model: string, state: ModelMove["state"] = "copying"): ModelMove => ({ model, name: model, folder: "/media/models", state, done: 0, total: 8, reason: "", hint: "" });

function moves(answers: Record<string, (args: never) => unknown>) {
	return new ModelMoves(api(new FakeShell(answers)), { attempt: async (action) => void (await action()) });
}

test("news replace the state of a move until it ends", () => {
	const state = moves({});
	state.update(move("a"));
	state.update(move("b"));
	state.update(move("a", "checking"));
	expect(state.all.map(({ model, state }) => [model, state])).toEqual([
		["a", "checking"],
		["b", "copying"],
	]);
	state.ended("a");
	expect(state.of("a")).toBeNull();
	expect(state.of("b")?.state).toBe("copying");
});

test("move that ends while the list loads stays away", async () => {
	const lists = [[move("a")], []];
	const state = moves({ list_model_moves: () => lists.shift() });
	const loading = state.load();
	state.ended("a");
	await loading;
	expect(state.all).toEqual([]);
});

test("refused models of a folder can be dismissed", async () => {
	const cancelled: string[] = [];
	const state = moves({
		move_models_of_folder: () => [move("a"), { ...move("b", "failed"), reason: "It is in use." }],
		list_model_moves: () => [move("a")],
		cancel_model_move: ({ id }: { id: string }) => void cancelled.push(id),
	});
	await state.startAll("/old", "/media/models");
	expect(state.all.map(({ model }) => model)).toEqual(["b"]);
	await state.cancel("b");
	await state.cancel("a");
	expect([state.all, cancelled]).toEqual([[], ["a"]]);
});
