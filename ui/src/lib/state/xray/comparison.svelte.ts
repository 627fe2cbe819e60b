import type { PromptComparison } from "../../api/generated";
import type { Api } from "../api";
import { Difference } from "./difference.svelte";

/** A prompt beside the one that was sent before it. */
export class Comparison extends Difference<PromptComparison> {
	constructor(private readonly api: Api) {
		super();
	}

	/** The prompt that a reply answered. */
	reply = (swipe: string): Promise<void> => this.showStored(swipe, () => this.api.comparePrompt(swipe));

	/** The prompt that `text` would send. */
	next = (chat: string, text: string): Promise<void> => this.show(`next of ${chat}`, () => this.api.compareNext(chat, text));
}
