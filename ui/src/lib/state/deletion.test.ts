import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import { asApiError } from "../api/errors";
import { api } from "./api";
import { ChatDeletion } from "./deletion.svelte";

async function asking(learned: () => number) {
	const shell = new FakeShell({ learned_in: learned, delete_chat: () => null, delete_chat_but_facts: () => null });
	const deleted = vi.fn(async () => {});
	const failed = vi.fn();
	const attempt = (action: () => Promise<unknown>) => action().then(() => {}, (thrown: unknown) => failed(asApiError(thrown).message));
	const deletion = new ChatDeletion(api(shell), { attempt, deleted });
	await deletion.ask("chat", "Mira");
	return { deletion, deleted, failed, operations: () => shell.asked.map(({ operation }) => operation) };
}

test("chat without memories is deleted at once", async () => {
	const { deletion, deleted, operations } = await asking(() => 0);
	expect([deletion.asked, operations()]).toEqual([null, ["learned_in", "delete_chat"]]);
	expect(deleted).toHaveBeenCalledWith("chat", "Mira");
});

test.each([
	[false, "delete_chat"],
	[true, "delete_chat_but_facts"],
])("asks before deleting learned memories, keep: %s", async (keep, operation) => {
	const { deletion, deleted, operations } = await asking(() => 3);
	expect([deletion.asked, operations()]).toEqual([{ id: "chat", title: "Mira", learned: 3 }, ["learned_in"]]);
	await deletion.confirm(keep);
	expect([deletion.asked, operations().slice(1)]).toEqual([null, [operation]]);
	expect(deleted).toHaveBeenCalledWith("chat", "Mira");
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
