import type { CardField, ChatId, ChatText } from "../api/generated";
import type { Api } from "./api";
import type { ChatCallbacks } from "./callbacks";
import { StoredState } from "./storedState.svelte";

/** Card texts that one chat overrides. */
export class ChatTexts extends StoredState<ChatText[]> {
	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly callbacks: Pick<ChatCallbacks, "failed" | "promptChanged">,
	) {
		super(
			() => api.chatTexts(chat),
			(error) => callbacks.failed(error),
		);
	}

	/** Overrides a field. `null` restores the card's text. */
	set(field: CardField, text: string | null): Promise<unknown> {
		return this.send(
			() => this.api.setChatText(this.chat, field, text),
			() => this.callbacks.promptChanged(),
		);
	}
}
