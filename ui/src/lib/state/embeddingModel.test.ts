import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { EmbeddingModel } from "../api/generated";
import { api } from "./api";
import { EmbeddingModelState } from "./embeddingModel.svelte";

const bundled: EmbeddingModel = { name: "all-MiniLM-L6-v2", path: null, hasBundled: true, missing: false, left: 0 };
const own: EmbeddingModel = { ...bundled, name: "nomic-embed", path: "/models/nomic-embed.gguf", left: 40 };

test("choice replaces the model, and a cancelled dialog does not", async () => {
	const shell = new FakeShell({ embedding_choice: () => own, use_bundled_embedding_model: () => bundled });
	const state = new EmbeddingModelState(api(shell), (action) => action());
	state.follow();
	await expect.poll(() => state.model).toEqual(own);
	await state.choose();
	expect([state.model, state.choosing]).toEqual([own, false]);
	await state.useBundled();
	expect(state.model).toEqual(bundled);
});

test("refused file keeps the model", async () => {
	const failures: unknown[] = [];
	const shell = new FakeShell({
		embedding_choice: () => bundled,
		use_bundled_embedding_model: () => {
			throw { kind: "internal", message: "no" };
		},
	});
	const state = new EmbeddingModelState(api(shell), (action) => action().catch((thrown: unknown) => failures.push(thrown)));
	state.follow();
	await expect.poll(() => state.model).toEqual(bundled);
	await state.useBundled();
	expect([state.model, state.choosing, failures.length]).toEqual([bundled, false, 1]);
});
