import type { ApiError, ChatFileFormat, ChatId } from "../api/generated";

/** Callbacks from a chat and its parts to the app. */
export interface ChatCallbacks {
	/** Called after a message is deleted; `undo` restores it. */
	deleted(undo: () => Promise<void>): void;
	/** Called after a change that `undo` reverts. */
	undoable(text: string, undo: () => Promise<void>): void;
	/** Called after a document is removed; `undo` restores it. */
	detached(name: string, undo: () => Promise<void>): void;
	failed(error: ApiError): void;
	/** Announces a finished reply to screen readers. */
	replied(name: string, text: string): void;
	/** Announces a short text to screen readers. */
	announce(text: string): void;
	/** Opens the search over messages. */
	search(text: string): void;
	/** Exports the chat to a file. */
	exportChat(format: ChatFileFormat): void;
	/** Opens another chat. */
	openChat(chat: ChatId): void;
	/** Called when the next prompt changes. */
	promptChanged(): void;
}
