import type { Ask, ChatId, PromptStage, StageComparison, SwipeId } from "../../api/generated";
import type { Api } from "../api";
import { DiffState } from "./diffState.svelte";

/** Stages of prompt assembly, in order. */
export const STAGES: readonly PromptStage[] = ["sources", "filled", "budget", "sent"];

/** Compares a prompt at one stage with the stage before. */
export class Stages extends DiffState<StageComparison> {
	stage = $state<PromptStage>("filled");

	constructor(private readonly api: Api) {
		super();
	}

	/** Compares the prompt of a reply. */
	reply(swipe: SwipeId): Promise<void> {
		const { stage } = this;
		return this.showStored(`${stage} of ${swipe}`, () => this.api.promptStage(swipe, stage));
	}

	/** Compares the prompt that `text` would send, or the prompt of a job such as a title. */
	next(chat: ChatId, text: string, ask: Ask | null): Promise<void> {
		const { stage } = this;
		return this.show(`${stage} of ${ask ?? "next"} of ${chat}`, () => this.api.nextStage(chat, text, ask ? { ask } : {}, stage));
	}

	protected override isWhole(found: StageComparison): boolean {
		return found.before === null;
	}
}
