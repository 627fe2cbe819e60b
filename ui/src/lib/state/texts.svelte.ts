import type { ApiError, CardField, ChatText } from "../api/generated";
import type { Api } from "./api";
import { Kept } from "./kept.svelte";

interface Surroundings {
	failed(error: ApiError): void;
	/** The next prompt is another one than before. */
	turned(): void;
}

/** What one chat says instead of its card. */
export class OwnTexts extends Kept<ChatText[]> {
	constructor(
		private readonly api: Api,
		private readonly chat: string,
		private readonly around: Surroundings,
	) {
		super(
			() => api.chatTexts(chat),
			(error) => around.failed(error),
		);
	}

	/** `null` brings the card's words back. */
	set(field: CardField, text: string | null): Promise<unknown> {
		return this.send(
			() => this.api.setChatText(this.chat, field, text),
			() => this.around.turned(),
		);
	}
}
