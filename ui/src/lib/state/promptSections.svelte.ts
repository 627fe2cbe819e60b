import type { ChatId, PromptSections } from "../api/generated";
import type { Api } from "./api";
import type { ChatCallbacks } from "./callbacks";
import { StoredState } from "./storedState.svelte";

/** The sections of a chat's prompt template, each of which the chat can leave out. */
export class PromptSectionsState extends StoredState<PromptSections> {
	/** Change of the prompt's size by the last switch, in tokens; `null` before the first one. */
	change = $state<number | null>(null);

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly callbacks: Pick<ChatCallbacks, "failed" | "promptChanged">,
	) {
		super(
			() => api.promptSections(chat),
			(error) => callbacks.failed(error),
		);
	}

	set(name: string, on: boolean): Promise<unknown> {
		const before = this.all?.tokens ?? null;
		return this.send(
			() => this.api.setPromptSection(this.chat, name, on),
			() => {
				const after = this.all?.tokens ?? null;
				this.change = before === null || after === null ? null : after - before;
				this.callbacks.promptChanged();
			},
		);
	}
}
