import type { ChatId, PromptComparison, SwipeId } from "../../api/generated";
import type { Api } from "../api";
import { DiffState } from "./diffState.svelte";

/** Compares a prompt with the one sent before it. */
export class Comparison extends DiffState<PromptComparison> {
	constructor(private readonly api: Api) {
		super();
	}

	/** Compares the prompt of a reply. */
	reply = (swipe: SwipeId): Promise<void> => this.showStored(swipe, () => this.api.comparePrompt(swipe));

	/** Compares the prompt that `text` would send. */
	next = (chat: ChatId, text: string): Promise<void> => this.show(`next of ${chat}`, () => this.api.compareNext(chat, text));
}
