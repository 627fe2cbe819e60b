import { expect, test } from "vitest";
import type { ChatId, MessageId } from "./generated";

test("an id of one kind is refused in the place of another by the type check", () => {
	const chat: ChatId = "0190a0a0-0000-7000-8000-000000000000";
	// @ts-expect-error: the id of a chat is not that of a message.
	const message: MessageId = chat;
	expect(message).toBe(chat);
});
