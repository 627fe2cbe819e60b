import type { Ask, PromptStage, StageComparison } from "../../api/generated";
import type { Api } from "../api";
import { Difference } from "./difference.svelte";

/** What a prompt goes through, in this order. */
export const STAGES: readonly PromptStage[] = ["sources", "filled", "budget", "sent"];

/** A prompt at one of its stages, beside the stage before. */
export class Stages extends Difference<StageComparison> {
	stage = $state<PromptStage>("filled");

	constructor(private readonly api: Api) {
		super();
	}

	/** The prompt that a reply answered. */
	reply(swipe: string): Promise<void> {
		const { stage } = this;
		return this.showStored(`${stage} of ${swipe}`, () => this.api.promptStage(swipe, stage));
	}

	/** The prompt that `text` would send, or that of a job beside the chat. */
	next(chat: string, text: string, ask: Ask | null): Promise<void> {
		const { stage } = this;
		return this.show(`${stage} of ${ask ?? "next"} of ${chat}`, () => this.api.nextStage(chat, text, ask ? { ask } : {}, stage));
	}

	protected override isWhole(found: StageComparison): boolean {
		return found.before === null;
	}
}
