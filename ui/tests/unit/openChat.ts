import { afterEach, beforeEach, vi } from "vitest";
import type { ApiError, Chat, Message } from "../../src/lib/api/generated";
import { api } from "../../src/lib/state/api";
import { ChatState } from "../../src/lib/state/chat.svelte";
import { stubFrames } from "./frames";
import { FakeShell, says } from "./shell";

export const NO_MODEL: ApiError = { kind: "noModel", message: "No model is set up.", hint: "Add one." };
export const GREETING = says("g", "character", "Good evening.");

/** What the chats opened in one test reported to the app. */
export const reported = {
	undo: null as (() => Promise<void>) | null,
	failures: [] as ApiError[],
	heard: [] as string[],
	/** Number of changes of the next prompt. */
	promptChanges: 0,
};

/** Draws the next animation frame. */
export let frame: () => void;

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	frame = stubFrames();
	Object.assign(reported, { undo: null, failures: [], heard: [], promptChanges: 0 });
});

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

/** Opens a chat of a fake engine, with `answers` to its calls. */
export async function open(stored: Chat, answers: Record<string, (args: never) => unknown> = {}) {
	const shell = new FakeShell({ open_chat: () => stored, complete_command: () => [], ...answers });
	const state = new ChatState("chat", api(shell), {
		deleted: (again) => (reported.undo = again),
		detached: () => {},
		undoable: (_text, again) => (reported.undo = again),
		failed: (error) => reported.failures.push(error),
		replied: (name, text) => reported.heard.push(`${name}: ${text}`),
		announce: (text) => reported.heard.push(text),
		search: (text) => reported.heard.push(`search ${text}`),
		exportChat: (format) => reported.heard.push(`export ${format}`),
		openChat: (other) => reported.heard.push(`open ${other}`),
		promptChanged: () => (reported.promptChanges += 1),
	});
	await state.load();
	return { state, shell };
}

export const texts = (state: ChatState) => state.messages.map((message) => message.swipes[message.selected]?.text);
export const begun = (id: string, text = ""): Message => says(id, "character", text);
