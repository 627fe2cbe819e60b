import { expect, test } from "vitest";
import type { Message } from "../api/generated";
import { MockDrafts } from "../../../tests/mock/drafts";
import { GREETING, open, reported } from "../../../tests/unit/openChat";
import { chat, says } from "../../../tests/unit/shell";

const OWN = says("u", "user", "Hello");

/** A chat whose drafts last longer than its window. */
function engine(drafts = new MockDrafts()) {
	const answers = {
		drafts: ({ kind, owner }: { kind: "messageEdit"; owner: string }) => drafts.of(kind, owner),
		write_draft: (args: Parameters<MockDrafts["write"]>[0]) => drafts.write(args),
		discard_draft: ({ id }: { id: string }) => drafts.discard(id),
	};
	const window = (messages: Message[] = [GREETING, OWN], more: Record<string, (args: never) => unknown> = {}) => open(chat(messages), { ...answers, ...more });
	return { drafts, window };
}

test("open edit opens again with its text", async () => {
	const { window } = engine();
	const first = await window();
	first.state.editLastOwn();
	first.state.edits.type("Hello there");
	await first.state.close();
	const next = await window();
	await expect.poll(() => next.state.editing?.text).toBe("Hello there");
});

test("Escape keeps the words, and Undo opens the edit again", async () => {
	const { window } = engine();
	const { state } = await window();
	state.editLastOwn();
	state.edits.type("Hello there");
	state.edits.close();
	expect([state.editing, state.edits.isUnsaved("u")]).toEqual([null, true]);
	await reported.undo?.();
	expect([state.editing?.text, state.edits.isUnsaved("u")]).toEqual(["Hello there", false]);
	state.edits.close();
	await state.edits.kept.of("u").now();
	// After a restart the edit is closed, and has the words when it opens.
	const next = await window();
	await expect.poll(() => next.state.edits.kept.get("u")?.notice?.kind).toBe("restored");
	expect([next.state.editing, next.state.edits.isUnsaved("u")]).toEqual([null, true]);
	next.state.editLastOwn();
	expect(next.state.editing?.text).toBe("Hello there");
	await next.state.edits.kept.of("u").use();
	expect(next.state.editing?.text).toBe("Hello");
});

test("edit of another message keeps the first text", async () => {
	const { window } = engine();
	const { state } = await window();
	state.editLastOwn();
	state.edits.type("Hello there");
	state.edits.open(GREETING);
	expect(state.editing?.text).toBe("Good evening.");
	state.editLastOwn();
	expect(state.editing?.text).toBe("Hello there");
});

test("unchanged edit closes without a word", async () => {
	const { drafts, window } = engine();
	const { state } = await window();
	state.editLastOwn();
	state.edits.close();
	expect([reported.undo, drafts.of("messageEdit", "chat")]).toEqual([null, []]);
});

test("message that changed meanwhile is not replaced without a choice", async () => {
	const { window } = engine();
	let stored = OWN;
	const { state, shell } = await window([GREETING, OWN], {
		open_chat: () => chat([GREETING, stored]),
		edit_message_from: ({ was, text }: { was: string; text: string }) => (was === stored.swipes[0]?.text ? says("u", "user", text) : null),
	});
	state.editLastOwn();
	state.edits.type("Mine");
	stored = says("u", "user", "Another window's");
	expect(await state.edits.save()).toBe(false);
	expect([state.editing?.text, state.edits.kept.of("u").notice?.kind]).toEqual(["Mine", "newer"]);
	expect(await state.edits.save()).toBe(true);
	expect(shell.asked.findLast(({ operation }) => operation === "edit_message_from")?.args).toEqual({ message: "u", was: "Another window's", text: "Mine" });
});
