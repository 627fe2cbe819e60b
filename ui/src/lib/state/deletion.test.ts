import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { asApiError } from "../api/errors";
import { api } from "./api";
import { ChatDeletion } from "./deletion.svelte";

async function asking(learned: () => number) {
	const shell = new FakeShell({ learned_in: learned, delete_chats: () => null });
	const deleted = vi.fn(async () => {});
	const failed = vi.fn();
	const attempt = (action: () => Promise<unknown>) => action().then(() => {}, (thrown: unknown) => failed(asApiError(thrown).message));
	const deletion = new ChatDeletion(api(shell), { attempt, deleted });
	await deletion.ask("chat", "Mira");
	return { deletion, deleted, failed, shell, operations: () => shell.asked.map(({ operation }) => operation) };
}

test("chat without memories is deleted at once", async () => {
	const { deletion, deleted, operations } = await asking(() => 0);
	expect([deletion.asked, operations()]).toEqual([null, ["learned_in", "delete_chats"]]);
	expect(deleted).toHaveBeenCalledWith([{ id: "chat", title: "Mira" }]);
});

test.each([false, true])("asks before deleting learned memories, keep: %s", async (keep) => {
	const { deletion, deleted, shell, operations } = await asking(() => 3);
	expect([deletion.asked, operations()]).toEqual([{ chats: [{ id: "chat", title: "Mira" }], learned: 3 }, ["learned_in"]]);
	await deletion.confirm(keep);
	expect([deletion.asked, shell.asked.at(-1)]).toEqual([null, { operation: "delete_chats", args: { chats: ["chat"], keepLearned: keep } }]);
	expect(deleted).toHaveBeenCalledWith([{ id: "chat", title: "Mira" }]);
});

test("several chats are deleted by one call", async () => {
	const { deletion, shell, operations } = await asking(() => 0);
	await deletion.askMany(["a", "b"].map((id) => ({ id, title: id })));
	expect(operations()).toEqual(["learned_in", "delete_chats", "learned_in", "delete_chats"]);
	expect(shell.asked.at(-1)?.args).toEqual({ chats: ["a", "b"], keepLearned: false });
});

test("cancel or a failed memory count deletes nothing", async () => {
	const { deletion, deleted, operations } = await asking(() => 3);
	deletion.cancel();
	await deletion.confirm(false);
	expect([deletion.asked, operations(), deleted.mock.calls]).toEqual([null, ["learned_in"], []]);
	const unknown = await asking(() => {
		throw { kind: "storage", message: "disk I/O error" };
	});
	expect([unknown.deletion.asked, unknown.operations(), unknown.deleted.mock.calls]).toEqual([null, ["learned_in"], []]);
	expect(unknown.failed).toHaveBeenCalledWith("disk I/O error");
});
