import { expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ApiError, ChatText } from "../api/generated";
import { api } from "./api";
import { ChatTexts } from "./chatTexts.svelte";

const texts = (own: string | null): ChatText[] => [{ field: "scenario", card: "A calm night.", own }];

function started(answers: Record<string, (args: never) => unknown>) {
	const shell = new FakeShell({ chat_texts: () => texts(null), ...answers });
	const callbacks = { failed: vi.fn<(error: ApiError) => void>(), promptChanged: vi.fn<() => void>() };
	return { shell, callbacks, own: new ChatTexts(api(shell), "c", callbacks) };
}

test("override changes one chat and its next prompt", async () => {
	const { own, shell, callbacks } = started({ set_chat_text: ({ text }: { text: string | null }) => texts(text) });
	await own.load();
	await own.set("scenario", "A storm.");
	expect(shell.asked.at(-1)).toEqual({ operation: "set_chat_text", args: { chat: "c", field: "scenario", text: "A storm." } });
	expect(own.all).toEqual(texts("A storm."));
	await own.set("scenario", null);
	expect(own.all).toEqual(texts(null));
	expect(callbacks.promptChanged).toHaveBeenCalledTimes(2);
});

test("rejected text shows the stored one again", async () => {
	const refusal: ApiError = { kind: "badInput", message: "The text is too long.", hint: "Shorten it." };
	const { own, shell, callbacks } = started({
		set_chat_text: () => {
			throw refusal;
		},
	});
	await own.load();
	await own.set("scenario", "A storm.");
	expect(callbacks.failed).toHaveBeenCalledWith(refusal);
	expect(callbacks.promptChanged).not.toHaveBeenCalled();
	expect([shell.count("chat_texts"), own.all]).toEqual([2, texts(null)]);
});

test("load older than a change is ignored", async () => {
	let answer: (all: ChatText[]) => void = () => {};
	const { own } = started({
		chat_texts: () => new Promise<ChatText[]>((resolve) => (answer = resolve)),
		set_chat_text: () => texts("A storm."),
	});
	const reading = own.load();
	await own.set("scenario", "A storm.");
	answer(texts(null));
	await reading;
	expect(own.all).toEqual(texts("A storm."));
});

test("failed load shows its error", async () => {
	const gone: ApiError = { kind: "notFound", message: "This chat is no longer there." };
	const { own } = started({
		chat_texts: () => {
			throw gone;
		},
	});
	await own.load();
	expect([own.failure, own.all]).toEqual([gone, null]);
});
